//! The kept form of each object, by kind.

use std::collections::BTreeMap;

use super::Key;
use crate::karpenter::buffer::CapacityBuffer;
use crate::karpenter::nodeclaim::NodeClaim;
use crate::karpenter::nodeclass::NodeClass;
use crate::karpenter::nodepool::NodePool;
use crate::karpenter::overlay::NodeOverlay;
use crate::kube::meta::Meta;
use crate::kube::node::Node;
use crate::kube::policy::{Namespace, PodDisruptionBudget, PriorityClass, Service};
use crate::kube::volume::{CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment};
use crate::reader::collector::{Collector, Entry};
use crate::reader::error::Place;
use crate::reader::raw::pod::{PodDraft, TemplateDraft};
use crate::reader::raw::policy::{LimitRange, RuntimeClass};
use crate::reader::raw::workload::WorkloadDraft;

macro_rules! shelves {
    ($($list:ident: $object:ty),* $(,)?) => {
        /// One list for each of the collector's.
        #[derive(Debug, Default)]
        pub(super) struct Shelves {
            $($list: BTreeMap<Key, $object>,)*
        }

        impl Shelves {
            /// Takes over the one object that `read` holds; tells whether
            /// anything that matters is new.
            pub fn put(&mut self, key: &Key, read: &mut Collector) -> bool {
                $(if let Some(Entry { value, .. }) = read.$list.pop() {
                    if self.$list.get(key) == Some(&value) {
                        return false;
                    }
                    self.$list.insert(key.clone(), value);
                    return true;
                })*
                false
            }

            /// Drops an object; tells whether it was there.
            pub fn drop(&mut self, key: &Key) -> bool {
                $(if self.$list.remove(key).is_some() {
                    return true;
                })*
                false
            }

            /// Copies everything.
            pub fn fill(&self, into: &mut Collector) {
                $(into.$list = self.$list.values().map(|value| Entry { place: Place::default(), value: value.clone() }).collect();)*
            }
        }
    };
}

shelves!(
    pods: PodDraft,
    pod_templates: (Meta, TemplateDraft),
    nodes: Node,
    workloads: WorkloadDraft,
    daemon_sets: WorkloadDraft,
    node_pools: NodePool,
    node_claims: NodeClaim,
    node_classes: NodeClass,
    overlays: NodeOverlay,
    buffers: CapacityBuffer,
    claims: PersistentVolumeClaim,
    volumes: PersistentVolume,
    storage_classes: StorageClass,
    csi_nodes: CsiNode,
    attachments: VolumeAttachment,
    budgets: PodDisruptionBudget,
    priority_classes: PriorityClass,
    runtime_classes: RuntimeClass,
    limit_ranges: LimitRange,
    namespaces: Namespace,
    services: Service,
);
