//! Events that tell what became of claims, pools and nodes: each condition
//! that says something else than before, each finalizer that is gone.
//! (spec 10 §14)

use millwright_models::kube::meta::{Condition, Meta};
use rustc_hash::FxHashMap;

use crate::control::ask::{Event, Kind, Target};
use crate::control::desk::{Desk, Part};
use crate::control::keys::{self, TERMINATION};
use crate::control::view::View;

/// Conditions that are told of; an event's reason is the condition's type.
const TOLD: [&str; 14] = [
    keys::LAUNCHED,
    keys::REGISTERED,
    keys::INITIALIZED,
    keys::READY,
    keys::CONSOLIDATABLE,
    keys::DRIFTED,
    keys::DISRUPTION_REASON,
    keys::DRAINED,
    keys::VOLUMES_DETACHED,
    keys::INSTANCE_TERMINATING,
    keys::CONSISTENT,
    keys::VALIDATED,
    keys::CLASS_READY,
    keys::HEALTHY,
];

/// What every object said last, by its uid. Nothing before the first look.
#[derive(Debug, Default)]
pub(super) struct Observer {
    seen: Option<FxHashMap<String, Seen>>,
}

#[derive(Debug)]
struct Seen {
    about: Target,
    version: String,
    finalizer: bool,
    /// Positions in [`TOLD`] with what is said there.
    statuses: Vec<(usize, String)>,
}

impl Observer {
    /// Compares with the last look.
    pub fn look(&mut self, view: &View<'_>, desk: &mut Desk) {
        let world = view.world;
        let claims = world.node_claims.iter().map(|c| (Kind::NodeClaim, &c.meta, c.conditions.as_slice()));
        let pools = world.node_pools.iter().map(|p| (Kind::NodePool, &p.meta, p.conditions.as_slice()));
        let nodes = world.nodes.iter().map(|n| (Kind::Node, &n.meta, [].as_slice()));
        let first = self.seen.is_none();
        let mut before = self.seen.take().unwrap_or_default();
        let mut now = FxHashMap::default();
        for (kind, meta, conditions) in claims.chain(pools).chain(nodes) {
            let held = before.remove(&meta.uid);
            let seen = match held {
                Some(held) if !held.version.is_empty() && held.version == meta.resource_version => held,
                held => {
                    let seen = Seen::new(kind, meta, conditions);
                    if let Some(held) = held {
                        held.tell_changes(&seen, &meta.uid, conditions, desk);
                    }
                    seen
                }
            };
            now.insert(meta.uid.clone(), seen);
        }
        // What is left is gone, its finalizer with it.
        if !first {
            before.into_iter().filter(|(_, s)| s.finalizer).for_each(|(uid, seen)| finalized(seen.about, uid, desk));
        }
        self.seen = Some(now);
    }
}

impl Seen {
    fn new(kind: Kind, meta: &Meta, conditions: &[Condition]) -> Self {
        let place = |c: &Condition| TOLD.iter().position(|t| *t == c.kind).map(|at| (at, c.status.clone()));
        Self {
            about: Target::new(kind, "", &meta.name),
            version: meta.resource_version.clone(),
            finalizer: meta.finalizers.iter().any(|f| f == TERMINATION),
            statuses: conditions.iter().filter_map(place).collect(),
        }
    }

    fn tell_changes(&self, now: &Self, uid: &str, conditions: &[Condition], desk: &mut Desk) {
        for condition in conditions {
            let Some((at, before)) = self.statuses.iter().find(|(at, _)| TOLD[*at] == condition.kind) else { continue };
            if *before == condition.status {
                continue;
            }
            let mut message = format!(
                "Status condition transitioned, Type: {}, Status: {before} -> {}, Reason: {}",
                condition.kind, condition.status, condition.reason
            );
            if !condition.message.is_empty() {
                message.push_str(", Message: ");
                message.push_str(&condition.message);
            }
            let (about, uid, reason) = (now.about.clone(), uid.to_owned(), TOLD[*at]);
            desk.event(Part::Lifecycle, Event { about, uid, warning: false, reason, message });
        }
        if self.finalizer && !now.finalizer {
            finalized(self.about.clone(), uid.to_owned(), desk);
        }
    }
}

fn finalized(about: Target, uid: String, desk: &mut Desk) {
    let message = format!("Finalized {TERMINATION}");
    desk.event(Part::Lifecycle, Event { about, uid, warning: false, reason: "Finalized", message });
}
