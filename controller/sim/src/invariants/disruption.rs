//! Disruptions that nobody but the controller wanted.

use jiff::{SignedDuration, Timestamp};
use millwright_core::budgets::{self, Reason};
use millwright_core::control::ask::Target;
use millwright_core::control::desk::Part;
use millwright_core::pods::{is_evictable, is_shielded};
use millwright_models::karpenter::labels;
use millwright_models::kube::node::Node;
use millwright_models::kube::pod::Pod;
use millwright_models::world::World;
use serde_json::Value;

use super::{Broken, DISRUPTED, Invariants, SLACK};
use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

/// A disruption that is under way.
#[derive(Clone, Debug)]
pub struct Begun {
    pub at: Timestamp,
    pub pool: String,
}

impl Invariants {
    /// Forgets disruptions that are over or were taken back.
    pub(super) fn disruption_goes_on(&mut self, stage: &Stage) {
        let now = stage.now();
        self.disrupting.retain(|node, begun| {
            let object = stage.server.get(&Key::node(node));
            // The taint may not be there yet.
            object.is_some_and(|n| is_marked(n) || json::is_deleting(n) || now.duration_since(begun.at) < SLACK)
        });
    }

    /// A node is tainted to go.
    pub(super) fn taints(&mut self, part: Part, stage: &mut Stage, target: &Target, body: &Value) -> Option<Broken> {
        if part != Part::Disruption || !is_marked(body) {
            return None;
        }
        let node = stage.server.get(&Key::from(target))?;
        if is_marked(node) || json::is_deleting(node) {
            return None;
        }
        self.begins(stage, &target.name, None)
    }

    /// A claim is deleted.
    pub(super) fn deletes_claim(
        &mut self,
        part: Part,
        stage: &mut Stage,
        target: &Target,
        uid: &str,
    ) -> Option<Broken> {
        let claim = stage.server.get(&Key::from(target)).filter(|c| json::uid(c) == uid && !json::is_deleting(c))?;
        let node = json::text(claim, &["status", "nodeName"]).to_owned();
        match part {
            Part::Garbage => {
                let machine = stage.provider.machine(json::text(claim, &["status", "providerID"]));
                machine
                    .filter(|m| m.is_up())
                    .map(|m| ("garbage", format!("{target} is deleted as garbage, but its machine {} runs", m.id)))
            }
            Part::Disruption if !node.is_empty() && !self.disrupting.contains_key(&node) => {
                let claim = claim.clone();
                self.begins(stage, &node, Some(&claim))
            }
            _ => None,
        }
    }

    /// A disruption begins: nothing may speak against it.
    fn begins(&mut self, stage: &mut Stage, name: &str, claim: Option<&Value>) -> Option<Broken> {
        let now = stage.now();
        let (world, _) = stage.world();
        let node = world.node(name)?;
        let claim = claim.cloned().or_else(|| {
            let of_node = |c: &Value| json::text(c, &["status", "nodeName"]) == name;
            stage.server.all(Kind::NodeClaim).find(|(_, c)| of_node(c)).map(|(_, c)| (**c).clone())
        })?;
        let reason = json::condition(&claim, "DisruptionReason").map(|c| json::text(c, &["reason"]).to_owned());
        let pool = node.meta.labels.get(labels::NODEPOOL).cloned().unwrap_or_default();
        // What was given up a while ago counts no more; begun anew, it counts
        // once.
        self.disruption_goes_on(stage);
        self.disrupting.remove(name);
        let broken = self.may_not_go(stage, &world, node, &claim, reason.as_deref()).or_else(|| {
            (now >= self.overlap_until).then(|| self.breaks_budget(&world, &pool, reason.as_deref(), now)).flatten()
        });
        self.disrupting.insert(name.to_owned(), Begun { at: now, pool });
        broken
    }

    /// Shields and PodDisruptionBudgets.
    fn may_not_go(
        &self,
        stage: &Stage,
        world: &World,
        node: &Node,
        claim: &Value,
        reason: Option<&str>,
    ) -> Option<Broken> {
        let now = stage.now();
        let name = &node.meta.name;
        if node.meta.annotations.get(labels::DO_NOT_DISRUPT).is_some_and(|v| v == "true") {
            return Some(("do-not-disrupt", format!("Node {name} is shielded, and disrupted")));
        }
        // With a deadline, drift and expiry may use force in the end.
        let bounded = json::get(claim, &["spec", "terminationGracePeriod"]).is_some();
        if bounded && !matches!(reason, Some("Underutilized" | "Empty")) {
            return None;
        }
        let seen = |p: &&Pod| {
            let object = stage.server.get(&Key::pod(&p.namespace, &p.name));
            let bound = object.and_then(|o| json::condition(o, "PodScheduled"));
            let at = bound.and_then(|c| json::time(c, &["lastTransitionTime"]));
            at.is_none_or(|at| now.duration_since(at) > SLACK + SignedDuration::from_secs(1))
        };
        for pod in world.pods.iter().filter(|p| p.node_name.as_ref() == Some(name)).filter(seen) {
            if is_shielded(pod, now) {
                return Some(("do-not-disrupt", format!("{} on {name} is shielded, and disrupted", pod.full_name())));
            }
            if !is_evictable(pod, now) || pod.is_daemon() {
                continue;
            }
            let covering = world.budgets.iter().filter(|b| {
                b.meta.namespace == pod.namespace && b.selector.as_ref().is_some_and(|s| s.matches(&pod.labels))
            });
            let covering: Vec<Key> =
                covering.map(|b| Key::new(Kind::Budget, &b.meta.namespace, &b.meta.name)).collect();
            let exhausted = |k: &Key| self.exhausted.get(k).is_some_and(|at| now.duration_since(*at) > SLACK);
            if covering.len() > 1 || covering.iter().any(exhausted) {
                let text = format!("{} on {name} is held by {}", pod.full_name(), covering[0]);
                return Some(("pod disruption budgets", text));
            }
        }
        None
    }

    /// Budgets of the pool.
    fn breaks_budget(&self, world: &World, pool: &str, reason: Option<&str>, now: Timestamp) -> Option<Broken> {
        let object = world.node_pool(pool)?;
        // Nodes whose machine is ending count neither as a whole nor as a part.
        let ending = |node: &str| world.node_claims.iter().any(|c| c.node_name == node && c.is("InstanceTerminating"));
        let mine = world.nodes.iter().filter(|n| n.meta.labels.get(labels::NODEPOOL).is_some_and(|p| p == pool));
        let whole = mine.filter(|n| n.meta.labels.contains_key(labels::INITIALIZED) && !ending(&n.meta.name));
        let total = whole.count() as u64;
        let under_way = self.disrupting.iter().filter(|(node, b)| b.pool == pool && !ending(node));
        let under_way = under_way.count() as i64;
        let asked = Reason::ALL.into_iter().filter(|r| reason.is_none_or(|name| name == r.as_str()));
        let allowed = asked.filter_map(|r| budgets::allowed(object, total, r, now).ok()).max()?;
        (under_way + 1 > allowed).then(|| {
            let text = format!("{} of {total} nodes of {pool} are disrupted at once, {allowed} may be", under_way + 1);
            ("disruption budgets", text)
        })
    }
}

/// Has the taint of nodes that are to go.
fn is_marked(node: &Value) -> bool {
    json::list(node, &["spec", "taints"]).iter().any(|t| json::text(t, &["key"]) == DISRUPTED)
}
