//! Pods under rules on a domain key get their domains before they are packed:
//! one by one in a legal order of arrival, each into the cheapest domain that
//! admits it.

use super::spots::{Spots, keys_of};
use crate::arrival::{Arrivals, Index};
use crate::instance::{Instance, Key, RuleKind};
use crate::units::{Unit, units};
use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;

/// Units that packing need not tell apart: they may go to the same places.
#[derive(Clone, Debug)]
pub struct Item {
    /// (shape, pods) of one unit.
    pub parts: Vec<(usize, u32)>,
    /// The tier they are served in.
    pub tier: usize,
    /// How many units.
    pub count: u32,
    /// Cells they are bound to; `None`: any.
    pub cells: Option<FixedBitSet>,
}

/// Items, and pods that only a later arrival can place.
#[derive(Clone, Debug, Default)]
pub struct Allotment {
    /// What to pack.
    pub items: Vec<Item>,
    /// (shape, tier, count) without a legal domain so far.
    pub late: Vec<(usize, usize, u32)>,
}

/// What a unit costs in a cell.
pub type CellCost<'a> = &'a dyn Fn(&Unit, u32) -> f64;

/// Gives everything that waits its domains.
pub fn allot(
    instance: &Instance,
    index: &Index,
    offers: &[usize],
    waiting: &[(usize, usize, u32)],
    cost: CellCost,
) -> Allotment {
    let all = units(instance, index, waiting);
    let mut run = Run {
        state: Arrivals::new(instance, index),
        spots: Spots::new(instance, index, offers),
        cost,
        bound: BTreeMap::new(),
        load: vec![0; index.cells.len()],
        free: Vec::new(),
    };
    let mut carriers = Vec::new();
    for unit in all {
        let owns = unit
            .parts
            .iter()
            .any(|p| index.carried(instance, p.0, unit.tier).any(|r| matches!(instance.rules[r].key, Key::Domain(_))));
        if owns { carriers.push(unit) } else { run.free.push(unit) }
    }
    let mut out = Allotment::default();
    // A domain may open for one unit because others came.
    loop {
        let before: u64 = carriers.iter().map(|u| u64::from(u.count)).sum();
        for unit in &mut carriers {
            run.settle(unit, &mut out);
        }
        carriers.retain(|u| u.count > 0);
        let after: u64 = carriers.iter().map(|u| u64::from(u.count)).sum();
        if after == 0 || after == before {
            break;
        }
    }
    for unit in carriers {
        out.late.extend(unit.parts.iter().map(|&(s, n)| (s, unit.tier, n * unit.count)));
    }
    for ((parts, tier, cells), count) in std::mem::take(&mut run.bound) {
        let mut set = FixedBitSet::with_capacity(index.cells.len());
        set.extend(cells);
        out.items.push(Item { parts, tier, count, cells: Some(set) });
    }
    for unit in std::mem::take(&mut run.free) {
        if unit.count == 0 {
            continue;
        }
        match run.open_cells(&unit) {
            Some(cells) if cells.is_clear() => {
                out.late.extend(unit.parts.iter().map(|&(s, n)| (s, unit.tier, n * unit.count)));
            }
            cells => out.items.push(Item { parts: unit.parts, tier: unit.tier, count: unit.count, cells }),
        }
    }
    out
}

/// (parts, tier, cells): what bound units are gathered by.
type Bound = (Vec<(usize, u32)>, usize, Vec<usize>);

struct Run<'a> {
    state: Arrivals<'a>,
    spots: Spots<'a>,
    cost: CellCost<'a>,
    bound: BTreeMap<Bound, u32>,
    /// Pods bound per cell.
    load: Vec<u32>,
    /// Units that carry no rule on a domain key: they come last, unless
    /// others ask for their company.
    free: Vec<Unit>,
}

impl Run<'_> {
    /// Binds as many of `unit` as find a domain.
    fn settle(&mut self, unit: &mut Unit, out: &mut Allotment) {
        let keys = keys_of(self.state.instance, self.state.index, unit);
        let spots = self.spots.of(&keys);
        let mut from = vec![0_usize; spots.len()];
        if self.follows_only(unit)
            && let Some(cells) = self.open_cells(unit)
            && (0..spots.len()).filter(|&i| !spots[i].cells.is_clear() && spots[i].cells.is_subset(&cells)).count() > 1
        {
            let parts = unit.parts.clone();
            out.items.push(Item { parts, tier: unit.tier, count: unit.count, cells: Some(cells) });
            unit.count = 0;
            return;
        }
        while unit.count > 0 {
            let mut best: Option<(bool, f64, u32, u32, usize, Option<usize>)> = None;
            for (i, spot) in spots.iter().enumerate() {
                if !unit.parts.iter().all(|p| self.state.domain_admits(p.0, unit.tier, spot.cell)) {
                    continue;
                }
                let node = self.room(unit, &spot.cells, &mut from[i]);
                let mut price = f64::INFINITY;
                if node.is_none() {
                    for c in spot.cells.ones().filter(|&c| self.spots.sells(unit, c)) {
                        price = price.min((self.cost)(unit, c as u32));
                    }
                    if price == f64::INFINITY {
                        continue;
                    }
                }
                let price = if node.is_some() { 0.0 } else { price };
                let (apart, held) = self.crowd(unit, spot.cell);
                let better = best.is_none_or(|b| {
                    let close = (price - b.1).abs() <= 1e-9 * price.abs().max(b.1.abs());
                    if close { (apart, held, self.load[spot.cell as usize]) < (b.0, b.2, b.3) } else { price < b.1 }
                });
                if better {
                    best = Some((apart, price, held, self.load[spot.cell as usize], i, node));
                }
            }
            let Some((.., i, node)) = best else {
                if self.invite(unit) {
                    continue;
                }
                return;
            };
            for &(s, n) in &unit.parts {
                for _ in 0..n {
                    match node {
                        Some(node) => self.state.put(s, unit.tier, node),
                        None => self.state.count(s, unit.tier, spots[i].cell),
                    }
                }
            }
            self.load[spots[i].cell as usize] += 1;
            let key = (unit.parts.clone(), unit.tier, spots[i].cells.ones().collect());
            *self.bound.entry(key).or_default() += 1;
            unit.count -= 1;
        }
    }

    /// A node in `cells` with room for the unit.
    fn room(&self, unit: &Unit, cells: &FixedBitSet, from: &mut usize) -> Option<usize> {
        let nodes = self.state.instance.nodes.len();
        let fits = |n: usize| {
            cells.contains(self.state.places[n].cell as usize)
                && unit.demand.iter().zip(&self.state.places[n].room).all(|(d, r)| d <= r)
                && unit.parts.iter().all(|p| self.state.admitted(p.0, unit.tier, n))
        };
        while *from < nodes && !fits(*from) {
            *from += 1;
        }
        (*from..nodes).find(|&n| {
            fits(n) && unit.parts.iter().all(|p| self.state.host_admits(p.0, unit.tier, &self.state.places[n]))
        })
    }

    /// For ties: carriers of an anti-affinity that does not look at its like
    /// gather; others go where the fewest of their group are.
    fn crowd(&self, unit: &Unit, cell: u32) -> (bool, u32) {
        let (instance, index) = (self.state.instance, self.state.index);
        let tuple = &index.cells.tuple[cell as usize];
        let (mut apart, mut held) = (false, 0);
        for r in index.carried(instance, unit.parts[0].0, unit.tier) {
            let rule = &instance.rules[r];
            if let Key::Domain(k) = rule.key
                && let Some(d) = tuple[k]
            {
                match rule.kind {
                    RuleKind::Anti if !rule.selects(unit.parts[0].0) => {
                        apart |= self.state.tally[r].owners[d as usize] == 0;
                    }
                    RuleKind::Spread(_) => held += self.state.tally[r].selected[d as usize],
                    _ => {}
                }
            }
        }
        (apart, held)
    }

    /// Whether all domain rules of the unit only ask for company that is
    /// there, and nobody asks where the unit is.
    fn follows_only(&self, unit: &Unit) -> bool {
        let (instance, index) = (self.state.instance, self.state.index);
        unit.parts.iter().all(|p| {
            index.carried(instance, p.0, unit.tier).all(|r| {
                let rule = &instance.rules[r];
                rule.key == Key::Host || (matches!(rule.kind, RuleKind::Affinity) && self.state.tally[r].total > 0)
            }) && index.selected[p.0].iter().all(|&r| {
                let rule = &instance.rules[r];
                rule.key == Key::Host || matches!(rule.kind, RuleKind::Affinity)
            })
        })
    }

    /// Cells the rules admit the unit to now; `None` if it has no domain rule.
    fn open_cells(&self, unit: &Unit) -> Option<FixedBitSet> {
        let (instance, index) = (self.state.instance, self.state.index);
        let looks = |s: usize| {
            index.carried(instance, s, unit.tier).any(|r| instance.rules[r].key != Key::Host)
                || index.selected[s]
                    .iter()
                    .any(|&r| instance.rules[r].key != Key::Host && matches!(instance.rules[r].kind, RuleKind::Anti))
        };
        if !unit.parts.iter().any(|p| looks(p.0)) {
            return None;
        }
        let mut cells = FixedBitSet::with_capacity(index.cells.len());
        for c in 0..index.cells.len() {
            cells.set(c, unit.parts.iter().all(|p| self.state.domain_admits(p.0, unit.tier, c as u32)));
        }
        Some(cells)
    }

    /// Binds one pod that `unit` asks for to the cheapest domain both may
    /// use. False if that is not what keeps the unit waiting.
    fn invite(&mut self, unit: &Unit) -> bool {
        let (instance, index) = (self.state.instance, self.state.index);
        for r in index.carried(instance, unit.parts[0].0, unit.tier) {
            let rule = &instance.rules[r];
            let (Key::Domain(k), RuleKind::Affinity) = (rule.key, &rule.kind) else { continue };
            if self.state.tally[r].selected.iter().any(|&c| c > 0) {
                continue;
            }
            let guests = (0..self.free.len())
                .filter(|&g| self.free[g].count > 0 && self.free[g].parts.iter().any(|p| rule.selects(p.0)));
            let mut best: Option<(f64, usize, usize)> = None;
            for g in guests {
                let guest = &self.free[g];
                for c in 0..index.cells.len() {
                    if index.cells.tuple[c][k].is_none()
                        || !self.spots.sells(guest, c)
                        || !self.spots.sells(unit, c)
                        || !guest.parts.iter().all(|p| self.state.domain_admits(p.0, guest.tier, c as u32))
                    {
                        continue;
                    }
                    let price = (self.cost)(unit, c as u32);
                    if best.is_none_or(|b| price < b.0) {
                        best = Some((price, g, c));
                    }
                }
            }
            if let Some((_, g, c)) = best {
                let keys = keys_of(instance, index, &self.free[g]);
                let spots = self.spots.of(&keys);
                let spot = spots.iter().find(|s| s.cells.contains(c));
                let cells: Vec<usize> = spot.map_or_else(|| vec![c], |s| s.cells.ones().collect());
                let guest = &mut self.free[g];
                guest.count -= 1;
                for &(s, n) in &guest.parts {
                    (0..n).for_each(|_| self.state.count(s, guest.tier, c as u32));
                }
                *self.bound.entry((guest.parts.clone(), guest.tier, cells)).or_default() += 1;
                return true;
            }
        }
        false
    }
}
