//! NodeClaims.

use crate::karpenter::nodepool::NodeClassRef;
use crate::kube::meta::{Condition, Meta};
use crate::kube::node::Taint;
use crate::kube::selector::Expression;
use crate::resources::Resources;

/// A NodeClaim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeClaim {
    pub meta: Meta,
    pub requirements: Vec<Expression>,
    pub requests: Resources,
    pub taints: Vec<Taint>,
    pub startup_taints: Vec<Taint>,
    pub node_class: NodeClassRef,
    pub expire_after: Option<String>,
    pub termination_grace_period: Option<String>,
    pub provider_id: String,
    pub node_name: String,
    /// `status.imageID`.
    pub image_id: String,
    pub capacity: Resources,
    pub allocatable: Resources,
    pub conditions: Vec<Condition>,
    pub last_pod_event: Option<jiff::Timestamp>,
}

impl NodeClaim {
    /// Whether condition `kind` is True.
    pub fn is(&self, kind: &str) -> bool {
        self.conditions.iter().any(|c| c.kind == kind && c.status == "True")
    }
}
