//! Pods. Pods made from one template share one [`PodSpec`].

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::meta::{Labels, OwnerReference};
pub use super::pending::validate;
use super::selector::{LabelSelector, NodeSelectorTerm};
use crate::resources::Resources;

/// A pod, defaults applied, requests computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub created: Option<Timestamp>,
    pub deleted: Option<Timestamp>,
    /// The controlling owner.
    pub owner: Option<OwnerReference>,
    /// Owners that are Nodes make a static pod.
    pub is_static: bool,
    pub labels: Arc<Labels>,
    pub annotations: Arc<Labels>,
    pub spec: Arc<PodSpec>,
    /// Effective requests of spec 20 §5.1, `pods: 1` included; for running
    /// pods in-place resize is honoured.
    pub requests: Arc<Resources>,
    /// Where it runs, or is bound to run.
    pub node_name: Option<String>,
    pub phase: Phase,
    pub conditions: Vec<PodCondition>,
    pub nominated_node: Option<String>,
    /// `status.startTime`.
    pub started: Option<Timestamp>,
    /// Made up from a workload that was given without its pods.
    pub synthetic: bool,
}

/// `status.phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub enum Phase {
    #[default]
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

/// A condition, as far as it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodCondition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub reason: String,
}

/// `spec`, without what never matters (images, commands, probes, …).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// Empty in every pod that was read: the place is [`Pod::node_name`].
    pub node_name: String,
    pub containers: Vec<Container>,
    pub init_containers: Vec<Container>,
    /// Pod-level resources.
    pub resources: Option<ContainerResources>,
    pub overhead: BTreeMap<String, RawQuantity>,
    pub node_selector: Labels,
    pub affinity: Option<Affinity>,
    pub tolerations: Vec<Toleration>,
    pub topology_spread_constraints: Vec<SpreadConstraint>,
    pub volumes: Vec<Volume>,
    pub scheduling_gates: Vec<SchedulingGate>,
    pub priority: Option<i32>,
    pub priority_class_name: String,
    pub scheduler_name: String,
    pub runtime_class_name: String,
    pub host_network: bool,
    pub termination_grace_period_seconds: Option<i64>,
    pub resource_claims: Vec<ResourceClaimRef>,
}

/// Quantity text or number as written, compared as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RawQuantity(pub String);

impl<'de> Deserialize<'de> for RawQuantity {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = RawQuantity;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a quantity (text or number)")
            }
            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<RawQuantity, E> {
                Ok(RawQuantity(v.to_owned()))
            }
            fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<RawQuantity, E> {
                Ok(RawQuantity(v.to_string()))
            }
            fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<RawQuantity, E> {
                Ok(RawQuantity(v.to_string()))
            }
            fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<RawQuantity, E> {
                Ok(RawQuantity(v.to_string()))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

/// A container's part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    pub name: String,
    pub resources: ContainerResources,
    pub ports: Vec<ContainerPort>,
    /// `Always` on an init container makes it a sidecar.
    pub restart_policy: String,
}

/// Requests and limits as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerResources {
    pub requests: BTreeMap<String, RawQuantity>,
    pub limits: BTreeMap<String, RawQuantity>,
    pub claims: Vec<ResourceClaimRef>,
}

/// A port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    pub container_port: u16,
    /// 0: none.
    pub host_port: u16,
    #[serde(rename = "hostIP")]
    pub host_ip: String,
    /// Empty: TCP.
    pub protocol: String,
}

/// A gate that keeps the pod from being scheduled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct SchedulingGate {
    pub name: String,
}

/// A reference to a ResourceClaim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaimRef {
    pub name: String,
}

/// Affinities.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    pub node_affinity: Option<NodeAffinity>,
    pub pod_affinity: Option<PodAffinity>,
    pub pod_anti_affinity: Option<PodAffinity>,
}

/// Node affinity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct NodeAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<NodeSelector>,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    pub preferred: Vec<PreferredNode>,
}

/// Alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// A weighted wish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct PreferredNode {
    pub weight: i32,
    pub preference: NodeSelectorTerm,
}

/// Pod (anti-)affinity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default)]
pub struct PodAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Vec<PodAffinityTerm>,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    pub preferred: Vec<PreferredPod>,
}

/// One term.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodAffinityTerm {
    pub label_selector: Option<LabelSelector>,
    pub topology_key: String,
    pub namespaces: Vec<String>,
    pub namespace_selector: Option<LabelSelector>,
    pub match_label_keys: Vec<String>,
    pub mismatch_label_keys: Vec<String>,
}

/// A weighted term.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreferredPod {
    pub weight: i32,
    pub pod_affinity_term: PodAffinityTerm,
}

/// A topology spread constraint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpreadConstraint {
    /// At least 1, the default.
    #[serde(default = "one")]
    pub max_skew: u32,
    pub topology_key: String,
    /// `DoNotSchedule` (also when empty) or `ScheduleAnyway`.
    pub when_unsatisfiable: String,
    pub label_selector: Option<LabelSelector>,
    pub match_label_keys: Vec<String>,
    pub min_domains: Option<u32>,
    /// `Honor` (also when empty) or `Ignore`.
    pub node_affinity_policy: String,
    /// `Ignore` (also when empty) or `Honor`.
    pub node_taints_policy: String,
}

fn one() -> u32 {
    1
}

/// A toleration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    pub key: String,
    /// `Equal` (also when empty), `Exists`, `Gt` or `Lt`.
    pub operator: String,
    pub value: String,
    pub effect: String,
    pub toleration_seconds: Option<i64>,
}

/// A volume that matters: backed by a claim, now or later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Volume {
    pub name: String,
    pub persistent_volume_claim: Option<ClaimSource>,
    pub ephemeral: Option<EphemeralSource>,
}

/// Names a PersistentVolumeClaim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimSource {
    pub claim_name: String,
}

/// A generic ephemeral volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EphemeralSource {
    pub volume_claim_template: Option<ClaimTemplate>,
}

/// The claim it makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimTemplate {
    pub spec: ClaimTemplateSpec,
}

/// The part of a claim spec that matters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimTemplateSpec {
    pub storage_class_name: Option<String>,
    pub volume_name: String,
}

impl Pod {
    /// `namespace/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Owned by a DaemonSet.
    pub fn is_daemon(&self) -> bool {
        self.owner.as_ref().is_some_and(|o| o.kind == "DaemonSet" && o.api_version.starts_with("apps/"))
    }

    /// Succeeded or failed.
    pub fn is_terminal(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Needs a new place when its node goes. A StatefulSet makes its pod anew
    /// under the same name, so one that terminates counts already.
    pub fn is_reschedulable(&self) -> bool {
        let stateful = self.owner.as_ref().is_some_and(|o| o.kind == "StatefulSet");
        !self.is_terminal() && (self.deleted.is_none() || stateful) && !self.is_daemon() && !self.is_static
    }

    /// Waits for a place: neither bound, gated, terminal, terminating, nor a
    /// DaemonSet's or static.
    pub fn is_pending(&self) -> bool {
        self.node_name.is_none()
            && !self.is_terminal()
            && self.deleted.is_none()
            && self.spec.scheduling_gates.is_empty()
            && !self.is_daemon()
            && !self.is_static
    }
}
