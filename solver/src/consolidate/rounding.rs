//! Which nodes go, by how much of each the linear relaxation keeps.

use super::budget::choose;
use crate::instance::Instance;

/// Shares below which a node goes.
const THRESHOLDS: [f64; 7] = [0.5, 0.25, 0.75, 0.05, 0.95, 0.1, 0.9];

/// Choices by several thresholds, each once. What the budgets do not let go
/// stays, the nodes kept least going first.
pub fn choices(instance: &Instance, kept: &[f64], open: &[bool]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..kept.len()).filter(|&n| open[n]).collect();
    let price = |n: usize| {
        let node = &instance.nodes[n];
        node.removal.as_ref().map_or(0, |r| r.charge) - node.price
    };
    order.sort_by(|&a, &b| kept[a].total_cmp(&kept[b]).then_with(|| price(a).cmp(&price(b))).then(a.cmp(&b)));
    let mut out: Vec<Vec<usize>> = Vec::new();
    for t in THRESHOLDS {
        let wanted: Vec<usize> = order.iter().copied().take_while(|&n| kept[n] < t).collect();
        let gone = choose(instance, &wanted);
        if !out.contains(&gone) {
            out.push(gone);
        }
    }
    out
}
