//! Why a pod stays pending, for people and programs.

use millwright_core::explain::{Change, Explanation, Relaxation, Whereabouts};
use serde_json::{Value, json};

use super::money::{dollars, text as money};
use super::style::{counted, paragraph};

/// Relaxations that are printed.
const LINES: usize = 8;

pub fn json(e: &Explanation) -> Value {
    let relaxation = |r: &Relaxation| {
        json!({
            "changes": r.changes.iter().map(Change::words).collect::<Vec<_>>(),
            "cost_per_hour": dollars(r.cost),
            "added_cost_per_hour": dollars(r.cost - e.cost),
            "unscheduled": r.unscheduled,
        })
    };
    let mut out = json!({
        "pod": e.pod,
        "state": e.whereabouts.word(),
        "message": e.whereabouts.sentence(&e.pod),
        "reasons": e.reasons,
        "relaxations": e.relaxations.iter().map(relaxation).collect::<Vec<_>>(),
        "cost_per_hour": dollars(e.cost),
        "warnings": e.warnings,
    });
    match &e.whereabouts {
        Whereabouts::Runs { node } | Whereabouts::Existing { node } => out["node"] = node.as_str().into(),
        Whereabouts::NewNode(n) => {
            out["new_node"] = json!({
                "pool": n.pool,
                "instance_type": n.instance_type,
                "zone": n.zone,
                "capacity_type": n.capacity_type,
                "price_per_hour": dollars(n.price),
            });
        }
        _ => {}
    }
    out
}

pub fn text(e: &Explanation) -> String {
    let mut out = paragraph("", &format!("{}.", e.whereabouts.sentence(&e.pod)));
    if !e.reasons.is_empty() {
        out += "\nReasons\n";
        for reason in &e.reasons {
            out += &paragraph("  - ", reason);
        }
        out += "\n";
        out += &relaxations(e);
    }
    if !e.warnings.is_empty() {
        out += "\nWarnings\n";
        for warning in &e.warnings {
            out += &paragraph("  - ", warning);
        }
    }
    out
}

fn relaxations(e: &Explanation) -> String {
    if e.relaxations.is_empty() {
        return "No change of up to three constraints was found that would help.\n".to_owned();
    }
    let mut out = "Changes that would help, the cheapest first\n".to_owned();
    for r in e.relaxations.iter().take(LINES) {
        let words: Vec<String> = r.changes.iter().map(Change::words).collect();
        let added = r.cost - e.cost;
        let price = match added {
            0 => "at no extra cost".to_owned(),
            1.. => format!("{} more per hour", money(added, 4)),
            _ => format!("{} less per hour", money(-added, 4)),
        };
        let left = if r.unscheduled == 0 {
            String::new()
        } else {
            format!(", {} still without a place", counted(r.unscheduled, "pod"))
        };
        out += &paragraph("  - ", &format!("{}: {price}{left}", words.join(", and ")));
    }
    if e.relaxations.len() > LINES {
        out += &format!("  … and {} more (all of them: -o json)\n", e.relaxations.len() - LINES);
    }
    out
}
