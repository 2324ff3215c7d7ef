//! A snapshot of a cluster: every object that was read, validated and
//! completed, in a canonical order that does not depend on the input's.

use crate::karpenter::buffer::CapacityBuffer;
use crate::karpenter::nodeclaim::NodeClaim;
use crate::karpenter::nodeclass::NodeClass;
use crate::karpenter::nodepool::NodePool;
use crate::karpenter::overlay::NodeOverlay;
use crate::kube::meta::Meta;
use crate::kube::node::Node;
use crate::kube::pod::Pod;
use crate::kube::policy::{Namespace, PodDisruptionBudget, PriorityClass, Service};
use crate::kube::volume::{CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment};
use crate::kube::workload::{DaemonSet, PodTemplate, Workload};

/// Everything known about a cluster. Each list is sorted by namespace and
/// name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    pub pods: Vec<Pod>,
    pub nodes: Vec<Node>,
    pub daemon_sets: Vec<DaemonSet>,
    pub workloads: Vec<Workload>,
    pub pod_templates: Vec<PodTemplate>,
    pub node_pools: Vec<NodePool>,
    pub node_claims: Vec<NodeClaim>,
    pub node_classes: Vec<NodeClass>,
    pub overlays: Vec<NodeOverlay>,
    pub buffers: Vec<CapacityBuffer>,
    pub claims: Vec<PersistentVolumeClaim>,
    pub volumes: Vec<PersistentVolume>,
    pub storage_classes: Vec<StorageClass>,
    pub csi_nodes: Vec<CsiNode>,
    pub attachments: Vec<VolumeAttachment>,
    pub budgets: Vec<PodDisruptionBudget>,
    pub priority_classes: Vec<PriorityClass>,
    pub namespaces: Vec<Namespace>,
    pub services: Vec<Service>,
    /// Objects of a live cluster that exist and are missing in the lists,
    /// since they could not be read.
    pub unread: Vec<Unread>,
    /// What was assumed or left out, one sentence each.
    pub warnings: Vec<String>,
}

/// An object that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    pub kind: &'static str,
    pub namespace: String,
    pub name: String,
    /// Of a pod: where it runs.
    pub node_name: Option<String>,
}

impl World {
    pub fn node(&self, name: &str) -> Option<&Node> {
        find(&self.nodes, "", name, |n| &n.meta)
    }

    pub fn node_pool(&self, name: &str) -> Option<&NodePool> {
        find(&self.node_pools, "", name, |p| &p.meta)
    }

    pub fn node_claim(&self, name: &str) -> Option<&NodeClaim> {
        find(&self.node_claims, "", name, |c| &c.meta)
    }

    pub fn node_class(&self, name: &str) -> Option<&NodeClass> {
        find(&self.node_classes, "", name, |c| &c.meta)
    }

    pub fn claim(&self, namespace: &str, name: &str) -> Option<&PersistentVolumeClaim> {
        find(&self.claims, namespace, name, |c| &c.meta)
    }

    pub fn volume(&self, name: &str) -> Option<&PersistentVolume> {
        find(&self.volumes, "", name, |v| &v.meta)
    }

    pub fn storage_class(&self, name: &str) -> Option<&StorageClass> {
        find(&self.storage_classes, "", name, |c| &c.meta)
    }

    pub fn csi_node(&self, name: &str) -> Option<&CsiNode> {
        find(&self.csi_nodes, "", name, |n| &n.meta)
    }

    pub fn namespace(&self, name: &str) -> Option<&Namespace> {
        find(&self.namespaces, "", name, |n| &n.meta)
    }

    pub fn pod(&self, namespace: &str, name: &str) -> Option<&Pod> {
        let place = self.pods.binary_search_by(|p| (&*p.namespace, &*p.name).cmp(&(namespace, name)));
        place.ok().map(|i| &self.pods[i])
    }
}

/// By binary search: every list is sorted.
fn find<'a, T>(list: &'a [T], namespace: &str, name: &str, meta: impl Fn(&T) -> &Meta) -> Option<&'a T> {
    let place = list.binary_search_by(|object| {
        let meta = meta(object);
        (&*meta.namespace, &*meta.name).cmp(&(namespace, name))
    });
    place.ok().map(|i| &list[i])
}
