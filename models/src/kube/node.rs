//! Nodes and taints.

use serde::Deserialize;

use super::meta::{Condition, Meta};
use crate::resources::Resources;

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub meta: Meta,
    pub provider_id: String,
    pub unschedulable: bool,
    pub taints: Vec<Taint>,
    pub capacity: Resources,
    pub allocatable: Resources,
    pub conditions: Vec<Condition>,
}

/// A taint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Taint {
    pub key: String,
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

impl super::pod::Toleration {
    /// Kubernetes toleration matching, the numeric `Gt` and `Lt` included.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        if !self.effect.is_empty() && self.effect != taint.effect {
            return false;
        }
        if self.key.is_empty() {
            return self.operator == "Exists";
        }
        if self.key != taint.key {
            return false;
        }
        let numbers = || Some((taint.value.parse::<i64>().ok()?, self.value.parse::<i64>().ok()?));
        match self.operator.as_str() {
            "" | "Equal" => self.value == taint.value,
            "Exists" => true,
            "Gt" => numbers().is_some_and(|(t, v)| t > v),
            "Lt" => numbers().is_some_and(|(t, v)| t < v),
            _ => false,
        }
    }
}

/// The first taint that no toleration covers. `PreferNoSchedule` counts as a
/// taint like any other.
pub fn untolerated<'a>(taints: &'a [Taint], tolerations: &[super::pod::Toleration]) -> Option<&'a Taint> {
    taints.iter().find(|t| !tolerations.iter().any(|x| x.tolerates(t)))
}
