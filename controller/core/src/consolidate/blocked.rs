//! Why nodes stay.

use std::collections::BTreeSet;

use millwright_solver::instance::Micros;

use super::ideal::Ideal;
use super::solve::Solved;
use crate::candidates::Scene;

/// Bounds are rounded down; so much below the cost they still prove it.
const ROUNDING: Micros = 1;

/// Every node that stays in the wave, with the smallest reason.
pub fn blocked(scene: &Scene<'_>, solved: &Solved<'_>, ideal: &Ideal, price: Micros) -> Vec<(String, Vec<String>)> {
    let gone: BTreeSet<&str> = solved.lifted.removed.iter().map(String::as_str).collect();
    let used = drawn(solved);
    let mut out = Vec::new();
    for (n, node) in scene.nodes.iter().enumerate().filter(|(_, n)| !gone.contains(n.name())) {
        let name = node.name();
        let reason = match solved.terms.kept.get(name) {
            Some(why) => why.clone(),
            None => stays(scene, solved, ideal, price, n, &used),
        };
        out.push((name.to_owned(), vec![reason]));
    }
    out
}

/// What the removed nodes draw from each budget.
fn drawn(solved: &Solved<'_>) -> Vec<i64> {
    let instance = &solved.lowered.instance;
    let mut used = vec![0; instance.budgets.len()];
    for removal in solved.outcome.plan.removed.iter().filter_map(|n| instance.nodes[*n].removal.as_ref()) {
        for &(b, amount) in &removal.budgets {
            used[b] += amount;
        }
    }
    used
}

/// Of a node that might go and does not.
fn stays(scene: &Scene<'_>, solved: &Solved<'_>, ideal: &Ideal, price: Micros, n: usize, used: &[i64]) -> String {
    let name = scene.nodes[n].name();
    let lowered = &solved.lowered;
    let place = lowered.places.iter().position(|p| p.name == name);
    if let Some((_, why)) = lowered.stuck.iter().find(|(at, _)| Some(*at) == place) {
        return why.clone();
    }
    if ideal.removed.contains(name) {
        let removal = place.and_then(|p| lowered.instance.nodes[p].removal.as_ref());
        let full = removal.into_iter().flat_map(|r| &r.budgets);
        let full = full.filter(|(b, amount)| used[*b] + amount > lowered.instance.budgets[*b].max);
        if let Some((b, _)) = full.min_by_key(|(b, _)| lowered.instance.budgets[*b].max - used[*b]) {
            return format!("it waits for a later wave: {}", lowered.budget_names[*b]);
        }
        let pods = scene.pods(n).filter(|p| p.is_reschedulable()).count();
        let charge = removal.map_or(0, |r| r.charge);
        let pool = scene.nodes[n].pool().and_then(|p| scene.world.node_pool(p));
        if let Some(pool) = pool.filter(|p| p.disruption.policy == "Balanced")
            && charge > 0
        {
            return format!(
                "its move would save too small a share of the cost of NodePool {} for the disruption (policy Balanced)",
                pool.name()
            );
        }
        if price > 0 && charge > 0 {
            let (charge, noun) = (charge as f64 / 1e6, if pods == 1 { "pod" } else { "pods" });
            return format!(
                "removing it would save no more than its disruption is taken to cost: {charge} $/h for the node and \
                 {pods} {noun}"
            );
        }
        return "no cheaper set of nodes was found as long as the nodes that may not go stay".to_owned();
    }
    let least = solved.claimed_bound().unwrap_or_default().max(solved.bound());
    if solved.cost() <= ideal.bound + ROUNDING || (price == 0 && solved.cost() <= least + ROUNDING) {
        "no cheaper set of nodes exists for the pods: keeping it is optimal".to_owned()
    } else if solved.cost() <= least + ROUNDING {
        format!(
            "no other set of nodes saves more than its disruption is taken to cost ({} $/h for each evicted pod and \
             each removed node): keeping it is optimal at that price",
            price as f64 / 1e6
        )
    } else {
        "no cheaper set of nodes was found for the pods".to_owned()
    }
}
