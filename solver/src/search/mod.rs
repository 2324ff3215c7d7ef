//! Search for a cheap plan: shapes with counts, never single pods.

pub mod allot;
pub mod budget;
mod downsize;
mod greedy;
pub mod host;
mod knapsack;
pub mod model;
mod offers;
pub mod packing;
mod pattern;
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
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use solution::{Score, Solution};

/// Up to this many offers are looked at in every round.
const FEW: usize = 60;
/// See [`Guide::haste`]: the first rounds only find out what is worth what.
const HASTE: [f64; 8] = [0.05, 0.05, 0.05, 0.03, 0.03, 0.02, 0.02, 0.01];

/// Sequential value correction: construct, look which pods sat on dear nodes,
/// raise their value, construct again.
pub struct Correction<'a> {
    model: &'a Model<'a>,
    greedy: Greedy,
    value: Vec<f64>,
    best_value: Vec<f64>,
    best: Option<(Score, Solution)>,
    fails: u32,
    scarce: bool,
    everything: Vec<u32>,
    offers: Vec<u32>,
    /// Offers that recent constructions bought from.
    active: Vec<u32>,
    rounds: u64,
    rng: ChaCha8Rng,
}

impl<'a> Correction<'a> {
    /// Starts from the fluid values.
    pub fn new(model: &'a Model<'a>, seed: u64) -> Self {
        let value = values::fluid_values(model);
        Correction {
            model,
            greedy: Greedy::default(),
            best_value: value.clone(),
            value,
            best: None,
            fails: 0,
            scarce: false,
            everything: model.slots.iter().map(|s| s.count).collect(),
            offers: (0..model.offers.len() as u32).collect(),
            active: Vec::new(),
            rounds: 0,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// One construction. False if time ran out before it was complete.
    pub fn round(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let mut budget = Budget::new(self.model.instance);
        // Most rounds look only at offers that lately proved useful.
        let all = self.rounds.is_multiple_of(5) || self.offers.len() <= FEW;
        let offers = if all { &self.offers } else { &self.active };
        let guide =
            Guide { value: &self.value, offers, scarce: self.scarce, haste: HASTE[self.rounds.min(7) as usize], stop };
        let Some(mut solution) = self.greedy.run(self.model, &self.everything, &mut budget, &guide) else {
            return false;
        };
        self.rounds += 1;
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
        let better = self.best.as_ref().is_none_or(|(b, _)| score < *b);
        let gamma = [0.5, 0.25, 0.12][(self.fails / 4).min(2) as usize];
        let used = if better {
            self.fails = 0;
            self.best_value.clone_from(&self.value);
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

    /// The best construction so far.
    pub fn best(&self) -> Option<&(Score, Solution)> {
        self.best.as_ref()
    }
}
