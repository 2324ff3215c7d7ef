//! No repair where too much is unhealthy at once: that is rarely the nodes'
//! own fault.

use super::policy::Policies;
use crate::nodes::StateNode;

/// Share of nodes that may be unhealthy, in percent.
const SHARE: u64 = 20;

/// Unhealthy nodes of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    pub unhealthy: u64,
    pub nodes: u64,
}

impl Breaker {
    /// Whether no node may be repaired now. One of up to five may.
    pub fn is_open(self) -> bool {
        self.unhealthy > (self.nodes * SHARE).div_ceil(100)
    }
}

/// Counts nodes with a condition that some policy names, whatever its reason
/// and however long it has lasted. `pool`: none counts the whole cluster.
pub fn breaker(nodes: &[StateNode<'_>], pool: Option<&str>, policies: &Policies) -> Breaker {
    let mine = nodes.iter().filter(|n| pool.is_none() || n.pool() == pool).filter_map(|n| n.node);
    let mut out = Breaker { unhealthy: 0, nodes: 0 };
    for node in mine {
        out.nodes += 1;
        out.unhealthy += u64::from(node.conditions.iter().any(|c| policies.names(&c.kind, &c.status)));
    }
    out
}
