//! Who holds the slots of reservations.

use std::collections::{BTreeMap, BTreeSet};

use crate::karpenter::labels::RESERVATION_ID;
use crate::world::World;

/// Machines per reservation, running or on their way.
pub(super) struct Holders(BTreeMap<String, u32>);

impl Holders {
    /// Counts each machine once: a node and the claim behind it are one.
    pub fn of(world: &World) -> Self {
        let mut count = BTreeMap::new();
        let mut machines = BTreeSet::new();
        let mut names = BTreeSet::new();
        for node in &world.nodes {
            if let Some(id) = node.meta.labels.get(RESERVATION_ID) {
                machines.insert(node.provider_id.as_str());
                names.insert(node.meta.name.as_str());
                *count.entry(id.clone()).or_insert(0) += 1;
            }
        }
        machines.remove("");
        for claim in &world.node_claims {
            let known = machines.contains(claim.provider_id.as_str()) || names.contains(claim.node_name.as_str());
            if let (Some(id), false) = (claim.meta.labels.get(RESERVATION_ID), known) {
                *count.entry(id.clone()).or_insert(0) += 1;
            }
        }
        Self(count)
    }

    /// What is left of a reservation of `size`.
    pub fn free(&self, id: &str, size: u32) -> u32 {
        size.saturating_sub(self.0.get(id).copied().unwrap_or(0))
    }
}
