//! NodePool limits.

use jiff::Timestamp;
use millwright_models::karpenter::labels;
use millwright_models::resources::Resources;

use super::{Broken, DISRUPTED, Invariants};
use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

impl Invariants {
    /// What was bought for a pool stays within its limits. Nodes on their way
    /// out do not count.
    pub(super) fn limits(&self, stage: &mut Stage, now: Timestamp) -> Option<Broken> {
        if now < self.overlap_until {
            return None;
        }
        let (world, _) = stage.world();
        for pool in world.node_pools.iter().filter(|p| !p.limits.is_empty() || p.node_limit.is_some()) {
            let mut used = Resources::default();
            let mut nodes = 0;
            for (_, claim) in stage.server.all(Kind::NodeClaim) {
                let mine = json::label(claim, labels::NODEPOOL) == Some(pool.name());
                if !mine || json::is_deleting(claim) || is_leaving(stage, json::text(claim, &["status", "nodeName"])) {
                    continue;
                }
                let Some(machine) = stage.provider.machines().find(|m| m.token == json::uid(claim)) else { continue };
                used.add(&machine.capacity);
                nodes += 1;
            }
            for (resource, limit) in pool.limits.iter() {
                if used.get(resource) > limit {
                    let text =
                        format!("{} has {} of {resource}, the limit is {limit}", pool.name(), used.get(resource));
                    return Some(("limits", text));
                }
            }
            if pool.node_limit.is_some_and(|limit| nodes > limit) {
                return Some(("limits", format!("{} has {nodes} nodes", pool.name())));
            }
        }
        None
    }
}

/// A node that is tainted to go, or deleted.
fn is_leaving(stage: &Stage, node: &str) -> bool {
    stage.server.get(&Key::node(node)).is_some_and(|node| {
        let taints = json::list(node, &["spec", "taints"]);
        json::is_deleting(node) || taints.iter().any(|t| json::text(t, &["key"]) == DISRUPTED)
    })
}
