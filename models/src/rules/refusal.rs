//! Why a pod may not run on a node, in the words of kube-scheduler.

use thiserror::Error;

/// The first filter that refuses, with what it looked at.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Not the scheduler's: the question makes no sense.
    #[error(transparent)]
    State(#[from] StateError),
    #[error("node(s) didn't match the requested node name {requested}")]
    NodeName { requested: String },
    #[error("node(s) were unschedulable")]
    Unschedulable,
    #[error("node(s) had untolerated taint {{{key}: {value}}} ({effect})")]
    Taint { key: String, value: String, effect: String },
    #[error("node(s) didn't match Pod's node affinity/selector")]
    NodeAffinity,
    #[error("node(s) didn't have free ports for the requested pod ports: {protocol} {ip}:{port}")]
    Port { ip: String, protocol: String, port: u16 },
    #[error("Too many pods: {capacity} allowed")]
    Pods { capacity: i64 },
    #[error("Insufficient {resource}: requested {requested}, used {used} of {capacity}")]
    Resource { resource: String, requested: i64, used: i64, capacity: i64 },
    #[error("node(s) exceed max volume count: {driver} allows {limit}, in use {used}, new {new}")]
    VolumeCount { driver: String, limit: u32, used: usize, new: usize },
    #[error("pod has unbound immediate PersistentVolumeClaims: {claim}")]
    VolumeUnbound { claim: String },
    #[error("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s): {claim} names {volume}")]
    VolumeMissing { claim: String, volume: String },
    #[error("persistentvolumeclaim {claim} has no storage class")]
    VolumeClassless { claim: String },
    #[error("storage class {class} of persistentvolumeclaim {claim} not found")]
    VolumeClassMissing { claim: String, class: String },
    #[error("node(s) didn't match PersistentVolume's node affinity: {volume}")]
    VolumeAffinity { volume: String },
    #[error("node(s) didn't find available persistent volumes to bind: {claim}, storage class {class}")]
    VolumeTopology { claim: String, class: String },
    #[error("node(s) had no available volume zone: {volume} needs {key} in {values}")]
    VolumeZone { volume: String, key: String, values: String },
    #[error("node(s) didn't match pod topology spread constraints (missing required label {key})")]
    SpreadLabel { key: String },
    #[error(
        "node(s) didn't match pod topology spread constraints: {key}={domain} would hold {count}, lowest {lowest}, \
         maxSkew {max_skew}"
    )]
    Spread { key: String, domain: String, count: i64, lowest: i64, max_skew: i64 },
    #[error("node(s) didn't match pod affinity rules ({key})")]
    Affinity { key: String },
    #[error("node(s) didn't match pod anti-affinity rules ({key}={domain})")]
    AntiAffinity { key: String, domain: String },
    #[error("node(s) didn't satisfy existing pods anti-affinity rules ({key}={domain})")]
    ExistingAntiAffinity { key: String, domain: String },
}

impl Refusal {
    /// The scheduler plugin that refuses.
    pub fn plugin(&self) -> &'static str {
        match self {
            Self::State(_) => "none",
            Self::NodeName { .. } => "NodeName",
            Self::Unschedulable => "NodeUnschedulable",
            Self::Taint { .. } => "TaintToleration",
            Self::NodeAffinity => "NodeAffinity",
            Self::Port { .. } => "NodePorts",
            Self::Pods { .. } | Self::Resource { .. } => "NodeResourcesFit",
            Self::VolumeCount { .. } => "NodeVolumeLimits",
            Self::VolumeUnbound { .. }
            | Self::VolumeMissing { .. }
            | Self::VolumeClassless { .. }
            | Self::VolumeClassMissing { .. }
            | Self::VolumeAffinity { .. }
            | Self::VolumeTopology { .. } => "VolumeBinding",
            Self::VolumeZone { .. } => "VolumeZone",
            Self::SpreadLabel { .. } | Self::Spread { .. } => "PodTopologySpread",
            Self::Affinity { .. } | Self::AntiAffinity { .. } | Self::ExistingAntiAffinity { .. } => "InterPodAffinity",
        }
    }

    /// The label key, resource or driver it is about.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Taint { key, .. }
            | Self::VolumeZone { key, .. }
            | Self::SpreadLabel { key }
            | Self::Spread { key, .. }
            | Self::Affinity { key }
            | Self::AntiAffinity { key, .. }
            | Self::ExistingAntiAffinity { key, .. } => Some(key),
            Self::Resource { resource, .. } => Some(resource),
            Self::VolumeCount { driver, .. } => Some(driver),
            _ => None,
        }
    }

    /// Whether pods placed elsewhere could lift it; otherwise it stands until
    /// something leaves or a node changes.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Spread { .. } | Self::Affinity { .. })
    }
}

/// A change to the state that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StateError {
    #[error("node {0} is there already")]
    NodeTwice(String),
    #[error("there is no node {0}")]
    NoNode(String),
    #[error("pod {pod} runs on node {node} already")]
    PodTwice { pod: String, node: String },
    #[error("pod {0} runs on no node")]
    NoPod(String),
    #[error("pod {0} has ended, it takes no room")]
    Ended(String),
}
