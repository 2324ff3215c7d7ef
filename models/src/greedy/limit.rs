//! NodePool limits within a pass (spec 20 §4.9).

use super::bits::Bits;
use crate::catalog::pool_types::PoolType;
use crate::karpenter::nodepool::NodePool;
use crate::resources::Resources;

/// What is left of a pool's limits.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    left: Vec<(String, i64)>,
    nodes: Option<i64>,
}

/// Why a pool opens no claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exhausted {
    Nodes,
    AllTypes,
}

impl Limits {
    /// The pool's limits less the capacity of its nodes.
    pub fn new<'a>(pool: &NodePool, nodes: impl Iterator<Item = &'a Resources>) -> Self {
        let mut left: Vec<(String, i64)> = pool.limits.iter().map(|(n, a)| (n.to_owned(), a)).collect();
        let mut count = 0;
        for capacity in nodes {
            count += 1;
            for (name, amount) in &mut left {
                *amount = amount.saturating_sub(capacity.get(name));
            }
        }
        Self { left, nodes: pool.node_limit.map(|n| n - count) }
    }

    /// Keeps the types of `set` that a new claim may still list.
    pub fn retain(&self, types: &[PoolType], set: &mut Bits) -> Result<(), Exhausted> {
        if self.nodes.is_some_and(|n| n <= 0) {
            return Err(Exhausted::Nodes);
        }
        if self.left.is_empty() {
            return Ok(());
        }
        let over = |t: &usize| self.left.iter().any(|(name, left)| types[*t].capacity.get(name) > *left);
        let out: Vec<usize> = set.iter().filter(over).collect();
        out.into_iter().for_each(|t| set.clear(t));
        if set.is_empty() { Err(Exhausted::AllTypes) } else { Ok(()) }
    }

    /// Takes off the most that a claim over `set` may launch.
    pub fn open(&mut self, types: &[PoolType], set: &Bits) {
        self.nodes = self.nodes.map(|n| n - 1);
        for (name, left) in &mut self.left {
            let most = set.iter().map(|t| types[t].capacity.get(name)).max().unwrap_or(0);
            *left = left.saturating_sub(most);
        }
    }
}
