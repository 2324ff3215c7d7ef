//! Which nodes should go, and where their pods then are.
//!
//! Any set of nodes may be replaced by any other. Once it is settled which go,
//! the rest is a packing problem like any other: the pods of those nodes wait
//! for a place and the remaining nodes have room.

mod budget;
mod reduce;

use crate::engine::{self, Clock, EngineError, Incumbent, Options, Outcome, settle};
use crate::instance::Instance;

/// Answers an instance with removable nodes within the deadline that
/// `options` sets on `clock`.
pub fn solve(instance: &Instance, options: &Options, clock: Clock) -> Result<Outcome, EngineError> {
    instance.validate()?;
    let must = budget::forced(instance);
    let drawn = budget::choose(instance, &[]);
    if !budget::holds(instance, &must) {
        return Err(EngineError::Budget);
    }
    let mut best = Incumbent::new(instance);
    let mut rounds = 0;
    let began = clock();
    let left = options.deadline.map(|d| d.saturating_sub(began));
    let mut all: Vec<usize> = (0..instance.nodes.len()).filter(|&n| instance.nodes[n].removal.is_some()).collect();
    all.sort_by_key(|&n| {
        let node = &instance.nodes[n];
        let charge = node.removal.as_ref().map_or(0, |r| r.charge);
        (charge - node.price, n)
    });
    let candidates = [drawn, budget::choose(instance, &all)];
    for (k, gone) in candidates.iter().enumerate() {
        let mut options = options.clone();
        options.deadline = left.map(|l| began + l.mul_f64([0.3, 0.7][k]));
        let reduced = reduce::without(instance, gone);
        let outcome = engine::solve(&reduced, &options, clock)?;
        rounds += outcome.rounds;
        best.offer(reduce::lift(outcome.plan, gone), outcome.source);
    }
    let (plan, source) = best.take().ok_or(EngineError::NoPlan)?;
    let (bound, certificate) = settle(instance, &plan, None);
    Ok(Outcome { plan, bound, claimed: None, certificate, source, rounds })
}
