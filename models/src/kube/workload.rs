//! DaemonSets, and what the reader keeps of the other workloads.

use std::sync::Arc;

use super::meta::{Labels, Meta};
use super::pod::PodSpec;
use crate::resources::Resources;

/// A DaemonSet and the pod it would put on a new node.
#[derive(Clone, Debug)]
pub struct DaemonSet {
    pub meta: Meta,
    pub labels: Arc<Labels>,
    /// Of the newest live pod, else of the template; required node affinity
    /// always of the template.
    pub spec: Arc<PodSpec>,
    /// Effective requests, `pods: 1` included, namespace defaults applied.
    pub requests: Arc<Resources>,
}
