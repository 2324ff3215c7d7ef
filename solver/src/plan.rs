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

    /// What the plan adds to the cost: price of what is bought, less that of
    /// what is removed, plus the charges for disruption.
    pub fn cost(&self, instance: &Instance) -> Micros {
        let removed = self.removed.iter().map(|&n| {
            let node = &instance.nodes[n];
            node.removal.as_ref().map_or(0, |r| r.charge) - node.price
        });
        self.bought_cost(instance) + removed.sum::<Micros>()
    }

    /// The charges for disruption alone.
    pub fn charges(&self, instance: &Instance) -> Micros {
        self.removed.iter().filter_map(|&n| instance.nodes[n].removal.as_ref()).map(|r| r.charge).sum()
    }

    /// What all nodes cost afterwards, charges aside.
    pub fn cost_after(&self, instance: &Instance) -> Micros {
        instance.current_cost() + self.cost(instance) - self.charges(instance)
    }

    /// Pods that lose their place.
    pub fn evictions(&self, instance: &Instance) -> u64 {
        self.removed.iter().flat_map(|&n| &instance.nodes[n].residents).map(|&(_, c)| u64::from(c)).sum()
    }

    /// Pods without a place.
    pub fn unserved_pods(&self) -> u64 {
        self.unserved.iter().map(|&(_, n)| u64::from(n)).sum()
    }
}
