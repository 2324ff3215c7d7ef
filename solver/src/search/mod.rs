//! Search for a cheap plan: shapes with counts, never single pods.

pub mod allot;
pub mod budget;
mod downsize;
pub mod fold;
mod greedy;
pub mod host;
mod knapsack;
pub mod model;
mod offers;
pub mod packing;
mod pattern;
mod pool;
mod ruin;
mod sharpen;
pub mod solution;
mod spots;
pub mod values;

pub use downsize::downsize;
pub use greedy::{Greedy, Guide};
pub use knapsack::Knapsack;
pub use offers::offers;
pub use pattern::{Pattern, Pricer};

use budget::Budget;
use model::Model;
use pool::Pool;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solution::{Score, Solution};

/// Up to this many offers are looked at in every round.
const FEW: usize = 60;
/// See [`Guide::haste`]: the first rounds only find out what is worth what.
const HASTE: [f64; 8] = [0.05, 0.05, 0.05, 0.03, 0.03, 0.02, 0.02, 0.01];

/// What value correction is called in answers.
const CORRECTION: &str = "value-correction";
/// Rounds of value correction before anything else is tried.
const ALONE: u64 = 10;
/// A construction within this share of the best adds its nodes to the pool.
const NEAR: f64 = 1.01;
/// Attempts of one round of ruin and recreate.
const TRIES: u32 = 60;

/// What a round does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Construct,
    /// Solve the pool's program.
    Pool,
    /// Round its solution, keeping so many percent of its fractions.
    Dive(u32),
    Ruin,
}

/// Later rounds take turns in this order.
const TURNS: [Step; 12] = [
    Step::Pool,
    Step::Dive(80),
    Step::Dive(0),
    Step::Dive(50),
    Step::Ruin,
    Step::Construct,
    Step::Construct,
    Step::Dive(100),
    Step::Ruin,
    Step::Construct,
    Step::Construct,
    Step::Construct,
];

/// Sequential value correction: construct, look which pods sat on dear nodes,
/// raise their value, construct again. In between, the nodes of all good
/// constructions are put together anew, and parts of the best rebuilt.
pub struct Correction<'a> {
    model: &'a Model<'a>,
    greedy: Greedy,
    value: Vec<f64>,
    best_value: Vec<f64>,
    best: Option<(Score, Solution)>,
    source: &'static str,
    fails: u32,
    scarce: bool,
    everything: Vec<u32>,
    offers: Vec<u32>,
    /// Offers that recent constructions bought from.
    active: Vec<u32>,
    rounds: u64,
    rng: ChaCha8Rng,
    pool: Option<Pool>,
    /// Randomness of all but value correction.
    dice: ChaCha8Rng,
}

impl<'a> Correction<'a> {
    /// Starts from the fluid values.
    pub fn new(model: &'a Model<'a>, seed: u64) -> Self {
        Self::with_values(model, values::fluid_values(model), seed)
    }

    /// Starts from a packing of the model, to be [refined](Self::refine) at
    /// these values per lane.
    pub fn resume(model: &'a Model<'a>, solution: Solution, value: Vec<f64>, seed: u64) -> Self {
        let mut this = Self::with_values(model, value, seed);
        this.active = solution.bought.iter().map(|b| b.offer).collect();
        this.active.sort_unstable();
        this.active.dedup();
        this.best = Some((solution.score(model), solution));
        this
    }

    fn with_values(model: &'a Model<'a>, value: Vec<f64>, seed: u64) -> Self {
        Correction {
            model,
            greedy: Greedy::default(),
            best_value: value.clone(),
            value,
            best: None,
            source: CORRECTION,
            fails: 0,
            scarce: false,
            everything: model.slots.iter().map(|s| s.count).collect(),
            offers: (0..model.offers.len() as u32).collect(),
            active: Vec::new(),
            rounds: 0,
            rng: ChaCha8Rng::seed_from_u64(seed),
            pool: Pool::new(model).ok(),
            dice: ChaCha8Rng::seed_from_u64(seed ^ 0x9e37_79b9),
        }
    }

    /// One round. False if time ran out before it was complete; the first is
    /// completed in a rush.
    pub fn round(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let complete = self.best.as_ref().is_some_and(|(_, s)| s.left.iter().all(|&n| n == 0) && s.bought.len() > 1);
        let step = match self.rounds.checked_sub(ALONE) {
            Some(turn) if complete => TURNS[(turn % TURNS.len() as u64) as usize],
            _ => Step::Construct,
        };
        let solved = self.pool.as_ref().is_some_and(Pool::is_solved);
        let done = match step {
            Step::Pool => self.solve_pool(stop),
            Step::Dive(keep) if solved => self.dive(f64::from(keep) / 100.0, stop),
            Step::Ruin => self.ruin(stop),
            Step::Construct | Step::Dive(_) => self.construct(stop),
        };
        self.rounds += u64::from(done);
        done
    }

    /// One round that only rebuilds parts of the best construction.
    pub fn refine(&mut self, stop: &dyn Fn() -> bool) -> bool {
        self.ruin(stop)
    }

    fn construct(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let mut budget = Budget::new(self.model.instance);
        // Most rounds look only at offers that lately proved useful.
        let all = self.rounds.is_multiple_of(5) || self.offers.len() <= FEW;
        let offers = if all { &self.offers } else { &self.active };
        let guide = Guide {
            value: &self.value,
            offers,
            scarce: self.scarce,
            haste: HASTE[self.rounds.min(7) as usize],
            spares: true,
            rush: self.best.is_none(),
            stop,
        };
        let Some(mut solution) = self.greedy.run(self.model, &self.everything, &mut budget, &guide) else {
            return false;
        };
        downsize(self.model, &mut solution, &mut budget);
        if all {
            self.active.clear();
        }
        self.active.extend(self.greedy.used.iter().copied());
        self.active.extend(solution.bought.iter().map(|b| b.offer));
        if let Some((_, best)) = &self.best {
            self.active.extend(best.bought.iter().map(|b| b.offer));
        }
        self.active.sort_unstable();
        self.active.dedup();
        let score = solution.score(self.model);
        if self.model.ranks > 1 && score.unserved.iter().any(|&n| n > 0) {
            self.scarce = true;
        }
        let near = self.best.as_ref().is_none_or(|(b, _)| score.cost as f64 <= b.cost as f64 * NEAR);
        if near && let Some(pool) = &mut self.pool {
            // A pool that cannot grow is as good as it was.
            let _ = pool.add(self.model, &solution);
        }
        let better = self.best.as_ref().is_none_or(|(b, _)| score < *b);
        let gamma = [0.5, 0.25, 0.12][(self.fails / 4).min(2) as usize];
        let used = if better {
            self.fails = 0;
            self.best_value.clone_from(&self.value);
            self.source = CORRECTION;
            &self.best.insert((score, solution)).1
        } else {
            self.fails += 1;
            &solution
        };
        if self.fails >= 12 {
            self.fails = 0;
            self.value.clone_from(&self.best_value);
            for v in &mut self.value {
                *v *= self.rng.random_range(0.95..1.05);
            }
        } else {
            values::correct(self.model, used, &mut self.value, gamma);
        }
        true
    }

    /// Solves the program over the pool. A solver that fails costs the pool.
    fn solve_pool(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let (Some(pool), Some((_, best))) = (&mut self.pool, &self.best) else { return true };
        let solved = pool.add(self.model, best).and_then(|()| pool.solve(self.model, best, stop));
        if solved.is_err() {
            self.pool = None;
        }
        !stop()
    }

    fn dive(&mut self, keep: f64, stop: &dyn Fn() -> bool) -> bool {
        let (Some(pool), Some((_, best))) = (&self.pool, &self.best) else { return true };
        let guide = Guide::patient(&self.best_value, &self.active, stop);
        let Some(made) = pool.dive(self.model, best, keep, &mut self.greedy, &guide, &mut self.dice) else {
            return false;
        };
        self.take(made, "pool-dive");
        true
    }

    fn ruin(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let Some((_, best)) = &self.best else { return true };
        let mut solution = best.clone();
        let guide = Guide::patient(&self.best_value, &self.active, stop);
        ruin::ruin(self.model, &mut solution, TRIES, &mut self.greedy, &guide, &mut self.dice);
        self.take(solution, "ruin-recreate");
        !stop()
    }

    /// Keeps a solution if it is better.
    fn take(&mut self, solution: Solution, source: &'static str) {
        let score = solution.score(self.model);
        if self.best.as_ref().is_none_or(|(b, _)| score < *b) {
            if let Some(pool) = &mut self.pool {
                let _ = pool.add(self.model, &solution);
            }
            self.best = Some((score, solution));
            self.source = source;
        }
    }

    /// What found the best construction.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Values per lane that led to the best construction.
    pub fn values(&self) -> &[f64] {
        &self.best_value
    }

    /// The best construction so far.
    pub fn best(&self) -> Option<&(Score, Solution)> {
        self.best.as_ref()
    }
}
