//! CapacityBuffers.

use serde::Deserialize;

use super::{Quantities, offered, settle};
use crate::faults::Faults;
use crate::karpenter::buffer::{CapacityBuffer, ScalableRef};
use crate::kube::meta::{Condition, Meta};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawBuffer {
    metadata: Meta,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    provisioning_strategy: Option<String>,
    pod_template_ref: Option<Named>,
    scalable_ref: Option<ScalableRef>,
    replicas: Option<u32>,
    percentage: Option<u32>,
    limits: Quantities,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    replicas: Option<u32>,
    conditions: Vec<Condition>,
}

impl RawBuffer {
    pub fn keep(self, faults: &mut Faults) -> CapacityBuffer {
        let Self { metadata: mut meta, spec, status } = self;
        settle(&mut meta, true, faults);
        if spec.pod_template_ref.is_some() && spec.scalable_ref.is_some() {
            faults.add("spec", "podTemplateRef and scalableRef exclude each other");
        }
        if spec.pod_template_ref.is_some() && spec.replicas.is_none() && spec.limits.is_empty() {
            faults.add("spec.podTemplateRef", "needs replicas or limits beside it");
        }
        CapacityBuffer {
            meta,
            provisioning_strategy: spec
                .provisioning_strategy
                .unwrap_or_else(|| "buffer.x-k8s.io/active-capacity".to_owned()),
            pod_template: spec.pod_template_ref.map(|r| r.name),
            scalable: spec.scalable_ref,
            replicas: spec.replicas,
            percentage: spec.percentage,
            limits: offered(&spec.limits, "spec.limits", faults),
            resolved_replicas: status.replicas,
            conditions: status.conditions,
        }
    }
}
