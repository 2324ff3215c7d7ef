//! CapacityBuffers.

use crate::kube::meta::{Condition, Meta};
use crate::resources::Resources;

/// A CapacityBuffer: room kept free for pods that may come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapacityBuffer {
    pub meta: Meta,
    pub provisioning_strategy: String,
    /// A PodTemplate in the same namespace.
    pub pod_template: Option<String>,
    pub scalable: Option<ScalableRef>,
    pub replicas: Option<u32>,
    /// Of the scalable's replicas.
    pub percentage: Option<u32>,
    pub limits: Resources,
    /// `status.replicas`: resolved number of virtual pods.
    pub resolved_replicas: Option<u32>,
    pub conditions: Vec<Condition>,
}

/// Names a workload in the buffer's namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScalableRef {
    pub api_group: String,
    pub kind: String,
    pub name: String,
}
