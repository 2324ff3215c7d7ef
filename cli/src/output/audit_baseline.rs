//! How the same cluster ends under Karpenter's heuristics.

use millwright_core::karpenter;
use serde::Serialize;

use super::json::millis;
use super::money::{dollars, text};
use super::style::counted;
use crate::planner::Heuristic;

/// What the JSON calls it.
const ENGINE: &str = "karpenter-consolidation";

/// The field `baseline` of an audit.
#[derive(Serialize)]
pub struct Baseline<'a> {
    engine: &'static str,
    cost_per_hour: f64,
    nodes: usize,
    unscheduled: usize,
    evictions: usize,
    /// Nothing more was found; otherwise time ended it.
    finished: bool,
    elapsed_ms: f64,
    commands: Vec<Command<'a>>,
}

#[derive(Serialize)]
struct Command<'a> {
    method: &'static str,
    removed: &'a [String],
    added: Vec<Added<'a>>,
    evictions: usize,
    cost_per_hour: f64,
}

/// A node that somebody else would buy.
#[derive(Serialize)]
pub struct Added<'a> {
    name: &'a str,
    pool: &'a str,
    instance_type: &'a str,
    zone: &'a str,
    capacity_type: &'a str,
    price_per_hour: f64,
}

/// The heuristic's commands and where they lead.
pub fn baseline(h: &Heuristic) -> Baseline<'_> {
    let t = &h.trajectory;
    let commands = t.steps.iter().map(|s| Command {
        method: s.method.as_str(),
        removed: &s.removed,
        added: added(&s.added),
        evictions: s.evictions,
        cost_per_hour: dollars(s.cost),
    });
    Baseline {
        engine: ENGINE,
        cost_per_hour: dollars(t.cost()),
        nodes: t.nodes,
        unscheduled: t.unscheduled,
        evictions: t.evictions(),
        finished: t.finished,
        elapsed_ms: millis(h.elapsed),
        commands: commands.collect(),
    }
}

/// Nodes in fields.
pub fn added(nodes: &[karpenter::Added]) -> Vec<Added<'_>> {
    let all = nodes.iter().map(|a| Added {
        name: &a.name,
        pool: &a.pool,
        instance_type: &a.instance_type,
        zone: &a.zone,
        capacity_type: &a.capacity_type,
        price_per_hour: dollars(a.price),
    });
    all.collect()
}

/// The same for people.
pub fn sentence(h: &Heuristic) -> String {
    let t = &h.trajectory;
    let (commands, evictions) = (counted(t.steps.len(), "command"), counted(t.evictions(), "eviction"));
    let cost = text(t.cost(), 4);
    let mut out = match (t.finished, t.steps.is_empty()) {
        (true, true) => format!("{cost} per hour: they find nothing to do"),
        (true, false) => format!("{cost} per hour in the end, after {commands} and {evictions}"),
        (false, _) => {
            format!("{cost} per hour after {commands} and {evictions}, and not at their end: time was up (--deadline)")
        }
    };
    if t.unscheduled > 0 {
        out += &format!("; {} without a place", counted(t.unscheduled, "pod"));
    }
    out
}
