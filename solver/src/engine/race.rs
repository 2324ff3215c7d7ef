use super::incumbent::Incumbent;
use super::proof::{Proof, prove};
use super::timing::Timing;
use super::{Cast, Options, Problem};
use crate::arrival::Index;
use crate::bound::served;
use crate::instance::Instance;
use crate::search::Correction;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// What search and proof came to.
#[derive(Debug, Default)]
pub struct Result {
    /// Constructions made.
    pub rounds: u64,
    /// The proof, if there was a plan to prove.
    pub proof: Option<Proof>,
}

/// Constructions without progress after which a search without a deadline,
/// or of a small instance, has nothing more to try.
const PATIENCE: u64 = 300;
/// Up to this many pods patience ends a search before its deadline.
const SMALL: u64 = 150;

/// Searches and proves at the same time.
pub fn run(instance: &Instance, index: &Index, options: &Options, timing: &mut Timing, best: &mut Incumbent) -> Result {
    let problem = Problem::new(instance, index);
    let mut rounds = 0;
    let cast = tiers(&problem, options, timing, best, &mut rounds);
    let mut correction = Correction::new(&cast.model, options.seed);
    // The first landing is an answer, and tells how long one takes.
    if correction.round(&|| timing.up()) {
        rounds += 1;
        land(&cast, &correction, timing, best);
    }
    let Some(plan) = best.plan() else { return Result { rounds, proof: None } };
    let pods = served(instance, plan);
    let (bound, done) = (AtomicI64::new(0), AtomicBool::new(false));
    let share = options.iterations.map_or(u64::MAX, |n| n / 4 + 1);
    let proof = if options.threads >= 2 {
        std::thread::scope(|scope| {
            let until = timing.proof();
            let (bound, done) = (&bound, &done);
            let prover = scope.spawn(move || {
                let stop = || until.up() || (done.load(Ordering::Relaxed) && share == u64::MAX);
                prove(instance, pods, share, bound, &stop)
            });
            if improve(instance, &mut correction, options, timing, bound, &mut rounds) {
                done.store(true, Ordering::Relaxed);
            }
            land(&cast, &correction, timing, best);
            prover.join().ok()
        })
    } else {
        improve(instance, &mut correction, options, &timing.shared(), &bound, &mut rounds);
        land(&cast, &correction, timing, best);
        let until = timing.proof();
        Some(prove(instance, pods, share, &bound, &|| until.up()))
    };
    Result { rounds, proof }
}

/// Searches until time is up, nothing more is to be tried, or the bound is as
/// close as asked: then true.
fn improve(
    instance: &Instance,
    correction: &mut Correction,
    options: &Options,
    timing: &Timing,
    bound: &AtomicI64,
    rounds: &mut u64,
) -> bool {
    let patient = options.iterations.is_none() && (options.deadline.is_none() || instance.pods() <= SMALL);
    let mut idle = 0;
    let mut last = correction.best().map(|b| b.0.clone());
    while options.iterations.is_none_or(|n| *rounds < n) {
        let bound = bound.load(Ordering::Relaxed) as f64;
        let close = |cost: i64| options.iterations.is_none() && cost as f64 <= bound * (1.0 + options.stop_gap);
        if correction.best().is_some_and(|b| close(b.0.cost)) {
            return true;
        }
        if !correction.round(&|| timing.up()) {
            break;
        }
        *rounds += 1;
        let now = correction.best().map(|b| b.0.clone());
        idle = if now == last { idle + 1 } else { 0 };
        last = now;
        if patient && idle >= PATIENCE {
            break;
        }
    }
    false
}

/// Finds out who gives up which preference: that shows once everybody has a
/// place.
fn tiers<'a>(
    problem: &Problem<'a>,
    options: &Options,
    timing: &mut Timing,
    best: &mut Incumbent,
    rounds: &mut u64,
) -> Cast<'a> {
    let mut waiting = problem.everyone();
    let tiers = problem.instance.shapes.iter().map(|s| s.tiers.len()).max().unwrap_or(0);
    for _ in 1..tiers.max(1) {
        let cast = problem.cast(&waiting);
        let mut correction = Correction::new(&cast.model, options.seed);
        if !correction.round(&|| timing.up()) {
            break;
        }
        *rounds += 1;
        land(&cast, &correction, timing, best);
        let Some(plan) = best.plan() else { break };
        let next = problem.tiers_of(plan);
        if next == waiting {
            break;
        }
        waiting = next;
    }
    problem.cast(&waiting)
}

/// Makes a plan of the best construction and offers it.
fn land(cast: &Cast, correction: &Correction, timing: &mut Timing, best: &mut Incumbent) {
    let Some((_, solution)) = correction.best() else { return };
    if let Some((plan, as_found)) = timing.landing(|| cast.plan(solution)) {
        best.offer(plan, if as_found { "value-correction" } else { "value-correction-replayed" });
    }
}
