//! A proposal beside the audit.

use millwright_core::against::Certified;
use millwright_core::consolidate::Audit;
use millwright_core::provision::gap;
use serde::Serialize;

use super::audit_baseline::{Added, added};
use super::json::Unscheduled;
use super::money::{dollars, text};
use super::plan_table::distance;
use super::style::{counted, paragraph};

/// The field `against` of an audit.
#[derive(Serialize)]
pub struct Against<'a> {
    legal: bool,
    broken: &'a [String],
    removed_nodes: &'a [String],
    nodes: Vec<Added<'a>>,
    evictions: usize,
    unscheduled: Vec<Unscheduled<'a>>,
    cost_per_hour: f64,
    /// What the audit's own wave comes to.
    best_cost_per_hour: f64,
    /// No set of nodes for these pods is cheaper, whatever the rules.
    lower_bound_per_hour: f64,
    gap: Option<f64>,
}

/// The judgement in fields.
pub fn against<'a>(judged: &'a Certified, audit: &Audit) -> Against<'a> {
    Against {
        legal: judged.broken.is_empty(),
        broken: &judged.broken,
        removed_nodes: &judged.removed,
        nodes: added(&judged.launched),
        evictions: judged.evictions,
        unscheduled: judged.unscheduled.iter().map(|(pod, reasons)| Unscheduled { pod, reasons }).collect(),
        cost_per_hour: dollars(judged.cost),
        best_cost_per_hour: dollars(audit.waves[0].cost),
        lower_bound_per_hour: dollars(audit.ideal.bound),
        gap: gap(judged.cost, audit.ideal.bound),
    }
}

/// The same for people.
pub fn section(judged: &Certified, audit: &Audit) -> String {
    let mut out = format!(
        "\nThe proposal removes {}, adds {} and moves {}\n",
        counted(judged.removed.len(), "node"),
        counted(judged.launched.len(), "node"),
        counted(judged.evictions, "pod")
    );
    let legal = match judged.broken.first() {
        None => "yes, by every rule of one wave".to_owned(),
        Some(first) => format!("no: {first}"),
    };
    out += &paragraph("  Legal now       ", &legal);
    for other in judged.broken.iter().skip(1).take(10) {
        out += &paragraph("                  ", &format!("also: {other}"));
    }
    if judged.broken.len() > 11 {
        out += &format!("                  and {} more (-o json)\n", judged.broken.len() - 11);
    }
    let own = audit.waves[0].cost;
    let beside = match judged.cost - own {
        0 => "as much as the wave above".to_owned(),
        d if d > 0 => format!("{} more than the wave above", text(d, 4)),
        d => format!("{} less than the wave above", text(-d, 4)),
    };
    out += &paragraph("  Cost after it   ", &format!("{} per hour, {beside}", text(judged.cost, 4)));
    let bound = audit.ideal.bound;
    let far = distance(gap(judged.cost, bound));
    out += &paragraph("  From the minimum", &format!(" {} per hour at least, budgets aside: {far}", text(bound, 4)));
    let waiting = judged.unscheduled.len();
    if waiting > 0 {
        out += &paragraph("  Left over       ", &format!("{} without a place", counted(waiting, "pod")));
    }
    out
}
