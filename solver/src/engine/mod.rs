//! Solving an instance: first fit for an answer at once, search for a good
//! one, the certifier for the proof, all under one deadline.

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
    let index = Index::new(instance);
    let mut best = Incumbent::new(instance);
    let timing = Timing::new(options, clock);
    let mut race = race::Result::default();
    for candidate in &options.candidates {
        best.offer(candidate.plan.clone(), candidate.source);
    }
    if options.method != Method::Greedy
        && let Some(free) = loose::without_host_spreads(instance)
    {
        for plan in loose::plans(&free, options.seed, &|| timing.early(0.25).up()) {
            best.offer(plan, "value-correction");
        }
    }
    if options.method != Method::Greedy {
        // Small instances keep half of the time for an exact answer.
        let mut early = if instance.pods() <= crate::exact::PODS { timing.early(0.5) } else { timing };
        race = race::run(instance, &index, options, &mut early, &mut best);
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
    let claimed = exactly(instance, options, &timing, &mut best);
    let (plan, source) = best.take().ok_or(EngineError::NoPlan)?;
    let (bound, certificate) = settle(instance, &plan, race.proof);
    Ok(Outcome { plan, bound, claimed, certificate, source, rounds: race.rounds })
}

/// Answers a small instance exactly, if the time left suffices; the optimum
/// if it is known.
fn exactly(instance: &Instance, options: &Options, timing: &Timing, best: &mut Incumbent) -> Option<Micros> {
    if options.method == Method::Greedy || instance.pods() > crate::exact::PODS {
        return None;
    }
    let start = best.plan()?.clone();
    let answer = crate::exact::solve(instance, &start, &|| timing.left().as_secs_f64())?;
    best.offer(answer.plan, "exact");
    Some(answer.bound)
}

/// The plan that does nothing.
fn nothing(instance: &Instance) -> Plan {
    let left = instance.shapes.iter().enumerate().filter(|(_, s)| s.count > 0);
    Plan { unserved: left.map(|(s, shape)| (s, shape.count)).collect(), ..Plan::default() }
}
