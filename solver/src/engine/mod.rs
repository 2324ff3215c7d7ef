//! Solving an instance: first fit for an answer at once, search for a good
//! one, the certifier for the proof, all under one deadline.

mod merit;
mod options;
mod problem;
mod timing;

pub use merit::Merit;
pub use options::{Clock, EngineError, Method, Options, Outcome};
pub use problem::{Cast, Problem};

use crate::arrival::Index;
use crate::certificate::Certificate;
use crate::firstfit::first_fit;
use crate::instance::Instance;
use crate::plan::Plan;
use crate::search::Correction;
use timing::Timing;

/// Answers `instance` within the deadline that `options` sets on `clock`.
pub fn solve(instance: &Instance, options: &Options, clock: Clock) -> Result<Outcome, EngineError> {
    instance.validate()?;
    let index = Index::new(instance);
    let mut best = Incumbent { instance, plan: None };
    let mut rounds = 0;
    if options.method != Method::Greedy {
        rounds = search(instance, &index, options, clock, &mut best);
    }
    if best.plan.is_none() || instance.pods() <= FIRST_FIT_ANYWAY {
        best.offer(first_fit(instance, &index), "first-fit");
    }
    let (plan, source, _) = best.plan.ok_or(EngineError::NoPlan)?;
    Ok(Outcome { plan, bound: 0, certificate: Certificate::default(), source, rounds })
}

/// Up to this many pods first fit costs nothing, so it always competes.
const FIRST_FIT_ANYWAY: u64 = 2_000;

/// The best plan so far.
struct Incumbent<'a> {
    instance: &'a Instance,
    plan: Option<(Plan, &'static str, Merit)>,
}

impl Incumbent<'_> {
    /// Takes a plan if it is legal and better.
    fn offer(&mut self, plan: Plan, source: &'static str) {
        let merit = Merit::of(self.instance, &plan);
        if self.plan.as_ref().is_none_or(|b| merit < b.2) && crate::check::plan(self.instance, &plan).is_ok() {
            self.plan = Some((plan, source, merit));
        }
    }
}

fn search(instance: &Instance, index: &Index, options: &Options, clock: Clock, best: &mut Incumbent) -> u64 {
    let problem = Problem::new(instance, index);
    let mut timing = Timing::new(options, clock);
    let mut waiting = problem.everyone();
    let tiers = instance.shapes.iter().map(|s| s.tiers.len()).max().unwrap_or(0);
    let mut rounds = 0;
    // Who gives up which preference shows once everybody has a place.
    for _ in 1..tiers.max(1) {
        let cast = problem.cast(&waiting);
        let mut correction = Correction::new(&cast.model, options.seed);
        if !correction.round(&|| timing.up()) {
            break;
        }
        rounds += 1;
        let Some((_, solution)) = correction.best() else { break };
        let Some((plan, as_found)) = timing.landing(|| cast.plan(solution)) else { break };
        let next = problem.tiers_of(&plan);
        best.offer(plan, source(as_found));
        if next == waiting {
            break;
        }
        waiting = next;
    }
    let cast = problem.cast(&waiting);
    let mut correction = Correction::new(&cast.model, options.seed);
    let mut first = true;
    while options.iterations.is_none_or(|n| rounds < n.max(1)) && correction.round(&|| timing.up()) {
        rounds += 1;
        if let Some((_, solution)) = correction.best().filter(|_| first) {
            // The first landing is an answer, and tells how long one takes.
            first = false;
            if let Some((plan, as_found)) = timing.landing(|| cast.plan(solution)) {
                best.offer(plan, source(as_found));
            }
        }
    }
    if let Some((_, solution)) = correction.best()
        && let Some((plan, as_found)) = cast.plan(solution)
    {
        best.offer(plan, source(as_found));
    }
    rounds
}

fn source(as_found: bool) -> &'static str {
    if as_found { "value-correction" } else { "value-correction-replayed" }
}
