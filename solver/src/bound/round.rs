//! Rounds of column generation.

use super::duals::{self, Duals, SLACK, Violation};
use super::knapsack;
use super::master::{Master, Pattern};
use super::{Certifier, Round, pattern};
use crate::highs::HighsError;

/// Most new columns a round.
const COLUMNS: usize = 200;

/// Artificial unit costs over the centre, phase by phase; then only a price
/// that keeps the model feasible.
const PHASES: [f64; 3] = [0.05, 0.3, 1.5];

/// State between rounds.
pub(super) struct Generation {
    pub master: Master,
    centre: Duals,
    phase: usize,
    /// Weight of the best values in the mix that is priced.
    smooth: f64,
    /// Objective of the last master without artificial pods.
    pub target: Option<f64>,
    pub done: bool,
}

impl Generation {
    pub fn new(certifier: &Certifier) -> Result<Self, HighsError> {
        let centre = match &certifier.best {
            Some((d, _)) => d.clone(),
            None => Duals::zero(certifier.instance, &certifier.reduced),
        };
        let mut master = Master::new(certifier.instance, &certifier.reduced, &centre)?;
        // Nodes may always be kept as they are.
        for n in 0..certifier.reduced.nodes.len() {
            let pattern = Pattern { node: true, spot: n, contents: Vec::new() };
            master.add(certifier.instance, &certifier.reduced, pattern)?;
        }
        Ok(Generation { master, centre, phase: 0, smooth: 0.5, target: None, done: false })
    }
}

impl Certifier<'_> {
    /// One round; `Ok(Converged)` if the bound cannot be raised this way.
    pub(super) fn generate(&mut self, stop: &dyn Fn() -> bool) -> Result<Round, HighsError> {
        let mut state = match self.generation.take() {
            Some(g) => g,
            None => {
                if self.best.is_none() {
                    self.fluid();
                }
                let mut g = Generation::new(self)?;
                // Start from the patterns that the fluid values ask for.
                let centre = g.centre.clone();
                self.price(&mut g, &centre, &centre, true, stop)?;
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
        let Some((objective, duals)) = g.master.solve(self.instance, &self.reduced)? else {
            return Ok(Round::Converged);
        };
        let units = g.master.uses_units();
        if !units {
            g.target = Some(objective - self.removable());
        }
        if stop() {
            return Ok(Round::Stopped);
        }
        let best = self.best.as_ref().map(|b| b.0.clone());
        let mixed = match &best {
            Some(b) if g.smooth > 0.0 => b.mixed(&duals, g.smooth),
            _ => duals.clone(),
        };
        let before = self.estimate();
        let mut added = match self.price(g, &mixed, &duals, false, stop)? {
            Some(n) => n,
            None => return Ok(Round::Stopped),
        };
        if added == 0 && g.smooth > 0.0 {
            added = match self.price(g, &duals, &duals, false, stop)? {
                Some(n) => n,
                None => return Ok(Round::Stopped),
            };
        }
        let close = !units && g.target.is_some_and(|t| t - self.estimate() <= 1e-5 * t.abs());
        if added == 0 || close {
            if !units && (added == 0 || close) {
                g.done = true;
                return Ok(Round::Converged);
            }
            // The centre holds the duals back: loosen it.
            let dear = 10.0 * self.reduced.bins.iter().map(|b| b.price).fold(1.0, f64::max);
            let phase = PHASES.get(g.phase + 1).copied();
            if phase.is_none() && g.phase > PHASES.len() {
                g.done = true;
                return Ok(Round::Converged);
            }
            g.phase += 1;
            if let Some(b) = best {
                g.centre = b;
            }
            let centre = &g.centre;
            g.master.unit_costs(|i| phase.map_or(dear, |e| centre.value[i].max(1e-6) * (1.0 + e)))?;
        }
        Ok(if self.estimate() > before { Round::Better } else { Round::Same })
    }

    /// Prices all bins and nodes at `at`, adds columns that pay at `paid`, and
    /// tries `at`, repaired, as a bound. The number of columns added, `None`
    /// if stopped.
    fn price(
        &mut self,
        g: &mut Generation,
        at: &Duals,
        paid: &Duals,
        all: bool,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<usize>, HighsError> {
        let Some(violated) = duals::violations(self.instance, &self.reduced, at, &mut self.u, stop) else {
            return Ok(None);
        };
        let mut found: Vec<(f64, Pattern)> = Vec::new();
        for v in &violated {
            self.columns_of(v, at, paid, &mut found);
        }
        if all {
            for (b, spot) in self.reduced.bins.iter().enumerate() {
                let filling = knapsack::fill(&self.reduced.columns, &spot.room(), &at.value);
                let (contents, worth) = pattern::round(&self.reduced, spot, &at.value, &filling);
                if worth > 0.8 * spot.price {
                    found.push((-worth / spot.price.max(1e-9), Pattern { node: false, spot: b, contents }));
                }
            }
        }
        for (n, spot) in self.reduced.nodes.iter().enumerate() {
            if n % 16 == 0 && stop() {
                return Ok(None);
            }
            let filling = knapsack::fill(&self.reduced.columns, &spot.room(), &at.value);
            let (contents, _) = pattern::round(&self.reduced, spot, &at.value, &filling);
            let kept: f64 = spot.fixed.iter().map(|&(i, c)| paid.value[i] * c).sum();
            let worth: f64 = contents.iter().map(|&(i, c)| paid.value[i] * f64::from(c)).sum::<f64>() + kept;
            let gain = worth - spot.price - g.master.room_price(n);
            if gain > 1e-7 {
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
