//! Which nodes should go, and where their pods then are.
//!
//! Any set of nodes may be replaced by any other. Once it is settled which go,
//! the rest is a packing problem like any other: the pods of those nodes wait
//! for a place and the remaining nodes have room. Which go is read off the
//! linear relaxation that also gives the bound, rounded in several ways, and
//! decided over its columns; then parts of the plan are planned anew.

mod attempt;
pub(crate) mod budget;
mod every;
mod lean;
mod neighbour;
mod prove;
mod reduce;
mod rounding;
mod search;
mod selection;

use crate::bound::served;
use crate::engine::components;
use crate::engine::{self, Clock, EngineError, Options, Outcome, Proof, settle};
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use prove::{Shared, Until, prove};
use search::Search;
use selection::Effort;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Parts planned anew without progress after which a search without a
/// deadline, or of a small cluster, ends.
const PATIENCE: u64 = 200;
/// Most pods of a small cluster.
const SMALL: u64 = 500;

/// Answers an instance with removable nodes within the deadline that
/// `options` sets on `clock`.
pub fn solve(instance: &Instance, options: &Options, clock: Clock) -> Result<Outcome, EngineError> {
    instance.validate()?;
    let must = budget::forced(instance);
    if !budget::holds(instance, &must) {
        return Err(EngineError::Budget);
    }
    let time = Time::new(options, clock);
    let mut search = Search::new(instance, options.seed, clock);
    for candidate in &options.candidates {
        search.offer_whole(candidate.plan.clone(), candidate.source);
    }
    let apart = components::solve(instance, options, clock)?;
    if let Some(apart) = &apart {
        search.offer_whole(apart.plan.clone(), components::SOURCE);
    }
    // Parts that are each as good as can be leave nothing to look for.
    let settled = apart.as_ref().is_some_and(|a| a.is_optimal(instance));
    let mut claimed = None;
    if !settled {
        begin(&mut search, &must, options, &time)?;
        claimed = every(&mut search, options, &time)?;
    }
    let proof = match search.plan() {
        Some(plan) => {
            improve(instance, &served(instance, plan), &mut search, options, &time, settled || claimed.is_some())
        }
        None => None,
    };
    if options.method != engine::Method::Search {
        claimed = claimed.or_else(|| fleets(instance, &mut search, proof.as_ref(), settled, &time));
    }
    let rounds = search.steps;
    let first = search.first();
    let (plan, source) = search.take().ok_or(EngineError::NoPlan)?;
    let claimed = claimed.max(apart.and_then(|a| a.least_for(instance, &plan)));
    let (bound, certificate) = settle(instance, &plan, proof);
    Ok(Outcome { plan, bound, claimed, certificate, source, rounds, first })
}

/// What must be done anyway: it tells who can be served at all.
fn begin(search: &mut Search, must: &[usize], options: &Options, time: &Time) -> Result<(), EngineError> {
    if must.is_empty() && search.lean().pods() == 0 {
        search.offer(Plan::default(), "kept");
        return Ok(());
    }
    let reduced = reduce::without(search.lean(), must);
    let options = Options { deadline: time.at(0.3), candidates: Vec::new(), ..options.clone() };
    let outcome = engine::solve(&reduced, &options, time.clock)?;
    search.offer(reduce::lift(outcome.plan, must), outcome.source);
    Ok(())
}

/// All choices of nodes in a small cluster; the best cost if it is known.
fn every(search: &mut Search, options: &Options, time: &Time) -> Result<Option<Micros>, EngineError> {
    let Some(choices) = every::choices(search.lean(), &search.open) else { return Ok(None) };
    // Each is a few rounds' work.
    if options.iterations.is_some_and(|n| choices.len() as u64 > n.saturating_mul(8)) {
        return Ok(None);
    }
    let mut proven = true;
    let count = choices.len();
    for (k, gone) in choices.into_iter().enumerate() {
        if time.up(0.8) {
            return Ok(None);
        }
        let until = time.slice(0.8, count - k);
        let (plan, known) = every::answer(search.lean(), &gone, options, until, time.clock)?;
        proven &= known;
        search.offer(plan, "every-choice");
    }
    Ok(search.plan().filter(|_| proven).map(|p| p.cost(search.instance())))
}

/// Few machines: every cheaper fleet; the best cost if it is known.
fn fleets(
    instance: &Instance,
    search: &mut Search,
    proof: Option<&Proof>,
    settled: bool,
    time: &Time,
) -> Option<Micros> {
    let plan = search.plan().filter(|_| !settled)?.clone();
    let least = proof.filter(|p| p.served == served(instance, &plan)).map_or(Micros::MIN, |p| p.bound);
    let left = || time.left().map_or(f64::INFINITY, |left| left.as_secs_f64());
    let answer = crate::exact::fleets::solve(instance, &plan, least, &left)?;
    if let Some(better) = answer.plan {
        search.offer_whole(better, "fleets");
    }
    search.plan().filter(|_| answer.proven).map(|p| p.cost(instance))
}

/// Searches and proves at the same time.
fn improve(
    instance: &Instance,
    pods: &[crate::bound::Served],
    search: &mut Search,
    options: &Options,
    time: &Time,
    settled: bool,
) -> Option<Proof> {
    let shared = Shared::new();
    let rounds = options.iterations.map_or(u64::MAX, |n| n / 4 + 1);
    let prover = || {
        let until = Until {
            rounds,
            patience: if settled { 60 } else { 600 },
            pause: &|| time.up(0.5),
            stop: &|| time.up(0.92) || shared.done.load(Ordering::Relaxed),
            effort: &|| match time.left() {
                Some(left) => Effort::Seconds(left.as_secs_f64() * 0.4),
                None => Effort::Nodes(20),
            },
        };
        prove(instance, pods, &until, &shared)
    };
    if options.iterations.is_some() || options.threads < 2 {
        let proof = prover();
        if !settled {
            explore(instance, search, options, time, &shared);
        }
        return Some(proof);
    }
    std::thread::scope(|scope| {
        let handle = scope.spawn(prover);
        if !settled {
            explore(instance, search, options, time, &shared);
        }
        // Where the plan is the best there is, the bound may still rise to it.
        if closed(instance, search, options, &shared) {
            shared.done.store(true, Ordering::Relaxed);
        }
        handle.join().ok()
    })
}

/// Tries choices as the relaxation tells them, and plans parts anew between.
fn explore(instance: &Instance, search: &mut Search, options: &Options, time: &Time, shared: &Shared) {
    let stop = || time.up(0.95);
    let gone = search.dearest();
    search.consider(gone, "dearest", &stop);
    let small = instance.movable_pods() <= SMALL;
    let patient = options.deadline.is_none() || small;
    let mut idle = 0;
    let mut parts = 0;
    while !stop() && !closed(instance, search, options, shared) {
        if let Some(gone) = shared.selected() {
            idle = if search.consider(gone, "selection", &stop) { 0 } else { idle };
        } else if idle % 8 == 0
            && let Some(kept) = shared.kept()
        {
            search.round(&kept, &stop);
            idle += 1;
        } else if options.iterations.is_some_and(|n| parts >= n)
            || (idle > PATIENCE && shared.over.load(Ordering::Relaxed) && patient)
        {
            break;
        } else {
            parts += 1;
            idle = if search.step(&stop) { 0 } else { idle + 1 };
        }
    }
    while !time.up(0.98) && search.restore(&|| time.up(0.98)) {}
}

/// Whether the plan is as close to the bound as asked.
fn closed(instance: &Instance, search: &Search, options: &Options, shared: &Shared) -> bool {
    let bound = shared.bound.load(Ordering::Relaxed);
    let Some(plan) = search.plan().filter(|_| bound > i64::MIN) else { return false };
    let now = instance.current_cost();
    let (cost, least) = (now.saturating_add(plan.cost(instance)), now.saturating_add(bound).max(0));
    // Rounding takes a little of every bound.
    let slack = 2.0 + 2e-7 * least as f64;
    cost as f64 <= least as f64 * (1.0 + if options.iterations.is_some() { 0.0 } else { options.stop_gap }) + slack
}

/// The time there is.
struct Time<'a> {
    clock: Clock<'a>,
    began: Duration,
    deadline: Option<Duration>,
}

impl<'a> Time<'a> {
    /// With iterations set, no clock decides.
    fn new(options: &Options, clock: Clock<'a>) -> Self {
        Time { clock, began: clock(), deadline: options.deadline.filter(|_| options.iterations.is_none()) }
    }

    /// When this share of the time is over.
    fn at(&self, share: f64) -> Option<Duration> {
        self.deadline.map(|d| self.began + d.saturating_sub(self.began).mul_f64(share))
    }

    fn up(&self, share: f64) -> bool {
        self.at(share).is_some_and(|d| (self.clock)() >= d)
    }

    fn left(&self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_sub((self.clock)()))
    }

    /// When one of `count` equal parts of what is left of a share is over.
    fn slice(&self, share: f64, count: usize) -> Option<Duration> {
        let now = (self.clock)();
        self.at(share).map(|d| now + d.saturating_sub(now).div_f64(count.max(1) as f64))
    }
}
