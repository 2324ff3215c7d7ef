//! The JSON of an audit.

use millwright_core::against::Certified;
use millwright_core::consolidate::{Audit, Point, Wave};
use millwright_core::provision::gap;
use serde::Serialize;
use serde_json::Value;

use super::audit_against::{Against, against};
use super::audit_baseline::{Baseline, baseline};
use super::json::{Existing, Node, Unscheduled, millis};
use super::money::dollars;
use crate::planner::Heuristic;

#[derive(Serialize)]
struct Report<'a> {
    current_cost_per_hour: f64,
    cost_per_hour: f64,
    lower_bound_per_hour: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_bound_per_hour: Option<f64>,
    gap: Option<f64>,
    savings_per_hour: f64,
    ideal: Bounded,
    disruption_price: f64,
    engine: &'a str,
    elapsed_ms: f64,
    removed_nodes: &'a [String],
    nodes: Vec<Named<'a>>,
    existing: Vec<Existing<'a>>,
    unscheduled: Vec<Unscheduled<'a>>,
    evictions: usize,
    waves: Vec<WaveReport<'a>>,
    frontier: Vec<FrontierPoint>,
    blocked: Vec<Blocked<'a>>,
    baseline: Baseline<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Against<'a>>,
    flexibility_premium: f64,
    warnings: &'a [String],
    certificate: &'a Value,
}

#[derive(Serialize)]
struct Bounded {
    cost_per_hour: f64,
    lower_bound_per_hour: f64,
}

/// A new node with the name that the moves call it by.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    #[serde(flatten)]
    node: Node<'a>,
}

#[derive(Serialize)]
struct WaveReport<'a> {
    removed: &'a [String],
    added: Vec<Named<'a>>,
    pods_moved: Vec<Move<'a>>,
    existing: Vec<Existing<'a>>,
    cost_per_hour: f64,
    lower_bound_per_hour: f64,
    gap: Option<f64>,
}

#[derive(Serialize)]
struct Move<'a> {
    pod: &'a str,
    from: &'a str,
    to: &'a str,
}

#[derive(Serialize)]
struct FrontierPoint {
    evictions: u64,
    removed: u64,
    cost_per_hour: f64,
    lower_bound_per_hour: f64,
}

#[derive(Serialize)]
struct Blocked<'a> {
    node: &'a str,
    reasons: &'a [String],
}

/// Writes the audit, indented.
pub fn write(
    audit: &Audit,
    heuristic: &Heuristic,
    judged: Option<&Certified>,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &report(audit, heuristic, judged)).map_err(std::io::Error::from)?;
    writeln!(out)
}

fn report<'a>(a: &'a Audit, heuristic: &'a Heuristic, judged: Option<&'a Certified>) -> Report<'a> {
    let first = &a.waves[0];
    Report {
        current_cost_per_hour: dollars(a.current_cost),
        cost_per_hour: dollars(first.cost),
        lower_bound_per_hour: dollars(first.bound),
        claimed_bound_per_hour: first.claimed_bound.map(dollars),
        gap: gap(first.cost, first.bound),
        savings_per_hour: dollars(a.current_cost - first.cost),
        ideal: Bounded { cost_per_hour: dollars(a.ideal.cost), lower_bound_per_hour: dollars(a.ideal.bound) },
        disruption_price: dollars(a.disruption_price),
        engine: &first.engine,
        elapsed_ms: millis(a.elapsed),
        removed_nodes: &first.removed,
        nodes: nodes(first),
        existing: existing(first),
        unscheduled: first.unscheduled.iter().map(|(pod, reasons)| Unscheduled { pod, reasons }).collect(),
        evictions: first.evictions(),
        waves: a.waves.iter().map(wave).collect(),
        frontier: a.frontier.iter().map(point).collect(),
        blocked: a.blocked.iter().map(|(node, reasons)| Blocked { node, reasons }).collect(),
        baseline: baseline(heuristic),
        against: judged.map(|j| against(j, a)),
        flexibility_premium: dollars(a.flexibility_premium),
        warnings: &a.warnings,
        certificate: &a.certificate,
    }
}

fn wave(w: &Wave) -> WaveReport<'_> {
    WaveReport {
        removed: &w.removed,
        added: nodes(w),
        pods_moved: w.moves.iter().map(|m| Move { pod: &m.pod, from: &m.from, to: &m.to }).collect(),
        existing: existing(w),
        cost_per_hour: dollars(w.cost),
        lower_bound_per_hour: dollars(w.bound),
        gap: gap(w.cost, w.bound),
    }
}

fn nodes(w: &Wave) -> Vec<Named<'_>> {
    let with = w.nodes.iter().zip(&w.names).zip(&w.pods);
    with.map(|((n, name), pods)| Named {
        name,
        node: Node {
            pool: &n.pool,
            instance_type: &n.instance_type,
            zone: &n.zone,
            capacity_type: &n.capacity_type,
            price_per_hour: dollars(n.price),
            pods,
            instance_types: &n.instance_types,
        },
    })
    .collect()
}

fn existing(w: &Wave) -> Vec<Existing<'_>> {
    w.existing.iter().map(|(node, pods)| Existing { node, pods }).collect()
}

fn point(p: &Point) -> FrontierPoint {
    FrontierPoint {
        evictions: p.evictions,
        removed: p.removed,
        cost_per_hour: dollars(p.cost),
        lower_bound_per_hour: dollars(p.bound),
    }
}
