//! Which whole units are worth counting.

use std::collections::BTreeMap;

use super::fluid::{self, Grain};
use super::reduced::Reduced;
use super::{Certifier, Round};
use crate::certificate::Rounding;
use crate::highs::HighsError;

/// Most units per dimension that are tried.
const TRIED: usize = 20;
/// Relative gain below which units are not counted.
const GAIN: f64 = 1e-4;

/// Requests as units, those that ask for most in total first: at that unit
/// pods are counted without loss, and only rooms lose their remainder.
fn candidates(reduced: &Reduced) -> Vec<Rounding> {
    let mut out = Vec::new();
    for &dim in &reduced.dims {
        let mut asked: BTreeMap<i64, i128> = BTreeMap::new();
        for f in reduced.families.iter().filter(|f| f.demand[dim] > 1) {
            *asked.entry(f.demand[dim]).or_default() += i128::from(f.demand[dim]) * i128::from(f.count);
        }
        let mut asked: Vec<(i64, i128)> = asked.into_iter().collect();
        asked.sort_unstable_by_key(|&(unit, total)| (std::cmp::Reverse(total), unit));
        out.extend(asked.into_iter().take(TRIED).map(|(unit, _)| Rounding { dim, unit }));
    }
    out
}

impl Certifier<'_> {
    /// Counts those units that raise the bound of the fluid relaxation, if
    /// that is worth what more dimensions cost from then on.
    pub(super) fn count_units(&mut self, stop: &dyn Fn() -> bool) -> Result<Round, HighsError> {
        let Some(kept) = self.binding_units(stop)? else { return Ok(Round::Stopped) };
        self.reduced.count_units(self.instance, kept.clone());
        let solved = match kept.is_empty() {
            true => None,
            false => fluid::solve(self.instance, &self.reduced, Grain::Fine, stop).unwrap_or(None),
        };
        let Some(fluid) = solved.filter(|f| f.objective > self.fluid * (1.0 + GAIN)) else {
            self.reduced.count_units(self.instance, Vec::new());
            return Ok(if stop() { Round::Stopped } else { Round::Same });
        };
        let own = self.reduced.dims.len();
        self.u.widen(own, kept.len());
        if let Some(best) = &mut self.best {
            best.u.widen(own, kept.len());
        }
        Ok(if self.consider(fluid.duals, stop) { Round::Better } else { Round::Same })
    }
    /// Units that raise the bound where all pods flow everywhere; `None` if
    /// told to stop.
    fn binding_units(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<Vec<Rounding>>, HighsError> {
        let tried = candidates(&self.reduced);
        let Some(before) = fluid::solve(self.instance, &self.reduced, Grain::Coarse, stop)? else { return Ok(None) };
        self.reduced.count_units(self.instance, tried.clone());
        let after = fluid::solve(self.instance, &self.reduced, Grain::Coarse, stop);
        self.reduced.count_units(self.instance, Vec::new());
        let Some(after) = after? else { return Ok(None) };
        if after.objective <= before.objective * (1.0 + GAIN) {
            return Ok(Some(Vec::new()));
        }
        let binding = &after.binding[self.reduced.dims.len()..];
        Ok(Some(tried.iter().zip(binding).filter(|t| *t.1).map(|t| *t.0).collect()))
    }
}
