//! Lower bounds with certificates: the fluid relaxation at once, column
//! generation from there.
//!
//! Whatever happens in doubles here is turned into integers and put before
//! [`crate::check`]; only what that accepts counts.

mod duals;
mod fluid;
mod joint;
mod knapsack;
mod master;
mod pattern;
mod proof;
mod reduced;
mod round;
mod seeds;
mod split;
mod units;

pub use reduced::Served;

use crate::certificate::Certificate;
use crate::check;
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use duals::{Duals, Multipliers};
use fluid::Grain;
use reduced::Reduced;

/// What a round of column generation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// The bound rose.
    Better,
    /// It did not, but the next may raise it.
    Same,
    /// Nothing more can be had this way.
    Converged,
    /// Told to stop before the end.
    Stopped,
}

/// A node's contents with its weight in the linear relaxation.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The bin, or the node where `existing` is set.
    pub at: usize,
    /// Whether it is a node that exists.
    pub existing: bool,
    /// Groups of shapes with a total number of pods: the relaxation does not
    /// tell the shapes of a group apart.
    pub contents: Vec<(Vec<usize>, u32)>,
    /// Value in the last solution of the restricted master.
    pub level: f64,
}

/// Feasible values with the multipliers that prove them.
struct Best {
    duals: Duals,
    u: Multipliers,
    /// Their bound in dollars.
    total: f64,
}

/// Proves lower bounds for one instance and one set of served pods.
pub struct Certifier<'a> {
    instance: &'a Instance,
    reduced: Reduced,
    stand_in: Plan,
    best: Option<Best>,
    /// Objective of the fluid relaxation.
    fluid: f64,
    /// Whether whole units were looked at.
    counted: bool,
    /// Multipliers of the values looked at last.
    u: Multipliers,
    proven: (Micros, Certificate),
    /// Whether `proven` belongs to `best`.
    fresh: bool,
    generation: Option<round::Generation>,
    /// Columns for the first round.
    waiting: Vec<master::Pattern>,
}

impl<'a> Certifier<'a> {
    /// For pods served as stated: (shape, tier, count), each pod once, with
    /// the residents of removable nodes among them.
    pub fn new(instance: &'a Instance, served: &[Served]) -> Self {
        let reduced = Reduced::new(instance, served);
        let stand_in = proof::stand_in(instance, &reduced);
        let zero = Duals::zero(instance, &reduced);
        let u = Multipliers::none(&reduced);
        let certificate = proof::certificate(instance, &reduced, &zero, &u, 1.0);
        // No plan saves more than all that may go costs.
        let least = instance.nodes.iter().filter(|n| n.removal.is_some()).map(|n| -n.price).sum();
        let floor = check::certificate(instance, &stand_in, &certificate).unwrap_or(least);
        Certifier {
            instance,
            reduced,
            stand_in,
            best: None,
            fluid: 0.0,
            counted: false,
            u,
            proven: (floor, certificate),
            fresh: true,
            generation: None,
            waiting: Vec::new(),
        }
    }

    /// For the pods that a plan serves.
    pub fn for_plan(instance: &'a Instance, plan: &Plan) -> Self {
        Self::new(instance, &served(instance, plan))
    }

    /// The bound of the fluid relaxation, repaired. Takes milliseconds.
    pub fn fluid(&mut self) -> Micros {
        self.start();
        self.best().0
    }

    /// Looks at the fluid relaxation; what it proves is in [`Self::best`].
    pub fn start(&mut self) {
        if let Ok(Some(fluid)) = fluid::solve(self.instance, &self.reduced, Grain::Fine, &|| false) {
            self.fluid = fluid.objective;
            self.consider(fluid.duals, &|| false);
        }
    }

    /// The best bound so far and its proof, accepted by the verifier. Never
    /// falls.
    pub fn best(&mut self) -> (Micros, &Certificate) {
        self.best_until(&|| false)
    }

    /// The same, or an earlier one if the values need a second attempt and
    /// `stop` says there is no time.
    pub fn best_until(&mut self, stop: &dyn Fn() -> bool) -> (Micros, &Certificate) {
        if let (false, Some(best)) = (self.fresh, &self.best) {
            let made = |factor| proof::certificate(self.instance, &self.reduced, &best.duals, &best.u, factor);
            if let Some(accepted) = proof::accepted(self.instance, &self.stand_in, made, stop)
                && accepted.0 > self.proven.0
            {
                self.proven = accepted;
            }
        }
        self.fresh = true;
        (self.proven.0, &self.proven.1)
    }

    /// The best bound so far in dollars per hour, not yet put to the
    /// verifier.
    pub fn estimate(&self) -> f64 {
        self.best.as_ref().map_or(0.0, |b| b.total)
    }

    /// Repairs values and keeps them if their bound is better.
    fn consider(&mut self, mut duals: Duals, stop: &dyn Fn() -> bool) -> bool {
        let Some(violated) = duals::violations(self.instance, &self.reduced, &duals, &mut self.u, stop) else {
            return false;
        };
        if duals::repair(&self.reduced, &mut duals, &mut self.u, violated, stop).is_none() {
            return false;
        }
        self.keep_better(duals)
    }

    /// Keeps feasible values if their bound is better.
    fn keep_better(&mut self, mut duals: Duals) -> bool {
        duals.settle(&self.reduced);
        let worth = duals::node_worths(&self.reduced, &duals, &mut self.u);
        let total = duals.total(self.instance, &self.reduced, &worth);
        let better = self.best.as_ref().is_none_or(|b| total > b.total);
        if better {
            self.best = Some(Best { duals, u: self.u.clone(), total });
            self.fresh = false;
        }
        better
    }

    /// One round: of whole units first, of column generation then. `stop` is
    /// asked often.
    pub fn round(&mut self, stop: &dyn Fn() -> bool) -> Round {
        if stop() {
            return Round::Stopped;
        }
        // A solver that fails costs progress, never the bound so far.
        if !std::mem::replace(&mut self.counted, true) {
            return self.count_units(stop).unwrap_or(Round::Same);
        }
        self.generate(stop).unwrap_or(Round::Converged)
    }

    /// Offers the nodes of a plan as columns: a good plan makes a good start.
    pub fn seed(&mut self, plan: &Plan) {
        let patterns = seeds::of_plan(&self.reduced, plan);
        if self.generation.is_none() {
            self.waiting.extend(patterns);
        } else if let Some(g) = &mut self.generation {
            for p in patterns {
                // A refused column costs progress only.
                let _ = g.master.add(self.instance, &self.reduced, p);
            }
            g.done = false;
        }
    }

    /// The value of the restricted master, in dollars per hour: above the best
    /// bound that rounds can reach, `None` while it leans on artificial pods.
    pub fn target(&self) -> Option<f64> {
        self.generation.as_ref().and_then(|g| g.target)
    }

    /// Values per served entry in micro-dollars per hour, as doubles: of the
    /// cheapest domain where they differ.
    pub fn duals(&self) -> Vec<(Served, f64)> {
        let mut out = Vec::with_capacity(self.reduced.served.len());
        let Some(Best { duals, .. }) = &self.best else { return out };
        for f in &self.reduced.families {
            let least = f.items.iter().map(|&i| duals.value[i]).fold(f64::INFINITY, f64::min);
            out.extend(f.members.iter().map(|&m| (self.reduced.served[m], least * 1e6)));
        }
        out.sort_by_key(|e| e.0);
        out
    }

    /// How much of each node of the instance the last master keeps: 1 for
    /// those that cannot go, and before there is a master.
    pub fn kept(&self) -> Vec<f64> {
        let mut kept = vec![1.0; self.instance.nodes.len()];
        let Some(g) = &self.generation else { return kept };
        for spot in &self.reduced.nodes {
            kept[spot.at] = f64::from(u8::from(self.instance.nodes[spot.at].removal.is_none()));
        }
        for (p, col) in g.master.patterns.iter().filter(|p| p.0.node) {
            kept[self.reduced.nodes[p.spot].at] += g.master.level(*col);
        }
        kept
    }

    /// The columns of the restricted master.
    pub fn columns(&self) -> Vec<Column> {
        let Some(g) = &self.generation else { return Vec::new() };
        let shapes = |i: usize| {
            let f = &self.reduced.families[self.reduced.items[i].family];
            f.members.iter().map(|&m| self.reduced.served[m].0).collect()
        };
        let column = |(p, col): &(master::Pattern, crate::highs::Col)| Column {
            at: if p.node { self.reduced.nodes[p.spot].at } else { self.reduced.bins[p.spot].at },
            existing: p.node,
            contents: p.contents.iter().map(|&(i, n)| (shapes(i), n)).collect(),
            level: g.master.level(*col),
        };
        g.master.patterns.iter().map(column).collect()
    }
}

/// What a plan serves, as [`Certifier::new`] wants it.
pub fn served(instance: &Instance, plan: &Plan) -> Vec<Served> {
    let mut first = vec![0i64; instance.shapes.len()];
    for &(s, c) in plan.bought.iter().map(|n| &n.contents).chain(plan.placed.iter().map(|p| &p.1)).flatten() {
        first[s] += i64::from(c);
    }
    for (n, node) in instance.nodes.iter().enumerate() {
        if node.removal.is_some() && plan.removed.binary_search(&n).is_err() {
            // Nothing serves a shape without tiers: it has no value.
            let valued = node.residents.iter().filter(|r| !instance.shapes[r.0].tiers.is_empty());
            valued.for_each(|&(s, c)| first[s] += i64::from(c));
        }
    }
    for &(s, _, c) in &plan.demoted {
        first[s] -= i64::from(c);
    }
    let first =
        first.iter().enumerate().filter(|f| *f.1 > 0).map(|(s, &c)| (s, 0, u32::try_from(c).unwrap_or(u32::MAX)));
    let mut out: Vec<Served> = first.chain(plan.demoted.iter().copied()).collect();
    out.sort_unstable();
    out
}

/// Multipliers and worth of the relaxed contents of one room: values and the
/// most pods per item, demands and room per dimension.
pub(crate) fn relax(demand: &[&[i64]], value: &[f64], most: &[f64], room: &[i64]) -> (Vec<f64>, f64) {
    let columns = knapsack::Columns {
        dims: room.len(),
        demand: demand.iter().flat_map(|d| d.iter().map(|&r| r as f64)).collect(),
    };
    let capacity: Vec<f64> = room.iter().map(|&a| a as f64).collect();
    let guests: Vec<knapsack::Guest> =
        most.iter().enumerate().map(|(item, &most)| knapsack::Guest { item, most, group: None }).collect();
    let filling =
        knapsack::fill(&columns, &knapsack::Room { capacity: &capacity, guests: &guests, groups: &[] }, value);
    (filling.u, filling.worth)
}
