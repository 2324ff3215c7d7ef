use super::incumbent::Incumbent;
use super::proof::{self, Proof, prove};
use super::timing::Timing;
use super::{Cast, Options, Problem};
use crate::arrival::Index;
use crate::bound::served;
use crate::instance::Instance;
use crate::plan::Plan;
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

/// Share of the time that a folded packing is searched for before it is
/// spelled out.
const FOLDED: f64 = 0.6;
/// Up to this many pods that pays: of more, too few nodes could be rebuilt.
const FINE: u64 = 5_000;
/// Constructions without progress after which a search without a deadline,
/// or of a small instance, has nothing more to try.
const PATIENCE: u64 = 300;
/// Up to this many pods patience ends a search before its deadline.
const SMALL: u64 = 150;

/// Searches and proves at the same time.
pub fn run(instance: &Instance, index: &Index, options: &Options, timing: &mut Timing, best: &mut Incumbent) -> Result {
    let (bound, done) = (AtomicI64::new(0), AtomicBool::new(false));
    let (bound, done) = (&bound, &done);
    let share = options.iterations.map_or(u64::MAX, |n| n / 4 + 1);
    let until = timing.proof();
    // With one way to serve everybody the proof need not wait for a plan.
    let at_once = options.threads >= 2 && instance.shapes.iter().all(|s| s.tiers.len() <= 1);
    std::thread::scope(|scope| {
        let prover = |pods| scope.spawn(move || prove(instance, pods, share, bound, until, done));
        let early = at_once.then(|| prover(proof::everyone(instance)));
        let problem = Problem::new(instance, index);
        let mut rounds = 0;
        let cast = tiers(&problem, options, timing, best, &mut rounds);
        let mut correction = Correction::new(cast.packed(), options.seed);
        // The first landing is an answer, and tells how long one takes.
        let mut landed = None;
        if correction.round(&|| timing.up()) {
            rounds += 1;
            land(&cast, &correction, timing, best);
            landed = correction.best().map(|b| b.0.clone());
        }
        let pods = best.plan().map(|plan| served(instance, plan));
        let late = if early.is_none() && options.threads >= 2 { pods.clone().map(prover) } else { None };
        let threaded = early.is_some() || late.is_some();
        if pods.is_some() {
            let until = if threaded { *timing } else { timing.shared() };
            let fine = cast.is_folded() && instance.pods() <= FINE;
            let folded = if fine { until.part(FOLDED) } else { until };
            if improve(instance, &mut correction, options, &folded, bound, &mut rounds) {
                // Replays give the proof its share whatever happens here.
                done.store(options.iterations.is_none(), Ordering::Relaxed);
            }
            if correction.best().map(|b| &b.0) != landed.as_ref() {
                land(&cast, &correction, timing, best);
            }
            if fine {
                refine(&cast, &correction, options, &until, timing, best);
            }
        }
        let proof = match early.or(late) {
            Some(prover) => prover.join().ok(),
            None => pods.map(|pods| prove(instance, pods, share, bound, until, done)),
        };
        Result { rounds, proof }
    })
}

/// The proof alone, for a plan that cannot be bettered.
pub fn prove_only(instance: &Instance, plan: &Plan, options: &Options, timing: &Timing) -> Result {
    let share = options.iterations.map_or(u64::MAX, |n| n / 4 + 1);
    let (bound, done) = (AtomicI64::new(0), AtomicBool::new(false));
    let proof = prove(instance, served(instance, plan), share, &bound, timing.proof(), &done);
    Result { rounds: 0, proof: Some(proof) }
}

/// Spells a folded packing out and rebuilds parts of it for the rest of the
/// time.
fn refine(
    cast: &Cast,
    correction: &Correction,
    options: &Options,
    until: &Timing,
    timing: &mut Timing,
    best: &mut Incumbent,
) {
    if until.up() {
        return;
    }
    let Some(mut fine) = cast.unfolded(correction, options.seed) else { return };
    let reserved = until.reserving(timing);
    let most = options.iterations.map_or(u64::MAX, |n| n / 4 + 1);
    let mut idle = 0;
    let mut last = fine.best().map(|b| b.0.clone());
    for _ in 0..most {
        if !fine.refine(&|| reserved.up()) || idle >= PATIENCE {
            break;
        }
        let now = fine.best().map(|b| b.0.clone());
        idle = if now == last { idle + 1 } else { 0 };
        last = now;
    }
    if let Some((plan, as_found)) = timing.landing(|| cast.refined(&fine)) {
        best.offer_checked(plan, if as_found { "ruin-recreate" } else { replayed("ruin-recreate") });
    }
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
        let mut correction = Correction::new(cast.packed(), options.seed);
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
    if let Some((plan, as_found)) = timing.landing(|| cast.plan(correction)) {
        best.offer_checked(plan, if as_found { correction.source() } else { replayed(correction.source()) });
    }
}

/// The name of a source whose packing had to be replayed under the rules.
fn replayed(source: &'static str) -> &'static str {
    match source {
        "pool-dive" => "pool-dive-replayed",
        "ruin-recreate" => "ruin-recreate-replayed",
        _ => "value-correction-replayed",
    }
}
