//! NodePools.

use crate::kube::meta::{Condition, Labels, Meta};
use crate::kube::node::Taint;
use crate::kube::selector::Expression;
use crate::resources::Resources;

/// A NodePool, schema defaults applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePool {
    pub meta: Meta,
    /// 0 if unset.
    pub weight: i32,
    /// Set for static pools.
    pub replicas: Option<i64>,
    /// Resource limits without the `nodes` entry.
    pub limits: Resources,
    /// Whether a limit was set on a resource even if its amount is 0 is told
    /// by the entry's presence; this is the `nodes` limit.
    pub node_limit: Option<i64>,
    pub template: Template,
    pub disruption: Disruption,
    pub conditions: Vec<Condition>,
    /// Whether `status` was given at all.
    pub has_status: bool,
    /// What schema and run-time validation refuse, field and reason. Only a
    /// live cluster holds such pools; nothing is bought for them.
    pub faults: Vec<(String, String)>,
    pub status: Status,
}

/// `status`, conditions aside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// What its nodes offer together, the `nodes` entry among it.
    pub resources: Resources,
    pub nodes: Option<i64>,
    /// Generation of the NodeClass that the registration health is about.
    pub node_class_generation: Option<i64>,
}

/// `spec.template`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    pub labels: Labels,
    pub annotations: Labels,
    pub requirements: Vec<Expression>,
    pub taints: Vec<Taint>,
    pub startup_taints: Vec<Taint>,
    pub node_class: NodeClassRef,
    /// As written; `None` is `Never`.
    pub expire_after: Option<String>,
    pub termination_grace_period: Option<String>,
}

/// Names a node class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(default)]
pub struct NodeClassRef {
    pub group: String,
    pub kind: String,
    pub name: String,
}

/// `spec.disruption`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disruption {
    /// As written; `None` is `Never`.
    pub consolidate_after: Option<String>,
    /// `WhenEmpty`, `WhenEmptyOrUnderutilized` or `Balanced`.
    pub policy: String,
    pub budgets: Vec<Budget>,
}

/// A disruption budget.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// As written: number or percentage.
    pub nodes: String,
    pub reasons: Option<Vec<String>>,
    pub schedule: Option<String>,
    pub duration: Option<String>,
}

impl NodePool {
    /// The pool's name.
    pub fn name(&self) -> &str {
        &self.meta.name
    }
}
