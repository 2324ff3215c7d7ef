//! Solving an instance: first fit for an answer at once, search for a good
//! one, the certifier for the proof, all under one deadline.

pub(crate) mod components;
mod incumbent;
mod loose;
mod merit;
mod options;
mod problem;
mod proof;
mod race;
mod timing;

pub(crate) use incumbent::Incumbent;
pub use merit::Merit;
pub use options::{Candidate, Clock, EngineError, Method, Options, Outcome};
pub use problem::{Cast, Problem};
pub(crate) use proof::{Proof, settle};

use crate::arrival::Index;
use crate::bound::served;
use crate::exact;
use crate::firstfit::{first_fit, first_fit_whole};
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use timing::Timing;

/// Up to this many pods of so many shapes first fit costs nothing, so it
/// always competes.
const FIRST_FIT_ANYWAY: (u64, usize) = (2_000, 200);
/// Up to this many pods it competes where search leaves some without a place.
const FIRST_FIT_IF_SHORT: u64 = 2_000;

/// Answers `instance` within the deadline that `options` sets on `clock`.
pub fn solve(instance: &Instance, options: &Options, clock: Clock) -> Result<Outcome, EngineError> {
    instance.validate()?;
    if instance.has_removable() {
        return crate::consolidate::solve(instance, options, clock);
    }
    let apart = components::solve(instance, options, clock)?;
    let mut best = Incumbent::new(instance, clock);
    let timing = Timing::new(options, clock);
    for candidate in &options.candidates {
        best.offer(candidate.plan.clone(), candidate.source);
    }
    let settled = apart.as_ref().filter(|a| best.offer(a.plan.clone(), components::SOURCE) && a.is_optimal(instance));
    let (race, exact) = match settled {
        Some(apart) => (race::prove_only(instance, &apart.plan, options, &timing), None),
        None => {
            let race = search(instance, options, timing, &mut best);
            let exact = exactly(instance, options, &timing, race.proof.as_ref(), &mut best);
            (race, exact)
        }
    };
    let first = best.first();
    let (plan, source) = best.take().ok_or(EngineError::NoPlan)?;
    let claimed = exact.max(apart.and_then(|a| a.least_for(instance, &plan)));
    let (bound, certificate) = settle(instance, &plan, race.proof);
    Ok(Outcome { plan, bound, claimed, certificate, source, rounds: race.rounds, first })
}

/// Search and proof, and first fit where they are not enough.
fn search(instance: &Instance, options: &Options, timing: Timing, best: &mut Incumbent) -> race::Result {
    let index = Index::new(instance);
    let mut race = race::Result::default();
    if options.method != Method::Greedy {
        if let Some(free) = loose::without_host_spreads(instance) {
            for plan in loose::plans(&free, options.seed, &|| timing.early(0.25).up()) {
                best.offer(plan, "value-correction");
            }
        }
        // Small instances keep half of the time for an exact answer.
        let mut early = if instance.pods() <= exact::PODS { timing.early(0.5) } else { timing };
        race = race::run(instance, &index, options, &mut early, best);
    }
    let short = best.plan().is_none_or(|p| p.unserved_pods() > 0 && instance.pods() <= FIRST_FIT_IF_SHORT);
    if short || (instance.pods() <= FIRST_FIT_ANYWAY.0 && instance.shapes.len() <= FIRST_FIT_ANYWAY.1) {
        best.offer(first_fit(instance, &index), "first-fit");
    }
    if best.plan().is_none() {
        best.offer(first_fit_whole(instance, &index), "first-fit");
    }
    if best.plan().is_none() {
        // A defect somewhere above; leaving everybody pending breaks nothing.
        best.offer(nothing(instance), "nothing");
    }
    race
}

/// Answers a small instance exactly, if the time left suffices; the optimum
/// if it is known.
fn exactly(
    instance: &Instance,
    options: &Options,
    timing: &Timing,
    proof: Option<&Proof>,
    best: &mut Incumbent,
) -> Option<Micros> {
    if matches!(options.method, Method::Greedy | Method::Search) || instance.pods() > exact::PODS {
        return None;
    }
    let start = best.plan()?.clone();
    let cost = start.cost(instance);
    let least = proof.filter(|p| p.served == served(instance, &start)).map_or(0, |p| whole(instance, p.bound));
    let complete = start.unserved.is_empty() && start.demoted.is_empty();
    if complete && start.bought.len() <= 1 && cost <= least {
        return Some(cost);
    }
    let left = || timing.left();
    // Where contents are too many, fleets may be few: they keep some time.
    let kept = Some(0.3 * left()).filter(|k| k.is_finite()).unwrap_or(0.0);
    if let Some(answer) = exact::solve(instance, &start, &|| left() - kept) {
        best.offer(answer.plan, "exact");
        return Some(answer.bound);
    }
    let answer = exact::fleets::solve(instance, &start, least, &left)?;
    if let Some(better) = answer.plan {
        best.offer(better, "fleets");
    }
    best.plan().filter(|_| answer.proven).map(|p| p.cost(instance))
}

/// A bound on the cost of bought nodes, raised to the next sum that prices can
/// add up to.
fn whole(instance: &Instance, bound: Micros) -> Micros {
    let divisor = |a: Micros, b: Micros| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let unit = instance.bins.iter().filter(|b| b.buyable).map(|b| b.price).fold(0, divisor).max(1);
    bound.checked_add(unit - 1).map_or(bound, |b| b / unit * unit)
}

/// The plan that does nothing.
fn nothing(instance: &Instance) -> Plan {
    let left = instance.shapes.iter().enumerate().filter(|(_, s)| s.count > 0);
    Plan { unserved: left.map(|(s, shape)| (s, shape.count)).collect(), ..Plan::default() }
}
