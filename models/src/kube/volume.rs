//! PersistentVolumeClaims, PersistentVolumes, StorageClasses, VolumeAttachments, CSINodes.

use std::collections::BTreeMap;

use super::meta::Meta;
use super::selector::NodeSelectorTerm;

/// A claim for storage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PersistentVolumeClaim {
    pub meta: Meta,
    pub storage_class: Option<String>,
    pub volume_name: String,
    /// `Pending`, `Bound`, `Lost`; empty if unknown.
    pub phase: String,
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PersistentVolume {
    pub meta: Meta,
    /// CSI driver, in-tree EBS translated.
    pub driver: Option<String>,
    /// Local or hostPath: hostname expressions are ignored.
    pub is_local: bool,
    /// Alternatives of `nodeAffinity.required`.
    pub terms: Vec<NodeSelectorTerm>,
}

/// A storage class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StorageClass {
    pub meta: Meta,
    pub provisioner: String,
    /// `volumeBindingMode: Immediate` (also the default).
    pub immediate: bool,
    /// Alternatives of `allowedTopologies`, each a conjunction of `In`.
    pub topologies: Vec<NodeSelectorTerm>,
}

/// A volume that is, or is to be, attached to a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeAttachment {
    pub meta: Meta,
    pub node_name: String,
    /// The PersistentVolume; none for an inline volume.
    pub volume_name: Option<String>,
}

/// What drivers run on a node: limit per driver; `None` is unlimited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsiNode {
    pub meta: Meta,
    pub drivers: BTreeMap<String, Option<u32>>,
}
