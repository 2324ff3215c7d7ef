//! Plans in competition.

use super::attempt::attempt;
use super::budget::{choose, forced, holds};
use super::lean::Lean;
use super::neighbour::{Undone, again};
use super::reduce::without;
use super::rounding;
use crate::engine::{Clock, Incumbent};
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::time::Duration;

/// Constructions per choice of nodes.
const ROUNDS: u64 = 8;
/// Constructions for the best choice.
const POLISH: u64 = 400;
/// Most nodes of which a part is planned anew.
const PART: usize = 8;

/// Looks for plans.
pub struct Search<'a> {
    instance: &'a Instance,
    lean: Lean,
    /// Nodes that may go and whose pods could be elsewhere.
    pub open: Vec<bool>,
    best: Incumbent<'a>,
    /// The best plan in terms of the lean instance.
    current: Option<Plan>,
    tried: BTreeSet<Vec<usize>>,
    polished: BTreeSet<Vec<usize>>,
    rng: ChaCha8Rng,
    seed: u64,
    /// Choices and parts looked at.
    pub steps: u64,
}

impl<'a> Search<'a> {
    /// Without a plan yet.
    pub fn new(instance: &'a Instance, seed: u64, clock: Clock<'a>) -> Self {
        let open = open(instance);
        let mut all: Vec<usize> = (0..open.len()).filter(|&n| open[n]).collect();
        all.extend(forced(instance));
        all.sort_unstable();
        all.dedup();
        Search {
            lean: Lean::new(instance, &without(instance, &all)),
            instance,
            open,
            best: Incumbent::new(instance, clock),
            current: None,
            tried: BTreeSet::new(),
            polished: BTreeSet::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            seed,
            steps: 0,
        }
    }

    /// The instance that plans are made on.
    pub fn lean(&self) -> &Instance {
        &self.lean.instance
    }

    /// The instance that plans are for.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// When there was a plan for the first time.
    pub fn first(&self) -> Option<Duration> {
        self.best.first()
    }

    /// The best plan.
    pub fn plan(&self) -> Option<&Plan> {
        self.best.plan()
    }

    /// The best plan and who found it.
    pub fn take(self) -> Option<(Plan, &'static str)> {
        self.best.take()
    }

    /// Takes a plan of the lean instance if it is better than all before.
    pub fn offer(&mut self, plan: Plan, source: &'static str) -> bool {
        let taken = self.best.offer(self.lean.whole(plan.clone()), source);
        if taken {
            self.current = Some(plan);
        }
        taken
    }

    /// Takes a plan of the whole instance if it is better than all before.
    pub fn offer_whole(&mut self, plan: Plan, source: &'static str) {
        self.best.offer(plan, source);
    }

    /// Plans for one choice of nodes that go; true if that is better.
    pub fn consider(&mut self, gone: Vec<usize>, source: &'static str, stop: &dyn Fn() -> bool) -> bool {
        if !self.tried.insert(gone.clone()) || !holds(self.instance, &gone) {
            return false;
        }
        self.steps += 1;
        let plan = attempt(&self.lean.instance, &gone, ROUNDS, self.seed, stop);
        plan.is_some_and(|p| self.offer(p, source))
    }

    /// Choices by what a relaxation keeps.
    pub fn round(&mut self, kept: &[f64], stop: &dyn Fn() -> bool) {
        for gone in rounding::choices(self.instance, kept, &self.open) {
            if stop() {
                break;
            }
            self.consider(gone, "rounding", stop);
        }
    }

    /// The dearest nodes that the budgets let go.
    pub fn dearest(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.open.len()).filter(|&n| self.open[n]).collect();
        all.sort_by_key(|&n| (-self.gain(n), self.pods(n), n));
        choose(self.instance, &all)
    }

    /// One part of the best plan planned anew, or the whole of it once; true
    /// if that is better.
    pub fn step(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let Some(plan) = self.current.clone() else { return false };
        self.steps += 1;
        if self.polished.insert(plan.removed.clone()) {
            let polished = attempt(&self.lean.instance, &plan.removed, POLISH, self.seed, stop);
            return polished.is_some_and(|p| self.offer(p, "polish"));
        }
        let partial = !plan.demoted.is_empty() || !plan.unserved.is_empty();
        if partial || (!self.instance.budgets.is_empty() && self.rng.random_bool(0.3)) {
            let gone = self.exchanged(&plan);
            return self.consider(gone, "exchange", stop);
        }
        let undone = self.part(&plan);
        let seed = self.seed ^ self.steps;
        let new = again(&self.lean.instance, &plan, &undone, 2, seed, stop);
        new.is_some_and(|p| self.offer(p, "parts"))
    }

    /// Leaves nodes in place where that costs nothing, or takes those that
    /// disturb fewer pods; true if something is better.
    pub fn restore(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let Some(plan) = self.current.clone() else { return false };
        let mut order: Vec<usize> = plan.removed.iter().copied().filter(|&n| !self.is_forced(n)).collect();
        order.sort_by_key(|&n| (self.gain(n), std::cmp::Reverse(self.pods(n)), n));
        let bought = plan.bought_cost(&self.lean.instance);
        for n in order {
            if stop() {
                return false;
            }
            let mut less = plan.removed.clone();
            less.retain(|&x| x != n);
            // Keeping it pays at most if it saves what is bought.
            if self.gain(n) <= bought && self.consider(less.clone(), "fewer", stop) {
                return true;
            }
            let stays = (0..self.open.len()).filter(|&m| self.open[m] && plan.removed.binary_search(&m).is_err());
            let alike = stays.filter(|&m| self.gain(m) == self.gain(n) && self.pods(m) < self.pods(n));
            let Some(other) = alike.min_by_key(|&m| (self.pods(m), m)) else { continue };
            less.push(other);
            less.sort_unstable();
            if self.consider(less, "calmer", stop) {
                return true;
            }
        }
        false
    }

    /// The choice of a plan with some nodes at random exchanged for others.
    fn exchanged(&mut self, plan: &Plan) -> Vec<usize> {
        let mut gone = plan.removed.clone();
        for _ in 0..self.rng.random_range(0..=2).min(gone.len()) {
            let at = self.rng.random_range(0..gone.len());
            gone.remove(at);
        }
        let free: Vec<usize> =
            (0..self.open.len()).filter(|&n| self.open[n] && plan.removed.binary_search(&n).is_err()).collect();
        let mut wanted = gone;
        if !free.is_empty() {
            let more = self.rng.random_range(0..=3);
            wanted.extend((0..more).map(|_| free[self.rng.random_range(0..free.len())]));
        }
        wanted.sort_unstable();
        wanted.dedup();
        choose(self.instance, &wanted)
    }

    /// A few nodes at random: new ones, kept ones with what they take in, and
    /// kept ones that may still go.
    fn part(&mut self, plan: &Plan) -> Undone {
        let size = self.rng.random_range(1..=PART);
        let mut undone = Undone::default();
        let free: Vec<usize> =
            (0..self.open.len()).filter(|&n| self.open[n] && plan.removed.binary_search(&n).is_err()).collect();
        let mut gone = plan.removed.clone();
        for _ in 0..size {
            let kind = self.rng.random_range(0..4);
            if kind == 0 && !plan.placed.is_empty() {
                undone.placed.push(self.rng.random_range(0..plan.placed.len()));
            } else if kind == 1 && !free.is_empty() {
                let n = free[self.rng.random_range(0..free.len())];
                gone.push(n);
                if !undone.gone.contains(&n) && holds(self.instance, &gone) {
                    undone.gone.push(n);
                } else {
                    gone.pop();
                }
            } else if !plan.bought.is_empty() {
                undone.bought.push(self.rng.random_range(0..plan.bought.len()));
            }
        }
        for list in [&mut undone.bought, &mut undone.placed, &mut undone.gone] {
            list.sort_unstable();
            list.dedup();
        }
        undone
    }

    fn is_forced(&self, n: usize) -> bool {
        self.instance.nodes[n].removal.as_ref().is_some_and(|r| r.forced)
    }

    /// What removing a node saves before its pods have places.
    fn gain(&self, n: usize) -> Micros {
        let node = &self.instance.nodes[n];
        node.price - node.removal.as_ref().map_or(0, |r| r.charge)
    }

    fn pods(&self, n: usize) -> u64 {
        self.instance.nodes[n].residents.iter().map(|r| u64::from(r.1)).sum()
    }
}

/// Nodes that may go and whose pods could be elsewhere.
fn open(instance: &Instance) -> Vec<bool> {
    let has_place = |s: usize| {
        instance.shapes[s].tiers.iter().any(|t| {
            let a = &instance.admissions[t.admission];
            !a.bins.is_clear() || !a.nodes.is_clear()
        })
    };
    instance.nodes.iter().map(|n| n.removal.is_some() && n.residents.iter().all(|r| has_place(r.0))).collect()
}
