//! Storage.

use serde::Deserialize;

use super::settle;
use crate::faults::Faults;
use crate::kube;
use crate::kube::meta::Meta;
use crate::kube::pod::NodeSelector;
use crate::kube::selector::{Expression, NodeSelectorTerm, Operator};
use crate::kube::volume::{CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawVolumeClaim {
    metadata: Meta,
    spec: ClaimSpec,
    status: ClaimStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaimSpec {
    storage_class_name: Option<String>,
    volume_name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaimStatus {
    phase: String,
}

impl RawVolumeClaim {
    pub fn keep(self, faults: &mut Faults) -> PersistentVolumeClaim {
        let Self { metadata: mut meta, spec, status } = self;
        settle(&mut meta, true, faults);
        let beta = "volume.beta.kubernetes.io/storage-class";
        let storage_class = spec.storage_class_name.or_else(|| meta.annotations.get(beta).cloned());
        PersistentVolumeClaim { meta, storage_class, volume_name: spec.volume_name, phase: status.phase }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawVolume {
    metadata: Meta,
    spec: VolumeSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct VolumeSpec {
    csi: Option<Csi>,
    aws_elastic_block_store: Option<serde::de::IgnoredAny>,
    local: Option<serde::de::IgnoredAny>,
    host_path: Option<serde::de::IgnoredAny>,
    node_affinity: VolumeAffinity,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Csi {
    driver: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct VolumeAffinity {
    required: NodeSelector,
}

impl RawVolume {
    pub fn keep(self, faults: &mut Faults) -> PersistentVolume {
        let Self { metadata: mut meta, spec } = self;
        settle(&mut meta, false, faults);
        let terms = spec.node_affinity.required.node_selector_terms;
        kube::validate::node_terms(&terms, "spec.nodeAffinity.required.nodeSelectorTerms", faults);
        let in_tree = spec.aws_elastic_block_store.map(|_| "ebs.csi.aws.com".to_owned());
        PersistentVolume {
            meta,
            driver: spec.csi.map(|c| c.driver).or(in_tree),
            is_local: spec.local.is_some() || spec.host_path.is_some(),
            terms,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in super::super) struct RawStorageClass {
    metadata: Meta,
    provisioner: String,
    volume_binding_mode: Option<String>,
    allowed_topologies: Vec<TopologyTerm>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TopologyTerm {
    match_label_expressions: Vec<TopologyExpression>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TopologyExpression {
    key: String,
    values: Vec<String>,
}

impl RawStorageClass {
    pub fn keep(self, faults: &mut Faults) -> StorageClass {
        let mut meta = self.metadata;
        settle(&mut meta, false, faults);
        let mode = self.volume_binding_mode.unwrap_or_else(|| "Immediate".to_owned());
        if mode != "Immediate" && mode != "WaitForFirstConsumer" {
            faults.add("volumeBindingMode", format!("{mode:?} is neither Immediate nor WaitForFirstConsumer"));
        }
        let term = |t: TopologyTerm| NodeSelectorTerm {
            match_expressions: t
                .match_label_expressions
                .into_iter()
                .map(|e| Expression { key: e.key, operator: Operator::In, values: e.values, min_values: None })
                .collect(),
            match_fields: Vec::new(),
        };
        let topologies: Vec<_> = self.allowed_topologies.into_iter().map(term).collect();
        kube::validate::node_terms(&topologies, "allowedTopologies", faults);
        StorageClass { meta, provisioner: translated(self.provisioner), immediate: mode == "Immediate", topologies }
    }
}

/// CSI name of an in-tree provisioner.
fn translated(provisioner: String) -> String {
    match provisioner.as_str() {
        "kubernetes.io/aws-ebs" => "ebs.csi.aws.com".to_owned(),
        "kubernetes.io/gce-pd" => "pd.csi.storage.gke.io".to_owned(),
        "kubernetes.io/azure-disk" => "disk.csi.azure.com".to_owned(),
        "kubernetes.io/azure-file" => "file.csi.azure.com".to_owned(),
        "kubernetes.io/cinder" => "cinder.csi.openstack.org".to_owned(),
        "kubernetes.io/vsphere-volume" => "csi.vsphere.vmware.com".to_owned(),
        "kubernetes.io/portworx-volume" => "pxd.portworx.com".to_owned(),
        _ => provisioner,
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawCsiNode {
    metadata: Meta,
    spec: CsiSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CsiSpec {
    drivers: Vec<Driver>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Driver {
    name: String,
    allocatable: Allocatable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Allocatable {
    count: Option<u32>,
}

impl RawCsiNode {
    pub fn keep(self, faults: &mut Faults) -> CsiNode {
        let Self { metadata: mut meta, spec } = self;
        settle(&mut meta, false, faults);
        CsiNode { meta, drivers: spec.drivers.into_iter().map(|d| (d.name, d.allocatable.count)).collect() }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawAttachment {
    metadata: Meta,
    spec: AttachmentSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AttachmentSpec {
    node_name: String,
    source: AttachmentSource,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AttachmentSource {
    persistent_volume_name: Option<String>,
}

impl RawAttachment {
    pub fn keep(self, faults: &mut Faults) -> VolumeAttachment {
        let Self { metadata: mut meta, spec } = self;
        settle(&mut meta, false, faults);
        VolumeAttachment { meta, node_name: spec.node_name, volume_name: spec.source.persistent_volume_name }
    }
}
