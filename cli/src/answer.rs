//! The answer of a planning run, as it is printed: pods by their names.

use std::time::Duration;

use millwright_models::resources::Resources;
use serde_json::Value;

/// What to buy and what goes where.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub nodes: Vec<PlannedNode>,
    /// Nodes and claims that exist, with the pods they receive.
    pub existing: Vec<(String, Vec<String>)>,
    /// Pods without a place, and why.
    pub unscheduled: Vec<(String, Vec<String>)>,
    /// Micro-dollars per hour, like all money here.
    pub cost: i64,
    pub bound: i64,
    /// A higher bound, proved by search and not by the certificate.
    pub claimed_bound: Option<i64>,
    pub gap: Option<f64>,
    pub engine: String,
    pub elapsed: Duration,
    /// Until there was any plan.
    pub first_answer: Option<Duration>,
    pub baseline: Baseline,
    pub flexibility_premium: i64,
    pub certificate: Value,
    pub current_cost: i64,
    pub warnings: Vec<String>,
    /// NodeClaims.
    pub claims: Vec<Value>,
}

/// A node to buy.
#[derive(Clone, Debug, Default)]
pub struct PlannedNode {
    pub pool: String,
    pub instance_type: String,
    pub zone: String,
    pub capacity_type: String,
    pub price: i64,
    pub pods: Vec<String>,
    pub instance_types: Vec<String>,
    /// What pods may take of it, those of DaemonSets included.
    pub allocatable: Resources,
    /// What its DaemonSets take.
    pub daemons: Resources,
}

/// The same pods under Karpenter's algorithm.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    pub engine: String,
    pub cost: i64,
    /// How many.
    pub nodes: usize,
    /// Pods that it leaves without a place.
    pub unscheduled: usize,
    pub elapsed: Duration,
}
