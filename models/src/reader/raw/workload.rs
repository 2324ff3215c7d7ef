//! Objects that make pods.

use serde::Deserialize;

use super::super::intern::Interner;
use super::pod::{RawTemplate, TemplateDraft};
use super::settle;
use crate::faults::Faults;
use crate::kube::meta::{Condition, Labels, Meta};
use crate::kube::selector::LabelSelector;

/// Deployment, StatefulSet, ReplicaSet, DaemonSet and Job alike.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawWorkload {
    metadata: Meta,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    replicas: Option<i32>,
    selector: Option<LabelSelector>,
    template: RawTemplate,
    parallelism: Option<i32>,
    completions: Option<i32>,
    suspend: bool,
    volume_claim_templates: Vec<RawClaimTemplate>,
    ordinals: Ordinals,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ordinals {
    start: i32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    succeeded: i32,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct RawClaimTemplate {
    metadata: Meta,
    spec: RawClaimSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawClaimSpec {
    storage_class_name: Option<String>,
}

/// A ReplicationController: its selector is a plain map.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawController {
    metadata: Meta,
    spec: ControllerSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ControllerSpec {
    replicas: Option<i32>,
    selector: Labels,
    template: RawTemplate,
}

/// A PodTemplate.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawPodTemplate {
    pub metadata: Meta,
    pub template: RawTemplate,
}

/// A claim that each pod of a StatefulSet gets.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct ClaimDraft {
    pub name: String,
    pub storage_class: Option<String>,
}

/// A workload before namespace defaults and requests.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct WorkloadDraft {
    pub kind: &'static str,
    pub meta: Meta,
    pub replicas: u32,
    pub selector: Option<LabelSelector>,
    pub template: TemplateDraft,
    pub claims: Vec<ClaimDraft>,
    /// Number of a StatefulSet's first pod.
    pub first: u32,
}

impl RawWorkload {
    pub fn keep(self, kind: &'static str, faults: &mut Faults, interner: &mut Interner) -> WorkloadDraft {
        let Self { metadata: mut meta, spec, status } = self;
        settle(&mut meta, true, faults);
        let replicas =
            if kind == "Job" { jobs(&spec, &status, faults) } else { count(spec.replicas, 1, "spec.replicas", faults) };
        let mut claims = Vec::new();
        for (i, claim) in spec.volume_claim_templates.into_iter().enumerate() {
            if claim.metadata.name.is_empty() {
                faults.add(format!("spec.volumeClaimTemplates[{i}].metadata.name"), "missing");
            }
            claims.push(ClaimDraft { name: claim.metadata.name, storage_class: claim.spec.storage_class_name });
        }
        WorkloadDraft {
            kind,
            meta,
            replicas,
            selector: spec.selector,
            template: spec.template.keep(interner),
            claims,
            first: count(Some(spec.ordinals.start), 0, "spec.ordinals.start", faults),
        }
    }
}

impl RawController {
    pub fn keep(self, faults: &mut Faults, interner: &mut Interner) -> WorkloadDraft {
        let Self { metadata: mut meta, spec } = self;
        settle(&mut meta, true, faults);
        WorkloadDraft {
            kind: "ReplicationController",
            meta,
            replicas: count(spec.replicas, 1, "spec.replicas", faults),
            selector: Some(LabelSelector { match_labels: spec.selector, match_expressions: Vec::new() }),
            template: spec.template.keep(interner),
            claims: Vec::new(),
            first: 0,
        }
    }
}

/// Pods of a Job that can still run at once.
fn jobs(spec: &Spec, status: &Status, faults: &mut Faults) -> u32 {
    let parallelism = count(spec.parallelism, 1, "spec.parallelism", faults);
    let succeeded = count(Some(status.succeeded), 0, "status.succeeded", faults);
    // Without completions any success ends the Job, one by one.
    let left = match spec.completions {
        Some(_) => count(spec.completions, 1, "spec.completions", faults).saturating_sub(succeeded),
        None if spec.parallelism.is_none() => 1_u32.saturating_sub(succeeded),
        None => parallelism,
    };
    let over = |c: &Condition| matches!(c.kind.as_str(), "Complete" | "Failed") && c.status == "True";
    if spec.suspend || status.conditions.iter().any(over) { 0 } else { parallelism.min(left) }
}

fn count(number: Option<i32>, default: u32, field: &str, faults: &mut Faults) -> u32 {
    let Some(number) = number else { return default };
    u32::try_from(number).unwrap_or_else(|_| {
        faults.add(field, format!("{number} is negative"));
        default
    })
}
