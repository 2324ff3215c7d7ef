//! A snapshot of a cluster: every object that was read, validated and
//! completed, in a canonical order that does not depend on the input's.

use crate::karpenter::nodeclaim::NodeClaim;
use crate::karpenter::nodeclass::NodeClass;
use crate::karpenter::nodepool::NodePool;
use crate::karpenter::overlay::NodeOverlay;
use crate::kube::node::Node;
use crate::kube::pod::Pod;
use crate::kube::policy::{Namespace, PodDisruptionBudget, PriorityClass, Service};
use crate::kube::volume::{CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass};
use crate::kube::workload::DaemonSet;

/// Everything known about a cluster. Each list is sorted by namespace and
/// name.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub pods: Vec<Pod>,
    pub nodes: Vec<Node>,
    pub daemon_sets: Vec<DaemonSet>,
    pub node_pools: Vec<NodePool>,
    pub node_claims: Vec<NodeClaim>,
    pub node_classes: Vec<NodeClass>,
    pub overlays: Vec<NodeOverlay>,
    pub claims: Vec<PersistentVolumeClaim>,
    pub volumes: Vec<PersistentVolume>,
    pub storage_classes: Vec<StorageClass>,
    pub csi_nodes: Vec<CsiNode>,
    pub budgets: Vec<PodDisruptionBudget>,
    pub priority_classes: Vec<PriorityClass>,
    pub namespaces: Vec<Namespace>,
    pub services: Vec<Service>,
    /// What was assumed or left out, one sentence each.
    pub warnings: Vec<String>,
}
