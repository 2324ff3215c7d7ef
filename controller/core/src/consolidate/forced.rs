//! Drifted nodes that must go in this wave. (spec 30 §17.2)

use std::collections::BTreeSet;

use jiff::Timestamp;
use millwright_models::lower::Removals;

use super::terms::{Allowed, drifted};
use crate::budgets::Reason;
use crate::candidates::{Candidate, Class, Scene};

/// Candidates that drifted from dynamic pools: those without pods to move
/// first, then those that drifted first. A claim with a
/// terminationGracePeriod is one though pods hold it.
pub fn drifters<'w>(scene: &Scene<'w>) -> Vec<Candidate<'w>> {
    let drifted = (0..scene.nodes.len()).filter(|n| drifted(scene, *n).is_some());
    let mut all: Vec<_> = drifted.filter_map(|n| scene.candidate(n, Class::Eventual).ok()).collect();
    all.retain(|c| c.pool.is_some_and(|p| p.replicas.is_none()));
    let since = |c: &Candidate<'_>| {
        let condition = scene.nodes[c.node].condition("Drifted").filter(|c| c.status == "True");
        condition.and_then(|c| c.last_transition_time).unwrap_or(Timestamp::MAX)
    };
    all.sort_by_key(|c| (!c.pods.is_empty(), since(c), c.node));
    all
}

/// Of the drifters those that the budgets for drift let go now, in order.
pub fn mandated<'w>(scene: &Scene<'w>, allowed: &Allowed) -> Vec<Candidate<'w>> {
    let mut taken: std::collections::BTreeMap<&str, i64> = Default::default();
    let mut all = drifters(scene);
    all.retain(|c| {
        let Some(pool) = c.pool.map(|p| p.name()) else { return false };
        let used = taken.entry(pool).or_default();
        let fits = *used < allowed.remaining(pool, Reason::Drifted);
        *used += i64::from(fits);
        fits
    });
    all
}

/// Forces those of `order` that fit into the budgets together; the others may
/// still go where that pays.
pub fn force(removals: &mut Removals, order: &[&str]) {
    let mut left: Vec<i64> = removals.budgets.iter().map(|b| b.max).collect();
    let mut forced: BTreeSet<&str> = BTreeSet::new();
    for name in order {
        let Some(terms) = removals.nodes.get(*name) else { continue };
        if terms.budgets.iter().all(|&(b, amount)| amount <= left[b]) {
            terms.budgets.iter().for_each(|&(b, amount)| left[b] -= amount);
            forced.insert(name);
        }
    }
    for (name, terms) in &mut removals.nodes {
        terms.forced = forced.contains(name.as_str());
    }
}

#[cfg(test)]
mod tests {
    use millwright_models::lower::{RemovalBudget, RemovalTerms};

    use super::*;

    #[test]
    fn only_what_the_budgets_let_go_together_is_forced() {
        let budget = |name: &str, max| RemovalBudget { name: name.to_owned(), max };
        let draws = |budgets: &[(usize, i64)]| RemovalTerms { budgets: budgets.to_vec(), ..RemovalTerms::default() };
        let mut removals = Removals {
            nodes: [("a", draws(&[(0, 1), (1, 3)])), ("b", draws(&[(0, 1), (1, 2)])), ("c", draws(&[(0, 1)]))]
                .map(|(n, t)| (n.to_owned(), t))
                .into(),
            budgets: vec![budget("nodes", 2), budget("evictions", 4)],
        };
        force(&mut removals, &["b", "a", "c"]);
        let forced: Vec<&str> = removals.nodes.iter().filter(|(_, t)| t.forced).map(|(n, _)| n.as_str()).collect();
        assert_eq!(forced, ["b", "c"], "after b, a would evict too many");
        force(&mut removals, &["c"]);
        assert!(!removals.nodes["b"].forced && removals.nodes["c"].forced);
    }
}
