//! An answer to an [`Instance`](crate::instance::Instance).

use crate::instance::{Instance, Micros};

/// Pods of some shapes: (shape, count), ascending by shape, counts positive.
pub type Contents = Vec<(usize, u32)>;

/// What to buy, what goes where, what stays without a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Nodes to buy.
    pub bought: Vec<NewNode>,
    /// Pods placed on nodes that stay: (node, contents), ascending by node.
    pub placed: Vec<(usize, Contents)>,
    /// Nodes to remove, ascending. Their residents are placed like pending
    /// pods.
    pub removed: Vec<usize>,
    /// Pods without a place: (shape, count), ascending.
    pub unserved: Contents,
    /// Pods that were served in a later tier than their first:
    /// (shape, tier, count), ascending, tier at least 1.
    pub demoted: Vec<(usize, usize, u32)>,
}

/// A node to buy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNode {
    /// Index into [`Instance::bins`].
    pub bin: usize,
    /// What it will run.
    pub contents: Contents,
}

impl Plan {
    /// Price of what is bought.
    pub fn bought_cost(&self, instance: &Instance) -> Micros {
        self.bought.iter().map(|n| instance.bins[n.bin].price).sum()
    }

    /// Pods without a place.
    pub fn unserved_pods(&self) -> u64 {
        self.unserved.iter().map(|&(_, n)| u64::from(n)).sum()
    }
}
