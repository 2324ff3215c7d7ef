//! Object metadata.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

/// Labels or annotations.
pub type Labels = BTreeMap<String, String>;

/// The part of `metadata` that matters.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    pub name: String,
    pub generate_name: String,
    /// `default` for namespaced objects without one, empty for cluster-scoped ones.
    pub namespace: String,
    pub uid: String,
    /// Empty where it was not written.
    pub resource_version: String,
    pub labels: Labels,
    pub annotations: Labels,
    pub creation_timestamp: Option<Timestamp>,
    pub deletion_timestamp: Option<Timestamp>,
    pub generation: i64,
    pub owner_references: Vec<OwnerReference>,
    pub finalizers: Vec<String>,
}

/// An owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub controller: bool,
    pub block_owner_deletion: Option<bool>,
}

/// A status condition.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
    pub last_transition_time: Option<Timestamp>,
    pub observed_generation: Option<i64>,
}

impl Meta {
    /// The owner that controls the object.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|o| o.controller)
    }
}
