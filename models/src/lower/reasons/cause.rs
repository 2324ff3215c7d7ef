use millwright_solver::explain::Obstacle;

use crate::kube::node::Taint;
use crate::kube::selector::{Expression, NodeSelectorTerm};

/// Something that excludes spots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A pair of the node selector.
    NodeSelector { key: String, value: String },
    /// An expression of the only term of the required node affinity.
    NodeAffinity(Expression),
    /// All terms of the required node affinity.
    NodeAffinityTerms(Vec<NodeSelectorTerm>),
    /// A taint that is not tolerated.
    Taint(Taint),
    /// Where the volume of a claim can be used.
    Volume { claim: String, terms: Vec<NodeSelectorTerm> },
    /// A rule over a label that nodes lack: the rule, the label key.
    NoLabel { rule: usize, key: String },
    /// A host port that a DaemonSet of the node takes.
    DaemonPort,
    /// A pool that is over one of its limits already.
    Exceeded { pool: String, resource: String },
    /// A type too small for its own DaemonSets.
    Daemons,
    /// What the plan, the limits or the rules between pods leave.
    Obstacle(Obstacle),
}
