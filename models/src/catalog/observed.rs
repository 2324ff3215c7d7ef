//! Memory that running nodes really have.

use std::collections::BTreeMap;

use super::view::ClassView;
use crate::karpenter::labels::{INSTANCE_TYPE, NODEPOOL};
use crate::karpenter::nodepool::NodePool;
use crate::kube::node::Node;
use crate::resources::MEMORY;
use crate::world::World;

/// Bytes of memory of a type's nodes, the smallest seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub capacity: i64,
    pub allocatable: i64,
}

/// What a pool's nodes report, per type. It replaces what the catalogue says,
/// whichever is larger: a measurement beats an estimate.
pub(super) struct Observed<'a>(BTreeMap<&'a str, Seen>);

impl<'a> Observed<'a> {
    /// Looks at the nodes of `pool` that run an image its class still lists;
    /// where either side names no image, at all of them.
    pub fn of(world: &'a World, pool: &NodePool, view: &ClassView) -> Self {
        let images = &view.class.amis;
        let stale: Vec<(&str, &str)> = world
            .node_claims
            .iter()
            .filter(|c| !images.is_empty() && !c.image_id.is_empty() && !images.contains(&c.image_id))
            .map(|c| (c.provider_id.as_str(), c.node_name.as_str()))
            .collect();
        let is_stale = |node: &Node| {
            stale.iter().any(|(provider, name)| {
                (!provider.is_empty() && *provider == node.provider_id) || *name == node.meta.name
            })
        };
        let mut seen: BTreeMap<&str, Seen> = BTreeMap::new();
        let of_pool = |node: &&Node| node.meta.labels.get(NODEPOOL).is_some_and(|p| *p == pool.meta.name);
        for node in world.nodes.iter().filter(of_pool).filter(|n| !is_stale(n)) {
            let Some(name) = node.meta.labels.get(INSTANCE_TYPE) else { continue };
            let allocatable = node.allocatable.get(MEMORY);
            if allocatable <= 0 {
                continue;
            }
            let capacity = node.capacity.get(MEMORY).max(allocatable);
            let entry = seen.entry(name).or_insert(Seen { capacity, allocatable });
            entry.capacity = entry.capacity.min(capacity);
            entry.allocatable = entry.allocatable.min(allocatable);
        }
        Self(seen)
    }

    pub fn get(&self, name: &str) -> Option<Seen> {
        self.0.get(name).copied()
    }
}
