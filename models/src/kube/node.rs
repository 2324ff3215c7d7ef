//! Nodes and taints.

use std::hash::{Hash, Hasher};

use jiff::Timestamp;
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
    /// The taint of the cordon among [`Self::taints`] is not written yet: the
    /// node controller is going to add it.
    pub assumed_cordon: bool,
    pub capacity: Resources,
    pub allocatable: Resources,
    pub conditions: Vec<Condition>,
}

impl Node {
    /// The taints that the object itself holds.
    pub fn written_taints(&self) -> impl Iterator<Item = &Taint> {
        self.taints.iter().filter(|t| !(self.assumed_cordon && t.key == UNSCHEDULABLE && t.effect == NO_SCHEDULE))
    }
}

/// Key of the taint that stands for a cordon.
pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// The effect that keeps new pods away.
pub const NO_SCHEDULE: &str = "NoSchedule";
/// The effect that also drives pods out.
pub const NO_EXECUTE: &str = "NoExecute";

/// A taint. Two are equal if they keep the same pods away: the time does not
/// count.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Taint {
    pub key: String,
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
    pub time_added: Option<Timestamp>,
}

impl Taint {
    /// Without a time.
    pub fn new(key: &str, value: &str, effect: &str) -> Self {
        Self { key: key.to_owned(), value: value.to_owned(), effect: effect.to_owned(), time_added: None }
    }

    /// Same key and effect: the API holds at most one of these.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key == other.key && self.effect == other.effect
    }
}

impl PartialEq for Taint {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) && self.value == other.value
    }
}

impl Eq for Taint {}

impl Hash for Taint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.key, &self.value, &self.effect).hash(state);
    }
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
