//! Host spreads judged at the end rather than while packing.
//!
//! Search keeps every node within the skew above 0, which is right as long as
//! some eligible node holds none of the pods. On few nodes the minimum rises
//! with the counts, so more may sit together than search lets; packing without
//! these rules and asking the verifier finds such plans.

use crate::arrival::Index;
use crate::firstfit::first_fit;
use crate::instance::{Instance, Key, RuleKind};
use crate::plan::Plan;
use crate::search::Correction;

use super::Problem;

/// Most pods for which this is tried.
const PODS: u64 = 300;
/// Constructions tried.
const ROUNDS: usize = 30;

/// The instance without its host spreads, where that may pay.
pub fn without_host_spreads(instance: &Instance) -> Option<Instance> {
    let on_host = |r: &crate::instance::Rule| r.key == Key::Host && matches!(r.kind, RuleKind::Spread(_));
    if instance.pods() > PODS || !instance.rules.iter().any(|r| on_host(r) && !r.owners.is_empty()) {
        return None;
    }
    let mut loose = instance.clone();
    for rule in loose.rules.iter_mut().filter(|r| on_host(r)) {
        rule.owners.clear();
    }
    Some(loose)
}

/// Plans for the loosened instance; the caller has them verified on the real
/// one.
pub fn plans(loose: &Instance, seed: u64, stop: &dyn Fn() -> bool) -> Vec<Plan> {
    let index = Index::new(loose);
    let problem = Problem::new(loose, &index);
    let cast = problem.cast(&problem.everyone());
    let mut correction = Correction::new(cast.packed(), seed);
    let mut out = vec![first_fit(loose, &index)];
    for _ in 0..ROUNDS {
        if !correction.round(stop) {
            break;
        }
    }
    out.extend(cast.plan(&correction).map(|(plan, _)| plan));
    out
}
