//! What `verify` looked at, for people and programs.

use serde_json::Value;

use super::money::text as money;
use super::style::{counted, paragraph};

/// What a plan says and nobody re-checks: it changes neither what is bought
/// nor what is proven.
pub fn unchecked(plan: &Value) -> Vec<&'static str> {
    let mut out = vec![
        "the baseline, the flexibility premium and what branching claims beyond the certified bound",
        "the words of reasons and warnings",
        "times and the name of the engine",
    ];
    if is_audit(plan) {
        out.push("waves after the first, the ideal and the frontier");
    }
    out
}

fn is_audit(plan: &Value) -> bool {
    plan.get("waves").is_some()
}

/// What is worked out anew from the inputs, with the figures of the plan.
pub fn checked(plan: &Value) -> Vec<String> {
    let count = |field: &str| plan[field].as_array().map_or(0, Vec::len);
    let dollars = |field: &str| money((plan[field].as_f64().unwrap_or(0.0) * 1e6).round() as i64, 4);
    let pods = |field: &str| -> usize {
        let nodes = plan[field].as_array().into_iter().flatten();
        nodes.map(|n| n["pods"].as_array().map_or(0, Vec::len)).sum()
    };
    let mut out = vec![format!(
        "places: each of {} on {} to buy and {} that exist may run where it is and fits there, in whole numbers, \
         with every rule between pods",
        counted(pods("nodes") + pods("existing"), "pod"),
        counted(count("nodes"), "node"),
        count("existing")
    )];
    if is_audit(plan) {
        out.push(format!(
            "moves: {} may be removed, under budgets, PodDisruptionBudgets and opt-outs at the time of the audit",
            counted(count("removed_nodes"), "node")
        ));
    }
    out.push(format!("prices: each node costs what the catalogue says, together {}", dollars("cost_per_hour")));
    out.push("launches: each type that a node lists holds the node's pods".to_owned());
    out.push(format!(
        "bound: the certificate, multiplied out, proves at least {} for the same pods",
        dollars("lower_bound_per_hour")
    ));
    if count("unscheduled") > 0 {
        out.push(format!(
            "pods without a place: none of {} fits a new node of its own beside the plan",
            count("unscheduled")
        ));
    }
    out
}

/// The verdict, with what it covers.
pub fn text(plan: &Value, broken: &[String]) -> String {
    let list = |lines: &[String]| -> String { lines.iter().map(|line| paragraph("  - ", line)).collect() };
    if broken.is_empty() {
        let unchecked: Vec<String> = unchecked(plan).into_iter().map(str::to_owned).collect();
        let head = "The plan and its certificate hold.\n\nWorked out anew from the inputs\n";
        return format!("{head}{}\nNot checked\n{}", list(&checked(plan)), list(&unchecked));
    }
    format!("The plan does not hold:\n{}", list(broken))
}
