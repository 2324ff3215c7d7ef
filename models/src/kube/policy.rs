//! PodDisruptionBudgets, PriorityClasses, Namespaces, Services.

use super::meta::{Labels, Meta};
use super::selector::LabelSelector;

/// A disruption budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodDisruptionBudget {
    pub meta: Meta,
    pub selector: Option<LabelSelector>,
    /// As written: number or percentage.
    pub min_available: Option<String>,
    /// As written: number or percentage.
    pub max_unavailable: Option<String>,
    /// `status.disruptionsAllowed`, if there is a status.
    pub disruptions_allowed: Option<i64>,
    /// `unhealthyPodEvictionPolicy: AlwaysAllow`.
    pub always_allow_unhealthy: bool,
}

/// A priority class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorityClass {
    pub meta: Meta,
    pub value: i32,
    pub global_default: bool,
}

/// A namespace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Namespace {
    pub meta: Meta,
}

/// A service, for default spread constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    pub meta: Meta,
    pub selector: Option<Labels>,
}
