//! NodePools and NodeOverlays.

use serde::Deserialize;

use super::{Quantities, offered, settle};
use crate::faults::Faults;
use crate::karpenter::nodepool::{Budget, Disruption, NodeClassRef, NodePool, Status, Template};
use crate::karpenter::overlay::NodeOverlay;
use crate::karpenter::validate;
use crate::kube::meta::{Condition, Labels, Meta};
use crate::kube::node::Taint;
use crate::kube::pod::RawQuantity;
use crate::kube::selector::Expression;
use crate::quantity::amount_down;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawPool {
    metadata: Meta,
    spec: PoolSpec,
    status: Option<PoolStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PoolSpec {
    weight: Option<i32>,
    replicas: Option<i64>,
    limits: Quantities,
    template: RawTemplate,
    disruption: RawDisruption,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PoolStatus {
    conditions: Vec<Condition>,
    resources: Quantities,
    nodes: Option<i64>,
    node_class_observed_generation: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawTemplate {
    metadata: TemplateMeta,
    spec: TemplateSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TemplateMeta {
    labels: Labels,
    annotations: Labels,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TemplateSpec {
    requirements: Vec<Expression>,
    taints: Vec<Taint>,
    startup_taints: Vec<Taint>,
    node_class_ref: NodeClassRef,
    expire_after: Option<String>,
    termination_grace_period: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawDisruption {
    consolidate_after: Option<String>,
    consolidation_policy: Option<String>,
    budgets: Option<Vec<RawBudget>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawBudget {
    nodes: Option<RawQuantity>,
    reasons: Option<Vec<String>>,
    schedule: Option<String>,
    duration: Option<String>,
}

impl RawPool {
    pub fn keep(self, faults: &mut Faults) -> NodePool {
        let Self { metadata: mut meta, mut spec, status } = self;
        settle(&mut meta, false, faults);
        let node_limit = spec.limits.remove("nodes");
        let node_limit = node_limit.and_then(|q| faults.check("spec.limits.nodes", amount_down("nodes", &q.0)));
        let template = spec.template;
        let has_status = status.is_some();
        let status = status.unwrap_or_default();
        let mut pool = NodePool {
            meta,
            weight: spec.weight.unwrap_or_default(),
            replicas: spec.replicas,
            limits: offered(&spec.limits, "spec.limits", faults),
            node_limit,
            template: Template {
                labels: template.metadata.labels,
                annotations: template.metadata.annotations,
                requirements: template.spec.requirements,
                taints: template.spec.taints,
                startup_taints: template.spec.startup_taints,
                node_class: template.spec.node_class_ref,
                expire_after: validate::nillable(
                    template.spec.expire_after,
                    Some("720h"),
                    "spec.template.spec.expireAfter",
                    faults,
                ),
                termination_grace_period: validate::duration(
                    template.spec.termination_grace_period,
                    "spec.template.spec.terminationGracePeriod",
                    faults,
                ),
            },
            disruption: spec.disruption.keep(faults),
            has_status,
            faults: Vec::new(),
            status: Status {
                resources: offered(&status.resources, "status.resources", faults),
                nodes: status.nodes,
                node_class_generation: status.node_class_observed_generation,
            },
            conditions: status.conditions,
        };
        let mut found = Faults::default();
        validate::node_pool(&pool, spec.weight, &mut found);
        pool.faults = found.0;
        pool
    }
}

impl RawDisruption {
    fn keep(self, faults: &mut Faults) -> Disruption {
        let whole = || vec![RawBudget::default()];
        let budgets = self.budgets.unwrap_or_else(whole).into_iter().map(|b| Budget {
            nodes: b.nodes.map_or_else(|| "10%".to_owned(), |n| n.0),
            reasons: b.reasons,
            schedule: b.schedule,
            duration: b.duration,
        });
        Disruption {
            consolidate_after: validate::nillable(
                self.consolidate_after,
                Some("0s"),
                "spec.disruption.consolidateAfter",
                faults,
            ),
            policy: self.consolidation_policy.unwrap_or_else(|| "WhenEmptyOrUnderutilized".to_owned()),
            budgets: budgets.collect(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawOverlay {
    metadata: Meta,
    spec: OverlaySpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OverlaySpec {
    requirements: Vec<Expression>,
    price: Option<RawQuantity>,
    price_adjustment: Option<RawQuantity>,
    capacity: Quantities,
    weight: Option<i32>,
}

impl RawOverlay {
    pub fn keep(self, faults: &mut Faults) -> NodeOverlay {
        let Self { metadata: mut meta, spec } = self;
        settle(&mut meta, false, faults);
        let overlay = NodeOverlay {
            meta,
            requirements: spec.requirements,
            price: spec.price.map(|q| q.0),
            price_adjustment: spec.price_adjustment.map(|q| q.0),
            capacity: offered(&spec.capacity, "spec.capacity", faults),
            weight: spec.weight.unwrap_or_default(),
        };
        validate::node_overlay(&overlay, spec.weight, faults);
        overlay
    }
}
