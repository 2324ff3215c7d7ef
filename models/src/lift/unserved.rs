//! Why a pod that some node could host stays without a place.

use std::collections::BTreeSet;

use millwright_solver::plan::Plan;

use crate::lower::Lowered;

/// Reasons for an unserved pod of `shape` beside `plan`.
pub fn reasons(lowered: &Lowered<'_>, plan: &Plan, shape: usize) -> Vec<String> {
    if let Ok(i) = lowered.unhosted.binary_search_by_key(&shape, |(s, _)| *s) {
        return lowered.unhosted[i].1.clone();
    }
    let instance = &lowered.instance;
    let mut left: Vec<i64> = instance.limits.iter().map(|l| l.max).collect();
    let mut units: Vec<i64> = instance.supplies.iter().map(|s| i64::from(s.count)).collect();
    for node in &plan.bought {
        let bin = &instance.bins[node.bin];
        for &(l, amount) in &bin.limit_use {
            left[l] -= amount;
        }
        if let Some(s) = bin.supply {
            units[s] -= 1;
        }
    }
    let mut blocked: BTreeSet<String> = BTreeSet::new();
    let mut open = false;
    for tier in &instance.shapes[shape].tiers {
        for b in instance.admissions[tier.admission].bins.ones() {
            let bin = &instance.bins[b];
            let limit = bin.limit_use.iter().find(|(l, amount)| left[*l] < *amount);
            if let Some((l, _)) = limit {
                let (pool, resource) = &lowered.limit_names[*l];
                blocked.insert(format!("NodePool {pool} has reached its limit on {resource}"));
            } else if let Some(s) = bin.supply.filter(|s| units[*s] < 1) {
                blocked.insert(format!("capacity reservation {} has no unit left", lowered.supply_names[s]));
            } else if bin.buyable {
                open = true;
            }
        }
    }
    let mut out: Vec<String> = Vec::new();
    if open || blocked.is_empty() {
        let rules = instance.rules.iter().enumerate().filter(|(_, r)| r.owned_by(shape) || r.selects(shape));
        let owned = rules.filter(|(_, r)| r.owned_by(shape) || !r.present_owners.is_empty() || !r.owners.is_empty());
        out.extend(owned.map(|(i, _)| lowered.rule_names[i].clone()));
    }
    out.extend(blocked);
    if out.is_empty() {
        out.push("no place was found for it beside the other pods".to_owned());
    }
    out.dedup();
    out
}
