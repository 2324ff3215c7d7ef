//! A plan for people.

use std::collections::BTreeMap;

use super::money::{month, text};
use super::style::{counted, paragraph, table};
use super::unscheduled;
use crate::answer::{Answer, PlannedNode};

/// Rows of nodes that are printed.
const ROWS: usize = 40;

/// Nodes, money, what has no place, warnings.
pub fn render(decision: &Answer, prices: &str) -> String {
    let mut out = if decision.nodes.is_empty() { nothing(decision) } else { nodes(&decision.nodes) };
    out += &existing(decision);
    out += "\n";
    out += &money(decision, prices);
    for section in [unscheduled::section(&decision.unscheduled), warnings(&decision.warnings)] {
        if !section.is_empty() {
            out += "\n";
            out += &section;
        }
    }
    out
}

/// Why no node is bought.
fn nothing(decision: &Answer) -> String {
    let left = decision.unscheduled.len();
    let placed = decision.existing.iter().any(|(_, pods)| !pods.is_empty());
    let sentence = match (left, placed) {
        (0, false) => "Nothing to buy: no pod waits for a place.".to_owned(),
        (0, true) => "Nothing to buy: the pods fit the nodes that exist.".to_owned(),
        (1, _) => "No node that could be bought would take the pod that waits (reason below).".to_owned(),
        (n, _) => format!("No node that could be bought would take any of {n} pods that wait (reasons below)."),
    };
    paragraph("", &sentence)
}

/// Equal nodes in one row, the most expensive row first.
fn nodes(nodes: &[PlannedNode]) -> String {
    type Key<'a> = (&'a str, &'a str, &'a str, &'a str, i64);
    let mut groups: BTreeMap<Key<'_>, (usize, usize)> = BTreeMap::new();
    for n in nodes {
        let group = groups.entry((&n.instance_type, &n.zone, &n.capacity_type, &n.pool, n.price)).or_default();
        *group = (group.0 + 1, group.1 + n.pods.len());
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|((.., price), (count, _))| std::cmp::Reverse(price.saturating_mul(*count as i64)));
    let mut rows = table(&["INSTANCE TYPE", "ZONE", "CAPACITY", "NODEPOOL", "NODES", "PODS", "$/h EACH", "$/h"], 4);
    for ((instance_type, zone, capacity_type, pool, price), (count, pods)) in groups.iter().take(ROWS) {
        let all = price.saturating_mul(*count as i64);
        rows.add_row([
            (*instance_type).to_owned(),
            (*zone).to_owned(),
            (*capacity_type).to_owned(),
            (*pool).to_owned(),
            count.to_string(),
            pods.to_string(),
            plain(*price),
            plain(all),
        ]);
    }
    let pods: usize = nodes.iter().map(|n| n.pods.len()).sum();
    let total = nodes.iter().map(|n| n.price).sum();
    let mut out = String::new();
    if groups.len() > ROWS {
        let (mut count, mut cost) = (0, 0_i64);
        for ((.., price), (n, _)) in &groups[ROWS..] {
            count += n;
            cost = cost.saturating_add(price.saturating_mul(*n as i64));
        }
        rows.add_row(
            [format!("… {} more kinds", groups.len() - ROWS), String::new(), String::new(), String::new()]
                .into_iter()
                .chain([count.to_string(), String::new(), String::new(), plain(cost)]),
        );
    }
    rows.add_row([String::new(), String::new(), String::new(), "total".to_owned()].into_iter().chain([
        nodes.len().to_string(),
        pods.to_string(),
        String::new(),
        plain(total),
    ]));
    out += &rows.trim_fmt();
    out.push('\n');
    out
}

/// An amount without its sign, for a column whose head has it.
fn plain(micros: i64) -> String {
    text(micros, 4).replacen('$', "", 1)
}

fn existing(decision: &Answer) -> String {
    let used: Vec<_> = decision.existing.iter().filter(|(_, pods)| !pods.is_empty()).collect();
    if used.is_empty() {
        return String::new();
    }
    let pods: usize = used.iter().map(|(_, pods)| pods.len()).sum();
    let names: Vec<&str> = used.iter().take(3).map(|(node, _)| node.as_str()).collect();
    let more = if used.len() > names.len() { ", …" } else { "" };
    let exist = if used.len() == 1 { "that exists takes" } else { "that exist take" };
    let sentence =
        format!("{} {exist} {} ({}{more})", counted(used.len(), "node"), counted(pods, "pod"), names.join(", "));
    format!("\n{}", paragraph("", &sentence))
}

fn money(d: &Answer, prices: &str) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.push(("Cost", format!("{} per hour, {} per month of 730 h", text(d.cost, 4), month(d.cost))));
    lines.push(("Lower bound", format!("{} per hour: {}", text(d.bound, 4), distance(d.gap))));
    if let Some(claimed) = d.claimed_bound {
        let nearer = (claimed > 0).then(|| d.cost as f64 / claimed as f64 - 1.0);
        let line = format!("{} per hour by branching: {}", text(claimed, 4), distance(nearer));
        lines.push(("Not certified", line));
    }
    lines.push(("Baseline", baseline(d)));
    if d.current_cost > 0 {
        lines.push(("Existing nodes", format!("{} per hour, not in the cost above", text(d.current_cost, 4))));
    }
    if d.flexibility_premium > 0 {
        let premium = text(d.flexibility_premium, 4);
        lines.push(("Flexibility", format!("{premium} per hour of the cost buy more types per launch")));
    }
    lines.push(("Engine", format!("{}, {:.3} s", d.engine, d.elapsed.as_secs_f64())));
    lines.push(("Prices", prices.to_owned()));
    lines.iter().map(|(name, value)| paragraph(&format!("{name:<16}"), value)).collect()
}

/// How far a plan is from the cheapest, in words.
pub fn distance(gap: Option<f64>) -> String {
    match gap {
        Some(gap) if gap <= 0.0 => "no plan can be cheaper".to_owned(),
        Some(gap) => format!("this plan is at most {:.2} % above the minimum", gap * 100.0),
        None => "nothing is proven".to_owned(),
    }
}

/// What Karpenter's algorithm would buy, and the difference.
fn baseline(d: &Answer) -> String {
    let base = &d.baseline;
    let mut line = format!(
        "{} per hour on {} by Karpenter's algorithm ({})",
        text(base.cost, 4),
        counted(base.nodes, "node"),
        base.engine
    );
    let saved = base.cost - d.cost;
    // Who serves fewer pods spends less: that is no saving.
    if d.unscheduled.len() > base.unscheduled {
        line += &format!("; it has a place for {} more", counted(d.unscheduled.len() - base.unscheduled, "pod"));
    } else if saved > 0 && base.cost > 0 {
        let share = saved as f64 / base.cost as f64 * 100.0;
        line += &format!("; this plan saves {} per month, {share:.1} %", month(saved));
    } else if saved < 0 {
        line += &format!("; this plan costs {} per month more", month(-saved));
    }
    if base.unscheduled > 0 {
        line += &format!("; it leaves {} without a place", counted(base.unscheduled, "pod"));
    }
    line
}

pub fn warnings(warnings: &[String]) -> String {
    const LINES: usize = 20;
    if warnings.is_empty() {
        return String::new();
    }
    let mut out = "Warnings\n".to_owned();
    for warning in warnings.iter().take(LINES) {
        out += &paragraph("  - ", warning);
    }
    if warnings.len() > LINES {
        out += &format!("  … and {} more (all of them: -o json)\n", warnings.len() - LINES);
    }
    out
}
