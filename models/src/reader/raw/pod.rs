//! Pods and pod templates.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;

use super::super::intern::Interner;
use super::{Quantities, settle};
use crate::faults::Faults;
use crate::kube::meta::{Labels, Meta, OwnerReference};
use crate::kube::pod::{Phase, PodCondition, PodSpec};
use crate::kube::requests::Allocated;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawPod {
    metadata: Meta,
    spec: PodSpec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    phase: Phase,
    conditions: Vec<PodCondition>,
    nominated_node_name: String,
    start_time: Option<Timestamp>,
    container_statuses: Vec<ContainerStatus>,
    init_container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ContainerStatus {
    name: String,
    allocated_resources: Quantities,
}

/// A pod before namespace defaults and requests.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct PodDraft {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub created: Option<Timestamp>,
    pub deleted: Option<Timestamp>,
    pub owner: Option<OwnerReference>,
    pub is_static: bool,
    pub labels: Arc<Labels>,
    pub annotations: Arc<Labels>,
    pub spec: Arc<PodSpec>,
    pub allocated: Vec<Allocated>,
    pub node_name: Option<String>,
    pub phase: Phase,
    pub conditions: Vec<PodCondition>,
    pub nominated_node: Option<String>,
    pub started: Option<Timestamp>,
    pub synthetic: bool,
}

/// `metadata` and `spec` of a workload's pods.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawTemplate {
    metadata: TemplateMeta,
    spec: PodSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TemplateMeta {
    labels: Labels,
    annotations: Labels,
}

/// The kept part of a workload's template.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct TemplateDraft {
    pub labels: Arc<Labels>,
    pub annotations: Arc<Labels>,
    pub spec: Arc<PodSpec>,
}

impl RawPod {
    pub fn keep(self, faults: &mut Faults, interner: &mut Interner) -> PodDraft {
        let Self { metadata: mut meta, mut spec, status } = self;
        settle(&mut meta, true, faults);
        let node_name = some(std::mem::take(&mut spec.node_name));
        let owner = meta.controller().cloned();
        let is_static = meta.owner_references.iter().any(|o| o.kind == "Node" && o.api_version == "v1");
        let statuses = status.container_statuses.into_iter().chain(status.init_container_statuses);
        let allocated = statuses.filter(|s| differs(s, &spec));
        let allocated: Vec<_> =
            allocated.map(|s| Allocated { container: s.name, resources: s.allocated_resources }).collect();
        PodDraft {
            namespace: meta.namespace,
            name: meta.name,
            uid: meta.uid,
            created: meta.creation_timestamp,
            deleted: meta.deletion_timestamp,
            owner,
            is_static,
            labels: interner.labels(meta.labels),
            annotations: interner.labels(relevant(meta.annotations)),
            spec: interner.spec(lean(spec)),
            allocated,
            node_name,
            phase: status.phase,
            conditions: status
                .conditions
                .into_iter()
                .filter(|c| matches!(c.kind.as_str(), "PodScheduled" | "Ready" | "DisruptionTarget"))
                .collect(),
            nominated_node: some(status.nominated_node_name),
            started: status.start_time,
            synthetic: false,
        }
    }
}

impl RawTemplate {
    pub fn keep(self, interner: &mut Interner) -> TemplateDraft {
        let Self { metadata, mut spec } = self;
        spec.node_name.clear();
        TemplateDraft {
            labels: interner.labels(metadata.labels),
            annotations: interner.labels(relevant(metadata.annotations)),
            spec: interner.spec(lean(spec)),
        }
    }
}

/// The kubelet has allocated something else than the spec asks for.
fn differs(status: &ContainerStatus, spec: &PodSpec) -> bool {
    let container = spec.containers.iter().chain(&spec.init_containers).find(|c| c.name == status.name);
    let asked = |name: &String| container.and_then(|c| c.resources.requests.get(name));
    status.allocated_resources.iter().any(|(name, amount)| asked(name) != Some(amount))
}

/// The spec without volumes and ports that take part in nothing; their random
/// names would keep equal pods apart.
fn lean(mut spec: PodSpec) -> PodSpec {
    spec.volumes.retain(|v| v.persistent_volume_claim.is_some() || v.ephemeral.is_some());
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        container.ports.retain(|p| p.host_port != 0);
    }
    spec
}

/// Annotations that decide something.
fn relevant(mut annotations: Labels) -> Labels {
    const PREFIXES: [&str; 6] = [
        "karpenter.sh/",
        "karpenter.k8s.aws/",
        "controller.kubernetes.io/",
        "cluster-autoscaler.kubernetes.io/",
        "millwright.dev/",
        "scheduling.k8s.io/",
    ];
    annotations.retain(|key, _| PREFIXES.iter().any(|p| key.starts_with(p)));
    annotations
}

fn some(text: String) -> Option<String> {
    if text.is_empty() { None } else { Some(text) }
}
