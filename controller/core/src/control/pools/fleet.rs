//! Pools of a fixed size: as many claims as they ask for. (spec 40 §10)

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::karpenter::written;

use crate::control::ask::{Ask, Kind, Refusal, Reply, Target};
use crate::control::brain::Shared;
use crate::control::desk::{Desk, Part, Sent};
use crate::control::naming::Names;
use crate::control::view::View;
use crate::nodes::StateNode;
use crate::static_pools::{Growth, Member, Size, growth, surplus};
use crate::{cost, pods};

/// Waits after a creation failed: doubling from the first to the second.
const BACKOFF: (SignedDuration, SignedDuration) = (SignedDuration::from_secs(1), SignedDuration::from_mins(1));

/// Names drawn, and pools whose claims could not be created.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    names: Names,
    failed: BTreeMap<String, (u32, Option<Timestamp>)>,
    /// Nodes marked for deletion by us, by the name of their claim.
    marks: BTreeMap<String, String>,
}

impl Fleet {
    /// Grows or shrinks a static pool.
    pub fn look(&mut self, pool: &NodePool, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        let Some(replicas) = pool.replicas.and_then(|r| u64::try_from(r).ok()) else { return };
        let ready = pool.conditions.iter().any(|c| c.kind == "Ready" && c.status == "True");
        if pool.meta.deletion_timestamp.is_some() || !pool.faults.is_empty() {
            return;
        }
        let all: Vec<&StateNode<'_>> =
            view.nodes.iter().filter(|n| n.claim.is_some() && owner(n) == Some(pool.name())).collect();
        let memory = &shared.memory;
        let deleting = all.iter().filter(|n| n.is_marked(memory)).count() as u64;
        let queued = |n: &&&StateNode<'_>| !n.is_marked(memory) && n.is_queued(memory);
        let pending_disruption = all.iter().filter(queued).count() as u64;
        let active: Vec<&StateNode<'_>> =
            all.iter().filter(|n| !n.is_marked(memory) && !n.is_queued(memory)).copied().collect();
        let size = Size {
            replicas,
            limit: pool.node_limit.and_then(|l| u64::try_from(l).ok()),
            active: active.len() as u64,
            deleting,
            pending_disruption,
            reserved: under_way(pool, view, desk),
        };
        if size.active > replicas {
            let surplus = surplus(active.iter().map(|n| member(n, view)).collect(), replicas as usize);
            return self.shrink(&surplus, &active, shared, desk);
        }
        let waits = self.failed.get_mut(pool.name()).and_then(|(times, until)| {
            // The time runs from the look that sees the failure.
            let wait = BACKOFF.0.saturating_mul(1 << (*times).min(6)).min(BACKOFF.1);
            Some(*until.get_or_insert(view.now + wait)).filter(|at| *at > view.now)
        });
        if let Some(until) = waits {
            return desk.wake(until);
        }
        // Those that are being created count as there.
        if ready && size.active + size.pending_disruption + size.reserved < replicas {
            let missing = Size { replicas: replicas - size.reserved, ..size };
            self.grow(pool, growth(missing), view, desk);
        }
    }

    fn grow(&mut self, pool: &NodePool, growth: Growth, view: &View<'_>, desk: &mut Desk) {
        let after = |span: std::time::Duration| view.now.saturating_add(span).unwrap_or(view.now);
        let count = match growth {
            Growth::Create(count) => count,
            Growth::Enough(span) | Growth::Limited(span) => return desk.wake(after(span)),
        };
        for _ in 0..count {
            let taken = |name: &str| desk.is_busy(&Target::claim(name));
            let name = self.names.next(view.settings.seed, pool.name(), view.world, taken);
            let object = written::of_template(pool, &name);
            desk.ask(Part::Pools, Ask::Create { target: Target::claim(&name), object });
        }
    }

    fn shrink(&mut self, surplus: &[String], active: &[&StateNode<'_>], shared: &mut Shared, desk: &mut Desk) {
        for node in active {
            let Some(claim) = node.claim.filter(|c| surplus.contains(&c.meta.name)) else { continue };
            let (target, uid) = (Target::claim(&claim.meta.name), claim.meta.uid.clone());
            if desk.ask(Part::Pools, Ask::Delete { target, uid, grace_seconds: None }) {
                shared.memory.marked.insert(node.id().to_owned());
                self.marks.insert(claim.meta.name.clone(), node.id().to_owned());
            }
        }
    }

    /// Counts what was created, and slows down where that failed.
    pub fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk) {
        if let Ask::Delete { target, .. } = &sent.ask {
            let mark = self.marks.remove(&target.name);
            if matches!(reply, Reply::Refused(refusal) if *refusal != Refusal::NotFound) {
                shared.memory.marked.retain(|id| Some(id) != mark.as_ref());
            }
            return;
        }
        let Ask::Create { object, .. } = &sent.ask else { return };
        let pool = object["metadata"]["labels"][labels::NODEPOOL].as_str().unwrap_or_default();
        match reply {
            Reply::Object(_) | Reply::Done => {
                // One of a batch that failed in part ends no wait.
                if self.failed.get(pool).is_some_and(|(_, until)| until.is_some()) {
                    self.failed.remove(pool);
                }
                let labels = [("reason", "provisioned"), ("nodepool", pool), ("min_values_relaxed", "false")];
                desk.count("nodeclaims_created_total", &labels);
            }
            _ => {
                let failure = self.failed.entry(pool.to_owned()).or_default();
                *failure = (failure.0 + 1, None);
            }
        }
    }
}

/// Claims of the pool that are being created by anybody.
fn under_way(pool: &NodePool, view: &View<'_>, desk: &Desk) -> u64 {
    let creates = desk.under_way().filter(|sent| match &sent.ask {
        Ask::Create { target, object } => {
            target.kind == Kind::NodeClaim
                && object["metadata"]["labels"][labels::NODEPOOL] == pool.name()
                && view.world.node_claim(&target.name).is_none()
        }
        _ => false,
    });
    creates.count() as u64
}

/// The pool of the claim, whatever its node says.
fn owner<'w>(node: &StateNode<'w>) -> Option<&'w str> {
    node.claim.and_then(|c| c.meta.labels.get(labels::NODEPOOL)).map(String::as_str)
}

fn member(node: &StateNode<'_>, view: &View<'_>) -> Member {
    let pods: Vec<_> = node.pods.iter().map(|p| &view.world.pods[*p]).collect();
    let guarded = pods.iter().any(|p| pods::is_shielded(p, view.now));
    let left = node.claim.map_or(1.0, |c| cost::lifetime_remaining(c, view.now));
    let gates = &view.settings.lower.gates;
    Member {
        name: node.claim.map(|c| c.meta.name.clone()).unwrap_or_default(),
        launched: node.claim.is_some_and(|c| !c.provider_id.is_empty()),
        empty: pods.iter().all(|p| p.is_daemon()) && !guarded,
        guarded,
        cost: pods.iter().map(|p| cost::of_eviction(p, gates)).sum::<f64>() * left,
    }
}
