//! The restricted master: patterns found so far, priced by HiGHS.

use std::collections::BTreeSet;

use super::duals::Duals;
use super::reduced::{Reduced, Spot};
use crate::highs::{Col, HighsError, INFINITY, Model, Row, Status};
use crate::instance::Instance;

/// One node's contents in items, on a bin or a node of the reduced problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    pub node: bool,
    /// Index into [`Reduced::bins`] or [`Reduced::nodes`].
    pub spot: usize,
    /// (item, pods), ascending.
    pub contents: Vec<(usize, u32)>,
}

/// Simplex iterations between two questions whether to stop.
const SLICE: u32 = 150;

pub(super) struct Master {
    model: Model,
    cover: Vec<Row>,
    keep: Vec<Row>,
    rules: Vec<Vec<Row>>,
    limit: Vec<Row>,
    supply: Vec<Row>,
    budget: Vec<Row>,
    /// Per item: pods to be bought above its value at the centre and sold
    /// below it. They hold the duals near the centre.
    unit: Vec<(Col, Col)>,
    pub patterns: Vec<(Pattern, Col)>,
    known: BTreeSet<Pattern>,
}

impl Master {
    pub fn new(instance: &Instance, reduced: &Reduced) -> Result<Self, HighsError> {
        let mut model = Model::new()?;
        model.presolve(false)?;
        let count = |i: usize| reduced.count(i) as f64;
        let cover = (0..reduced.items.len())
            .map(|i| {
                let split = reduced.families[reduced.items[i].family].key.is_some();
                model.add_row(if split { 0.0 } else { count(i) }, INFINITY, &[])
            })
            .collect::<Result<Vec<_>, _>>()?;
        let stays = |n: usize| if is_forced(instance, &reduced.nodes[n]) { 0.0 } else { 1.0 };
        let keep =
            (0..reduced.nodes.len()).map(|n| model.add_row(-INFINITY, stays(n), &[])).collect::<Result<_, _>>()?;
        let totals = Totals::new(instance);
        let limit = totals.limit.iter().map(|&l| model.add_row(-INFINITY, l, &[])).collect::<Result<_, _>>()?;
        let supply = totals.supply.iter().map(|&s| model.add_row(-INFINITY, s, &[])).collect::<Result<_, _>>()?;
        let budget = totals.budget.iter().map(|&b| model.add_row(b, INFINITY, &[])).collect::<Result<_, _>>()?;
        let mut rules: Vec<Vec<Row>> = Vec::new();
        for s in &reduced.splits {
            let rows = (0..s.open.len()).map(|d| {
                let (low, high) = s.hull(d);
                model.add_row(low, high, &[])
            });
            rules.push(rows.collect::<Result<_, _>>()?);
        }
        for f in reduced.families.iter().filter(|f| f.key.is_some()) {
            let all = model.add_row(f.count as f64, f.count as f64, &[])?;
            for &i in &f.items {
                let mut entries = vec![(all, 1.0), (cover[i], -1.0)];
                if let Some(d) = reduced.items[i].domain {
                    entries.extend(f.splits.iter().map(|&p| (rules[p][d as usize], 1.0)));
                }
                model.add_col(0.0, 0.0, INFINITY, &entries)?;
            }
        }
        let unit = (0..reduced.items.len())
            .map(|i| {
                let buy = model.add_col(0.0, 0.0, INFINITY, &[(cover[i], 1.0)])?;
                Ok((buy, model.add_col(0.0, 0.0, INFINITY, &[(cover[i], -1.0)])?))
            })
            .collect::<Result<_, HighsError>>()?;
        Ok(Master {
            model,
            cover,
            keep,
            rules,
            limit,
            supply,
            budget,
            unit,
            patterns: Vec::new(),
            known: BTreeSet::new(),
        })
    }

    /// Holds duals between these values per item.
    pub fn hold(&mut self, bounds: impl Fn(usize) -> (f64, f64)) -> Result<(), HighsError> {
        for (i, &(buy, sell)) in self.unit.iter().enumerate() {
            let (low, high) = bounds(i);
            self.model.set_cost(buy, high)?;
            self.model.set_cost(sell, -low)?;
        }
        Ok(())
    }

    /// Whether the last solution leans on pods bought or sold outside of
    /// patterns.
    pub fn held(&self) -> bool {
        self.unit.iter().any(|&(b, s)| self.model.value(b) > 1e-7 || self.model.value(s) > 1e-7)
    }

    pub fn add(&mut self, instance: &Instance, reduced: &Reduced, pattern: Pattern) -> Result<bool, HighsError> {
        if !self.known.insert(pattern.clone()) {
            return Ok(false);
        }
        let mut entries: Vec<(Row, f64)> =
            pattern.contents.iter().map(|&(i, n)| (self.cover[i], f64::from(n))).collect();
        let cost;
        if pattern.node {
            let spot = &reduced.nodes[pattern.spot];
            cost = spot.price;
            entries.push((self.keep[pattern.spot], 1.0));
            for &(i, n) in &spot.fixed {
                match entries.iter_mut().find(|e| e.0 == self.cover[i]) {
                    Some(e) => e.1 += n,
                    None => entries.push((self.cover[i], n)),
                }
            }
            let node = &instance.nodes[spot.at];
            if let Some(removal) = &node.removal {
                entries.extend(node.limit_use.iter().filter(|l| l.1 > 0).map(|&(l, a)| (self.limit[l], a as f64)));
                entries.extend(node.supply.map(|s| (self.supply[s], 1.0)));
                let drawn = removal.budgets.iter().filter(|b| b.1 > 0);
                entries.extend(drawn.map(|&(b, a)| (self.budget[b], a as f64)));
            }
        } else {
            let spot = &reduced.bins[pattern.spot];
            let bin = &instance.bins[spot.at];
            cost = spot.price;
            entries.extend(bin.limit_use.iter().filter(|l| l.1 > 0).map(|&(l, a)| (self.limit[l], a as f64)));
            entries.extend(bin.supply.map(|s| (self.supply[s], 1.0)));
        }
        entries.sort_by_key(|e| e.0);
        let col = self.model.add_col(cost, 0.0, INFINITY, &entries)?;
        self.patterns.push((pattern, col));
        Ok(true)
    }

    /// Solves and reads the duals; `None` if told to stop or if there is no
    /// optimum to read.
    pub fn solve(
        &mut self,
        instance: &Instance,
        reduced: &Reduced,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(f64, Duals)>, HighsError> {
        // In slices, each from the last one's basis.
        let mut iterations = SLICE;
        loop {
            self.model.iteration_limit(iterations)?;
            match self.model.run()? {
                Status::Optimal => break,
                Status::Stopped if !stop() => iterations = iterations.saturating_add(SLICE),
                _ => return Ok(None),
            }
        }
        let mut duals = Duals::zero(instance, reduced);
        let dual = |r: Row| self.model.dual(r);
        duals.value.iter_mut().zip(&self.cover).for_each(|(v, &r)| *v = dual(r).max(0.0));
        for (rho, rows) in duals.rho.iter_mut().zip(&self.rules) {
            rho.iter_mut().zip(rows).for_each(|(v, &r)| *v = dual(r));
        }
        duals.limit.iter_mut().zip(&self.limit).for_each(|(v, &r)| *v = (-dual(r)).max(0.0));
        duals.supply.iter_mut().zip(&self.supply).for_each(|(v, &r)| *v = (-dual(r)).max(0.0));
        duals.budget.iter_mut().zip(&self.budget).for_each(|(v, &r)| *v = dual(r).max(0.0));
        Ok(Some((self.model.objective(), duals)))
    }

    /// How much of a pattern the last solution uses.
    pub fn level(&self, col: Col) -> f64 {
        self.model.value(col)
    }

    /// The dual of keeping a node, as a price on its room.
    pub fn room_price(&self, node: usize) -> f64 {
        (-self.model.dual(self.keep[node])).max(0.0)
    }
}

/// Whether a node must go.
pub(super) fn is_forced(instance: &Instance, spot: &Spot) -> bool {
    instance.nodes[spot.at].removal.as_ref().is_some_and(|r| r.forced)
}

/// Right sides where keeping a node takes what removing it would free.
pub(super) struct Totals {
    pub limit: Vec<f64>,
    pub supply: Vec<f64>,
    /// What must be kept of each budget.
    pub budget: Vec<f64>,
}

impl Totals {
    pub fn new(instance: &Instance) -> Self {
        let mut out = Totals {
            limit: instance.limits.iter().map(|l| l.max.max(0) as f64).collect(),
            supply: instance.supplies.iter().map(|s| f64::from(s.count)).collect(),
            budget: instance.budgets.iter().map(|b| -(b.max as f64)).collect(),
        };
        for node in &instance.nodes {
            let Some(removal) = &node.removal else { continue };
            node.limit_use.iter().for_each(|&(l, a)| out.limit[l] += a as f64);
            node.supply.iter().for_each(|&s| out.supply[s] += 1.0);
            removal.budgets.iter().for_each(|&(b, a)| out.budget[b] += a as f64);
        }
        out
    }
}
