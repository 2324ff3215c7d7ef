//! Label selectors and node selector terms.

use serde::Deserialize;

use super::meta::Labels;

/// A Kubernetes label selector. An absent selector is `Option::None` at its
/// place of use and selects nothing; an empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    pub match_labels: Labels,
    pub match_expressions: Vec<Expression>,
}

/// `key operator values`, in label selectors, node affinity and NodePool
/// requirements alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expression {
    pub key: String,
    pub operator: Operator,
    #[serde(default)]
    pub values: Vec<String>,
    /// Only in NodePool and NodeClaim requirements.
    #[serde(default)]
    pub min_values: Option<u32>,
}

/// The eight operators; `Gte` and `Lte` are Karpenter's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub enum Operator {
    #[default]
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
    Gte,
    Lte,
}

/// A conjunction of expressions over node labels (and fields).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    pub match_expressions: Vec<Expression>,
    pub match_fields: Vec<Expression>,
}

impl LabelSelector {
    /// Whether `labels` satisfy every part.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.match_labels.iter().all(|(k, v)| labels.get(k) == Some(v))
            && self.match_expressions.iter().all(|e| e.matches(labels))
    }
}

impl Expression {
    /// Kubernetes label semantics: `NotIn` and `DoesNotExist` hold where the
    /// key is absent; numeric operators need an integer.
    pub fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        let number = |f: fn(i64, i64) -> bool| {
            let have = value.and_then(|v| v.parse().ok());
            let want = self.values.first().and_then(|v| v.parse().ok());
            matches!((have, want), (Some(a), Some(b)) if f(a, b))
        };
        match self.operator {
            Operator::In => value.is_some_and(|v| self.values.contains(v)),
            Operator::NotIn => value.is_none_or(|v| !self.values.contains(v)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Gt => number(|a, b| a > b),
            Operator::Lt => number(|a, b| a < b),
            Operator::Gte => number(|a, b| a >= b),
            Operator::Lte => number(|a, b| a <= b),
        }
    }
}
