//! An audit for people.

use std::collections::BTreeMap;

use millwright_core::consolidate::{Audit, Wave};
use millwright_core::provision::gap;

use super::audit_baseline;
use super::money::{month, text};
use super::plan_table::warnings;
use super::style::{counted, paragraph, table};
use super::unscheduled;
use crate::planner::Heuristic;

/// Rows of a table, names in a list, reasons, that are printed.
const ROWS: usize = 40;
const NAMES: usize = 6;

/// Money, waves, the frontier, what stays and why, warnings.
pub fn render(audit: &Audit, heuristic: &Heuristic, prices: &str) -> String {
    let first = &audit.waves[0];
    let sections = [
        money(audit, heuristic, prices),
        changes(first),
        waves(audit),
        frontier(audit),
        blocked(audit),
        unscheduled::section(&first.unscheduled),
        warnings(&audit.warnings),
    ];
    sections.into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join("\n")
}

fn money(a: &Audit, heuristic: &Heuristic, prices: &str) -> String {
    let first = &a.waves[0];
    let saved = a.current_cost - first.cost;
    let mut lines: Vec<(&str, String)> = vec![
        ("Cost now", hourly(a.current_cost)),
        ("After the wave", format!("{}: {}", hourly(first.cost), saving(saved, a.current_cost))),
        ("Lower bound", format!("{} per hour: {}", text(first.bound, 4), distance(a, first.bound))),
    ];
    if let Some(claimed) = first.claimed_bound {
        let by = if claimed == a.ideal.bound { "that of the ideal" } else { "by branching" };
        lines.push(("Not certified", format!("{} per hour, {by}: {}", text(claimed, 4), distance(a, claimed))));
    }
    if let Some(last) = a.waves.last().filter(|_| a.waves.len() > 1) {
        let saved = saving(a.current_cost - last.cost, a.current_cost);
        lines.push(("After all waves", format!("{}: {saved}", hourly(last.cost))));
    }
    lines.push((
        "Ideal",
        format!(
            "{} per hour without budgets, PodDisruptionBudgets and opt-outs, at least {}",
            text(a.ideal.cost, 4),
            text(a.ideal.bound, 4)
        ),
    ));
    lines.push((
        "By Karpenter",
        format!("the same cluster under Karpenter's heuristics: {}", audit_baseline::sentence(heuristic)),
    ));
    lines.push(("Disruption", format!("{} per hour per evicted pod and removed node", text(a.disruption_price, 6))));
    if a.flexibility_premium > 0 {
        let premium = text(a.flexibility_premium, 4);
        lines.push(("Flexibility", format!("{premium} per hour of the cost buy more types per launch")));
    }
    lines.push(("Engine", format!("{}, {:.3} s", first.engine, a.elapsed.as_secs_f64())));
    lines.push(("Prices", prices.to_owned()));
    lines.iter().map(|(name, value)| paragraph(&format!("{name:<16}"), value)).collect()
}

/// How far the wave is from a bound, in words. With a price on disruption the
/// bound is for waves that disrupt as much; others may end lower and save less
/// than they disrupt.
fn distance(a: &Audit, bound: i64) -> String {
    let cost = a.waves[0].cost;
    let priced = a.disruption_price > 0 && bound != a.ideal.bound;
    match gap(cost, bound) {
        Some(gap) if gap <= 0.0 && priced => {
            "no legal wave is worth more, the price on disruption taken off what it saves".to_owned()
        }
        Some(gap) if gap <= 0.0 => "no legal wave ends cheaper".to_owned(),
        Some(gap) if priced => {
            format!(
                "a legal wave of the same disruption could end at most {:.2} % cheaper",
                (1.0 - 1.0 / (1.0 + gap)) * 100.0
            )
        }
        Some(gap) => format!("the wave ends at most {:.2} % above the minimum", gap * 100.0),
        None => "nothing is proven".to_owned(),
    }
}

fn hourly(micros: i64) -> String {
    format!("{} per hour, {} per month of 730 h", text(micros, 4), month(micros))
}

fn saving(saved: i64, of: i64) -> String {
    let share = if of > 0 { format!(", {:.1} %", saved.abs() as f64 / of as f64 * 100.0) } else { String::new() };
    match saved {
        0 => "nothing to save".to_owned(),
        s if s > 0 => format!("saves {} per month{share}", month(s)),
        s => format!("{} per month more, for pods without a place", month(-s)),
    }
}

fn changes(w: &Wave) -> String {
    if w.is_nothing() {
        return if w.cost <= w.least() {
            "Nothing to do: no legal wave saves more than it disrupts.\n".to_owned()
        } else {
            "Nothing to do: no cheaper legal wave was found in this time (that there is none is not proven).\n"
                .to_owned()
        };
    }
    let mut out = format!(
        "The wave removes {}, adds {} and moves {}\n",
        counted(w.removed.len(), "node"),
        counted(w.nodes.len(), "node"),
        counted(w.moves.len(), "pod")
    );
    out += &named("  - remove ", &w.removed);
    type Kind<'a> = (&'a str, &'a str, &'a str, &'a str, i64);
    let mut groups: BTreeMap<Kind<'_>, (usize, usize)> = BTreeMap::new();
    for n in &w.nodes {
        let kind = (&*n.instance_type, &*n.zone, &*n.capacity_type, &*n.pool, n.price);
        let group = groups.entry(kind).or_default();
        *group = (group.0 + 1, group.1 + n.pods.len());
    }
    for (shown, ((kind, zone, capacity, pool, price), (count, pods))) in groups.iter().enumerate() {
        if shown == ROWS {
            out += &format!("  … and {} more kinds (all of them: -o json)\n", groups.len() - ROWS);
            break;
        }
        let each = text(*price, 4);
        let line = format!(
            "add {count} × {kind} {zone} {capacity} of NodePool {pool} at {each}, for {}",
            counted(*pods, "pod")
        );
        out += &paragraph("  - ", &line);
    }
    if !w.existing.is_empty() {
        let pods: usize = w.existing.iter().map(|(_, pods)| pods.len()).sum();
        let (stay, take) = if w.existing.len() == 1 { ("stays", "takes") } else { ("stay", "take") };
        out += &format!("  - {} that {stay} {take} {}\n", counted(w.existing.len(), "node"), counted(pods, "pod"));
    }
    out
}

fn named(lead: &str, names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let mut list = names[..names.len().min(NAMES)].join(", ");
    if names.len() > NAMES {
        list += &format!(" and {} more", names.len() - NAMES);
    }
    paragraph(lead, &list)
}

fn waves(a: &Audit) -> String {
    if a.waves.len() < 2 {
        return String::new();
    }
    let mut rows = table(&["WAVE", "REMOVED", "ADDED", "MOVED", "$/h AFTER", "AT LEAST"], 0);
    for (i, w) in a.waves.iter().enumerate().take(ROWS) {
        rows.add_row([
            (i + 1).to_string(),
            w.removed.len().to_string(),
            w.nodes.len().to_string(),
            w.moves.len().to_string(),
            plain(w.cost),
            plain(w.bound),
        ]);
    }
    format!("{}\n", rows.trim_fmt())
}

fn frontier(a: &Audit) -> String {
    if a.frontier.is_empty() {
        return String::new();
    }
    let mut rows = table(&["EVICTIONS", "REMOVED", "$/h AFTER", "AT LEAST", "SAVED PER MONTH"], 0);
    for p in &a.frontier {
        let saved = month(a.current_cost - p.cost);
        rows.add_row([p.evictions.to_string(), p.removed.to_string(), plain(p.cost), plain(p.bound), saved]);
    }
    format!("{}\n", rows.trim_fmt())
}

/// An amount without its sign, for a column whose head has it.
fn plain(micros: i64) -> String {
    text(micros, 4).replacen('$', "", 1)
}

/// Nodes that stay, together where the reason is the same.
fn blocked(a: &Audit) -> String {
    if a.blocked.is_empty() {
        return String::new();
    }
    let mut groups: BTreeMap<&[String], Vec<&str>> = BTreeMap::new();
    for (node, reasons) in &a.blocked {
        groups.entry(reasons).or_default().push(node);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let mut out = format!("Staying: {}\n", counted(a.blocked.len(), "node"));
    for (reasons, nodes) in groups.iter().take(ROWS) {
        out += &named("  ", &nodes.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        for reason in *reasons {
            out += &paragraph("    - ", reason);
        }
    }
    if groups.len() > ROWS {
        out += &format!("  … and more for {} other reasons (all of them: -o json)\n", groups.len() - ROWS);
    }
    out
}
