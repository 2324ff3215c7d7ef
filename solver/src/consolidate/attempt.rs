//! Plans for a settled choice of nodes that go.

use super::reduce::{lift, without};
use crate::arrival::Index;
use crate::engine::Problem;
use crate::firstfit::first_fit;
use crate::instance::Instance;
use crate::plan::Plan;
use crate::search::Correction;

/// Constructions without progress after which no more are made.
const PATIENCE: u64 = 60;

/// A plan that removes exactly the nodes of `gone`: the best of at most
/// `rounds` constructions, none if time runs out before the first.
pub fn attempt(instance: &Instance, gone: &[usize], rounds: u64, seed: u64, stop: &dyn Fn() -> bool) -> Option<Plan> {
    Some(lift(pack(&without(instance, gone), rounds, seed, stop)?, gone))
}

/// A plan for an instance that removes nothing.
pub fn pack(instance: &Instance, rounds: u64, seed: u64, stop: &dyn Fn() -> bool) -> Option<Plan> {
    if stop() {
        return None;
    }
    let index = Index::new(instance);
    let problem = Problem::new(instance, &index);
    let cast = problem.cast(&problem.everyone());
    let mut correction = Correction::new(cast.packed(), seed);
    let mut idle = 0;
    for _ in 0..rounds {
        let before = correction.best().map(|b| b.0.clone());
        if idle >= PATIENCE || !correction.round(stop) {
            break;
        }
        idle = if correction.best().map(|b| b.0.clone()) == before { idle + 1 } else { 0 };
    }
    correction.best()?;
    Some(cast.plan(&correction).map_or_else(|| first_fit(instance, &index), |(plan, _)| plan))
}
