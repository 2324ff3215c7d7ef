//! Rounds of column generation.

use super::duals::{self, Duals, SLACK, Violation};
use super::knapsack;
use super::master::{Master, Pattern, is_forced};
use super::{Certifier, Round, pattern, seeds};
use crate::highs::HighsError;

/// Most new columns a round.
const COLUMNS: usize = 200;

/// How far from the centre duals may go: at first, at least and at most.
const REACH: (f64, f64, f64) = (0.15, 0.004, 0.5);

/// Weight of the centre in what is priced.
const SMOOTH: f64 = 0.3;

/// Rounds without progress after which duals are held closer.
const STALE: u32 = 3;

/// State between rounds.
pub(super) struct Generation {
    pub master: Master,
    /// The best values at the last change of the centre, and their bound.
    centre: Duals,
    at: f64,
    /// Duals stay within this share of the centre.
    reach: f64,
    /// Rounds since the centre moved.
    stale: u32,
    /// A floor for the interval of each item.
    floor: Vec<f64>,
    /// Objective of the last master that leant on nothing else.
    pub target: Option<f64>,
    pub done: bool,
}

impl Generation {
    pub fn new(certifier: &Certifier, stop: &dyn Fn() -> bool) -> Result<Self, HighsError> {
        let centre = match &certifier.best {
            Some(best) => best.duals.clone(),
            None => Duals::zero(certifier.instance, &certifier.reduced),
        };
        let mut master = Master::new(certifier.instance, &certifier.reduced)?;
        // Nodes may always be kept as they are.
        for n in 0..certifier.reduced.nodes.len() {
            let pattern = Pattern { node: true, spot: n, contents: Vec::new() };
            master.add(certifier.instance, &certifier.reduced, pattern)?;
        }
        for p in seeds::greedy(&certifier.reduced, &centre.value, stop) {
            master.add(certifier.instance, &certifier.reduced, p)?;
        }
        let mean = centre.value.iter().sum::<f64>() / centre.value.len().max(1) as f64;
        let floor = centre.value.iter().map(|&v| (0.3 * v).max(0.02 * mean).max(1e-6)).collect();
        let at = certifier.estimate();
        let reach = REACH.0;
        let mut g = Generation { master, centre, at, reach, stale: 0, floor, target: None, done: false };
        g.hold()?;
        Ok(g)
    }

    /// Holds the master's duals near the centre.
    fn hold(&mut self) -> Result<(), HighsError> {
        let (centre, floor, reach) = (&self.centre.value, &self.floor, self.reach);
        self.master.hold(|i| {
            let width = reach * centre[i].max(floor[i]);
            ((centre[i] - width).max(0.0), centre[i] + width)
        })
    }
}

impl Certifier<'_> {
    /// One round; `Converged` if the bound cannot be raised this way.
    pub(super) fn generate(&mut self, stop: &dyn Fn() -> bool) -> Result<Round, HighsError> {
        let mut state = match self.generation.take() {
            Some(g) => g,
            None => {
                if self.best.is_none() {
                    self.fluid();
                }
                let mut g = Generation::new(self, stop)?;
                for p in std::mem::take(&mut self.waiting) {
                    g.master.add(self.instance, &self.reduced, p)?;
                }
                g
            }
        };
        let result = self.generate_from(&mut state, stop);
        self.generation = Some(state);
        result
    }

    fn generate_from(&mut self, g: &mut Generation, stop: &dyn Fn() -> bool) -> Result<Round, HighsError> {
        if g.done {
            return Ok(Round::Converged);
        }
        let Some((objective, duals)) = g.master.solve(self.instance, &self.reduced, stop)? else {
            if stop() {
                return Ok(Round::Stopped);
            }
            g.done = true;
            return Ok(Round::Converged);
        };
        let held = g.master.held();
        if !held {
            g.target = Some(objective - self.removable());
        }
        if stop() {
            return Ok(Round::Stopped);
        }
        let before = self.estimate();
        let mixed = g.centre.mixed(&duals, SMOOTH);
        let Some(mut added) = self.price(g, &mixed, &duals, stop)? else { return Ok(Round::Stopped) };
        if added == 0 {
            match self.price(g, &duals, &duals, stop)? {
                Some(n) => added = n,
                None => return Ok(Round::Stopped),
            }
        }
        let now = self.estimate();
        let gap = (objective - self.removable() - now) / now.abs().max(1e-9);
        if !held && (added == 0 || gap <= 1e-5) {
            g.done = true;
            return Ok(Round::Converged);
        }
        let moved = now > g.at * (1.0 + 1e-7);
        if moved {
            if let Some(best) = &self.best {
                g.centre = best.duals.clone();
            }
            g.at = now;
            g.stale = 0;
            g.reach = (g.reach * 1.3).min(REACH.2);
            g.hold()?;
        } else {
            g.stale += 1;
            if added == 0 || gap <= 1e-5 {
                // The interval is exhausted: look farther.
                g.reach = (g.reach * 3.0).min(1e3);
                g.stale = 0;
                g.hold()?;
            } else if g.stale >= STALE {
                g.reach = (g.reach * 0.6).max(REACH.1);
                g.stale = 0;
                g.hold()?;
            }
        }
        Ok(if now > before { Round::Better } else { Round::Same })
    }

    /// Prices all bins and nodes at `at`, adds columns that pay at `paid`, and
    /// tries `at`, repaired, as a bound. The number of columns added, `None`
    /// if stopped.
    fn price(
        &mut self,
        g: &mut Generation,
        at: &Duals,
        paid: &Duals,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<usize>, HighsError> {
        let Some(violated) = duals::violations(self.instance, &self.reduced, at, &mut self.u, stop) else {
            return Ok(None);
        };
        let mut found: Vec<(f64, Pattern)> = Vec::new();
        for v in &violated {
            self.columns_of(v, at, paid, &mut found);
        }
        for (n, spot) in self.reduced.nodes.iter().enumerate() {
            if n % 16 == 0 && stop() {
                return Ok(None);
            }
            let filling = knapsack::fill(&self.reduced.columns, &spot.room(), &at.value);
            let (contents, _) = pattern::round(&self.reduced, spot, &at.value, &filling);
            let kept: f64 = spot.fixed.iter().map(|&(i, c)| paid.value[i] * c).sum();
            let worth: f64 = contents.iter().map(|&(i, c)| paid.value[i] * f64::from(c)).sum::<f64>() + kept;
            let gain = worth - paid.gone(self.instance, spot) - g.master.room_price(n);
            if gain > 1e-7 && !is_forced(self.instance, spot) {
                found.push((-gain, Pattern { node: true, spot: n, contents }));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        let mut added = 0;
        for (_, p) in found {
            if added >= COLUMNS {
                break;
            }
            added += usize::from(g.master.add(self.instance, &self.reduced, p)?);
        }
        let mut repaired = at.clone();
        if duals::repair(&self.reduced, &mut repaired, &mut self.u, violated, stop).is_none() {
            return Ok(None);
        }
        self.keep_better(repaired);
        Ok(Some(added))
    }

    fn columns_of(&self, v: &Violation, at: &Duals, paid: &Duals, found: &mut Vec<(f64, Pattern)>) {
        let spot = &self.reduced.bins[v.bin];
        let (contents, _) = pattern::round(&self.reduced, spot, &at.value, &v.filling);
        let worth: f64 = contents.iter().map(|&(i, n)| paid.value[i] * f64::from(n)).sum();
        let budget = paid.budget(self.instance, spot);
        if worth > budget * (1.0 + 100.0 * SLACK) {
            found.push((-worth / budget.max(1e-9), Pattern { node: false, spot: v.bin, contents }));
        }
    }

    /// Sum of the prices that removable nodes give back.
    fn removable(&self) -> f64 {
        self.reduced.nodes.iter().map(|n| n.price).sum()
    }
}
