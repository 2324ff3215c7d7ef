//! What a simulation takes to be different from the world.

use std::collections::BTreeSet;

/// Nodes as a search for disruptions imagines them. Names are those of nodes.
#[derive(Clone, Debug, Default)]
pub struct Imagined<'a> {
    /// Nodes that are taken to be on their way out.
    pub leaving: BTreeSet<&'a str>,
    /// Nodes that take none of the pods that leave `leaving`; pods that wait,
    /// and those of nodes that are on their way out in fact, may go there.
    /// (spec 30 §13.1, destination protection)
    pub closed: BTreeSet<&'a str>,
}

impl Imagined<'_> {
    /// Whether a pod bound to `node` moves only because of what is imagined.
    pub(super) fn moves(&self, node: Option<&str>) -> bool {
        !self.leaving.is_empty() && node.is_some_and(|n| self.leaving.contains(n))
    }
}
