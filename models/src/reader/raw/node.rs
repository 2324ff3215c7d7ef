//! Nodes and NodeClaims.

use jiff::Timestamp;
use serde::Deserialize;

use super::{Quantities, offered, requested, settle};
use crate::faults::Faults;
use crate::karpenter::nodeclaim::NodeClaim;
use crate::karpenter::nodepool::NodeClassRef;
use crate::karpenter::validate;
use crate::kube;
use crate::kube::meta::{Condition, Meta};
use crate::kube::node::{NO_SCHEDULE, Node, Taint, UNSCHEDULABLE};
use crate::kube::selector::Expression;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawNode {
    metadata: Meta,
    spec: NodeSpec,
    status: NodeStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeSpec {
    #[serde(rename = "providerID")]
    provider_id: String,
    unschedulable: bool,
    taints: Vec<Taint>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeStatus {
    capacity: Quantities,
    allocatable: Quantities,
    conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawClaim {
    metadata: Meta,
    spec: ClaimSpec,
    status: ClaimStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaimSpec {
    requirements: Vec<Expression>,
    resources: ClaimResources,
    taints: Vec<Taint>,
    startup_taints: Vec<Taint>,
    node_class_ref: NodeClassRef,
    expire_after: Option<String>,
    termination_grace_period: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaimResources {
    requests: Quantities,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaimStatus {
    #[serde(rename = "providerID")]
    provider_id: String,
    #[serde(rename = "imageID")]
    image_id: String,
    node_name: String,
    capacity: Quantities,
    allocatable: Quantities,
    conditions: Vec<Condition>,
    last_pod_event_time: Option<Timestamp>,
}

impl RawNode {
    pub fn keep(self, faults: &mut Faults) -> Node {
        let Self { metadata: mut meta, spec, status } = self;
        settle(&mut meta, false, faults);
        let capacity = offered(&status.capacity, "status.capacity", faults);
        let allocatable = offered(&status.allocatable, "status.allocatable", faults);
        let mut taints = spec.taints;
        kube::validate::effects(&taints, "spec.taints", faults);
        // As the node controller does.
        let cordon = Taint::new(UNSCHEDULABLE, "", NO_SCHEDULE);
        let assumed_cordon = spec.unschedulable && !taints.iter().any(|t| t.is_same(&cordon));
        if assumed_cordon {
            taints.push(cordon);
        }
        Node {
            meta,
            provider_id: spec.provider_id,
            unschedulable: spec.unschedulable,
            taints,
            assumed_cordon,
            allocatable: if status.allocatable.is_empty() { capacity.clone() } else { allocatable.clone() },
            capacity: if status.capacity.is_empty() { allocatable } else { capacity },
            conditions: status.conditions,
        }
    }
}

impl RawClaim {
    pub fn keep(self, faults: &mut Faults) -> NodeClaim {
        let Self { metadata: mut meta, spec, status } = self;
        settle(&mut meta, false, faults);
        validate::expressions(&spec.requirements, "spec.requirements", validate::Rules::Claim, faults);
        kube::validate::effects(&spec.taints, "spec.taints", faults);
        kube::validate::effects(&spec.startup_taints, "spec.startupTaints", faults);
        NodeClaim {
            meta,
            requirements: spec.requirements,
            requests: requested(&spec.resources.requests, "spec.resources.requests", faults),
            taints: spec.taints,
            startup_taints: spec.startup_taints,
            node_class: spec.node_class_ref,
            expire_after: validate::nillable(spec.expire_after, Some("720h"), "spec.expireAfter", faults),
            termination_grace_period: validate::duration(
                spec.termination_grace_period,
                "spec.terminationGracePeriod",
                faults,
            ),
            provider_id: status.provider_id,
            node_name: status.node_name,
            image_id: status.image_id,
            capacity: offered(&status.capacity, "status.capacity", faults),
            allocatable: offered(&status.allocatable, "status.allocatable", faults),
            conditions: status.conditions,
            last_pod_event: status.last_pod_event_time,
        }
    }
}
