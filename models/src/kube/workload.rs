//! DaemonSets, and what is kept of the other workloads.

use std::sync::Arc;

use super::meta::{Labels, Meta};
use super::pod::PodSpec;
use super::selector::LabelSelector;
use crate::resources::Resources;

/// A DaemonSet and the pod it would put on a new node.
#[derive(Clone, Debug, PartialEq)]
pub struct DaemonSet {
    pub meta: Meta,
    pub labels: Arc<Labels>,
    /// Of the newest live pod, else of the template; required node affinity
    /// always of the template.
    pub spec: Arc<PodSpec>,
    /// Effective requests, `pods: 1` included, namespace defaults applied.
    pub requests: Arc<Resources>,
}

/// A Deployment, StatefulSet, ReplicaSet, ReplicationController or Job, and
/// the pod it makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The object's kind, `Deployment` for example.
    pub kind: &'static str,
    pub meta: Meta,
    /// Pods it wants; of a Job those that can still run at once.
    pub replicas: u32,
    pub selector: Option<LabelSelector>,
    pub labels: Arc<Labels>,
    pub spec: Arc<PodSpec>,
    /// Effective requests, `pods: 1` included, namespace defaults applied.
    pub requests: Arc<Resources>,
}

/// A PodTemplate object.
#[derive(Clone, Debug, PartialEq)]
pub struct PodTemplate {
    pub meta: Meta,
    pub labels: Arc<Labels>,
    pub spec: Arc<PodSpec>,
    pub requests: Arc<Resources>,
}
