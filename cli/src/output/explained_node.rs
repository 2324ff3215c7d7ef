//! Why a node stays, for people and programs.

use millwright_core::consolidate::{NodeExplanation, NodeRelaxation};
use serde_json::{Value, json};

use super::money::{dollars, text as money};
use super::plan_table::warnings;
use super::style::{counted, paragraph};

pub fn json(e: &NodeExplanation) -> Value {
    let relaxation = |r: &NodeRelaxation| {
        json!({
            "changes": r.changes,
            "cost_per_hour": dollars(r.cost),
            "savings_per_hour": dollars(e.cost - r.cost),
        })
    };
    let moves = e.goes.iter().flatten().map(|(pod, to)| json!({"pod": pod, "to": to}));
    json!({
        "node": e.node,
        "state": if e.goes.is_some() { "goes" } else { "stays" },
        "message": message(e),
        "price_per_hour": dollars(e.price),
        "reasons": e.reasons,
        "relaxations": e.relaxations.iter().map(relaxation).collect::<Vec<_>>(),
        "pods_moved": moves.collect::<Vec<_>>(),
        "current_cost_per_hour": dollars(e.current_cost),
        "cost_per_hour": dollars(e.cost),
        "elapsed_ms": e.elapsed.as_secs_f64() * 1e3,
        "warnings": e.warnings,
    })
}

fn message(e: &NodeExplanation) -> String {
    let price = money(e.price, 4);
    match &e.goes {
        Some(moves) => {
            format!(
                "node {} ({price} per hour) goes with the wave that is legal now; {} {}",
                e.node,
                counted(moves.len(), "pod"),
                if moves.len() == 1 { "moves" } else { "move" }
            )
        }
        None => format!("node {} ({price} per hour) stays in the wave that is legal now", e.node),
    }
}

pub fn text(e: &NodeExplanation) -> String {
    let mut out = paragraph("", &format!("{}.", message(e)));
    for (pod, to) in e.goes.iter().flatten() {
        out += &paragraph("  - ", &format!("{pod} to {to}"));
    }
    if e.goes.is_none() {
        out += "\nReasons\n";
        for reason in &e.reasons {
            out += &paragraph("  - ", reason);
        }
        out += "\n";
        if e.relaxations.is_empty() {
            out += "No change of what might hold it was found that would let it go.\n";
        } else {
            out += "Changes that would let it go, the best first\n";
        }
        for r in &e.relaxations {
            let saved = e.cost - r.cost;
            let price = match saved {
                0 => "at the same cost".to_owned(),
                1.. => format!("saves {} more per hour", money(saved, 4)),
                _ => format!("{} more per hour", money(-saved, 4)),
            };
            out += &paragraph("  - ", &format!("{}: {price}", r.changes.join(", and ")));
        }
    }
    let rest = warnings(&e.warnings);
    if !rest.is_empty() {
        out += "\n";
        out += &rest;
    }
    out
}
