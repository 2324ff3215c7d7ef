//! Why requirements are refused or do not go together.

use super::requirement::Requirement;
use crate::kube::selector::Operator;

/// Why an expression is no requirement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    #[error("key {key:?} with operator In needs at least one value")]
    NoValues { key: String },
    #[error("key {key:?} with operator {operator} needs exactly one integer, got {values:?}")]
    NotOneInteger { key: String, operator: Operator, values: Vec<String> },
    #[error("key {key:?} with operator {operator} and values {values:?}: minValues {min_values} is outside 1 to 50")]
    MinValuesRange { key: String, operator: Operator, values: Vec<String>, min_values: u32 },
    #[error("key {key:?} with operator In and values {values:?} has fewer values than minValues {min_values}")]
    TooFewValues { key: String, values: Vec<String>, min_values: u32 },
}

/// Why a node described by one set of requirements cannot satisfy another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    #[error("{incoming}: label {:?} does not have known values{}", incoming.key, hint(.meant.as_deref()))]
    Undefined { incoming: Box<Requirement>, meant: Option<String> },
    #[error("{incoming} does not go with {existing}")]
    Disjoint { incoming: Box<Requirement>, existing: Box<Requirement> },
}

impl Conflict {
    /// The key that both sides disagree on.
    pub fn key(&self) -> &str {
        match self {
            Self::Undefined { incoming, .. } | Self::Disjoint { incoming, .. } => &incoming.key,
        }
    }
}

fn hint(meant: Option<&str>) -> String {
    meant.map(|m| format!(" (typo of {m:?}?)")).unwrap_or_default()
}
