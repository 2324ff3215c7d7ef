//! The JSON of a plan.

use serde::Serialize;
use serde_json::Value;

use super::money::dollars;
use crate::answer::{Answer, PlannedNode};

#[derive(Serialize)]
struct Plan<'a> {
    cost_per_hour: f64,
    lower_bound_per_hour: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_bound_per_hour: Option<f64>,
    gap: Option<f64>,
    engine: &'a str,
    elapsed_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_answer_ms: Option<f64>,
    nodes: Vec<Node<'a>>,
    existing: Vec<Existing<'a>>,
    unscheduled: Vec<Unscheduled<'a>>,
    baseline: Baseline<'a>,
    flexibility_premium: f64,
    current_cost_per_hour: f64,
    warnings: &'a [String],
    certificate: &'a Value,
}

/// A node to buy, as plans and audits tell it.
#[derive(Serialize)]
pub struct Node<'a> {
    pub pool: &'a str,
    pub instance_type: &'a str,
    pub zone: &'a str,
    pub capacity_type: &'a str,
    pub price_per_hour: f64,
    pub pods: &'a [String],
    pub instance_types: &'a [String],
}

/// A node that exists, with the pods that come to it.
#[derive(Serialize)]
pub struct Existing<'a> {
    pub node: &'a str,
    pub pods: &'a [String],
}

/// A pod without a place.
#[derive(Serialize)]
pub struct Unscheduled<'a> {
    pub pod: &'a str,
    pub reasons: &'a [String],
}

#[derive(Serialize)]
struct Baseline<'a> {
    engine: &'a str,
    cost_per_hour: f64,
    nodes: usize,
    unscheduled: usize,
    elapsed_ms: f64,
}

/// Writes the plan, indented.
pub fn write(decision: &Answer, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &plan(decision)).map_err(std::io::Error::from)?;
    writeln!(out)
}

fn plan(d: &Answer) -> Plan<'_> {
    Plan {
        cost_per_hour: dollars(d.cost),
        lower_bound_per_hour: dollars(d.bound),
        claimed_bound_per_hour: d.claimed_bound.map(dollars),
        gap: d.gap,
        engine: &d.engine,
        elapsed_ms: millis(d.elapsed),
        first_answer_ms: d.first_answer.map(millis),
        nodes: d.nodes.iter().map(node).collect(),
        existing: d.existing.iter().map(|(node, pods)| Existing { node, pods }).collect(),
        unscheduled: d.unscheduled.iter().map(|(pod, reasons)| Unscheduled { pod, reasons }).collect(),
        baseline: Baseline {
            engine: &d.baseline.engine,
            cost_per_hour: dollars(d.baseline.cost),
            nodes: d.baseline.nodes,
            unscheduled: d.baseline.unscheduled,
            elapsed_ms: millis(d.baseline.elapsed),
        },
        flexibility_premium: dollars(d.flexibility_premium),
        current_cost_per_hour: dollars(d.current_cost),
        warnings: &d.warnings,
        certificate: &d.certificate,
    }
}

fn node(n: &PlannedNode) -> Node<'_> {
    Node {
        pool: &n.pool,
        instance_type: &n.instance_type,
        zone: &n.zone,
        capacity_type: &n.capacity_type,
        price_per_hour: dollars(n.price),
        pods: &n.pods,
        instance_types: &n.instance_types,
    }
}

/// Milliseconds to the microsecond.
pub fn millis(time: std::time::Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}
