use crate::arrival::Index;
use crate::instance::{Instance, Key, RuleKind};
use crate::units::Unit;
use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Cells that agree on the keys a unit's rules look at.
#[derive(Clone, Debug)]
pub struct Spot {
    /// One of them.
    pub cell: u32,
    /// All of them.
    pub cells: FixedBitSet,
}

/// Spots per set of keys, and which cells have something to buy.
pub struct Spots<'a> {
    instance: &'a Instance,
    index: &'a Index,
    by_keys: BTreeMap<Vec<usize>, Rc<Vec<Spot>>>,
    /// Offers per cell.
    offers: Vec<Vec<usize>>,
    /// (admission, cell): what is on offer there, by admission and cell.
    sells: std::cell::RefCell<BTreeMap<usize, FixedBitSet>>,
}

impl<'a> Spots<'a> {
    /// Linear in the offers.
    pub fn new(instance: &'a Instance, index: &'a Index, offers: &[usize]) -> Self {
        let mut per_cell = vec![Vec::new(); index.cells.len()];
        for &b in offers {
            per_cell[index.cells.of_bin[b] as usize].push(b);
        }
        Spots { instance, index, by_keys: BTreeMap::new(), offers: per_cell, sells: Default::default() }
    }

    /// The spots for these keys, ascending by their values.
    pub fn of(&mut self, keys: &[usize]) -> Rc<Vec<Spot>> {
        if let Some(spots) = self.by_keys.get(keys) {
            return Rc::clone(spots);
        }
        let mut groups: BTreeMap<Vec<Option<u32>>, Spot> = BTreeMap::new();
        let cells = self.index.cells.len();
        for (c, tuple) in self.index.cells.tuple.iter().enumerate() {
            let value = keys.iter().map(|&k| tuple[k]).collect();
            let spot = groups
                .entry(value)
                .or_insert_with(|| Spot { cell: c as u32, cells: FixedBitSet::with_capacity(cells) });
            spot.cells.insert(c);
        }
        let spots = Rc::new(groups.into_values().collect::<Vec<_>>());
        self.by_keys.insert(keys.to_vec(), Rc::clone(&spots));
        spots
    }

    /// Whether something the whole unit may use is on offer in `cell`.
    pub fn sells(&self, unit: &Unit, cell: usize) -> bool {
        let admission = |s: usize| self.instance.shapes[s].tiers[unit.tier].admission;
        if unit.is_single() {
            let a = admission(unit.parts[0].0);
            let mut known = self.sells.borrow_mut();
            let cells = known.entry(a).or_insert_with(|| {
                let bins = &self.instance.admissions[a].bins;
                let mut cells = FixedBitSet::with_capacity(self.offers.len());
                for (c, offers) in self.offers.iter().enumerate() {
                    cells.set(c, offers.iter().any(|&b| bins.contains(b)));
                }
                cells
            });
            return cells.contains(cell);
        }
        self.offers[cell].iter().any(|&b| {
            unit.parts.iter().all(|p| self.instance.admissions[admission(p.0)].bins.contains(b))
                && unit.demand.iter().zip(&self.instance.bins[b].capacity).all(|(d, c)| d <= c)
        })
    }
}

/// Keys that rules about this unit divide by: rules it carries, and rules
/// that count it.
pub fn keys_of(instance: &Instance, index: &Index, unit: &Unit) -> Vec<usize> {
    let mut keys: Vec<usize> = Vec::new();
    for &(s, _) in &unit.parts {
        let carried = index.carried(instance, s, unit.tier);
        let counted =
            index.selected[s].iter().copied().filter(|&r| !matches!(instance.rules[r].kind, RuleKind::Spread(_)));
        for r in carried.chain(counted) {
            if let Key::Domain(k) = instance.rules[r].key {
                keys.push(k);
            }
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}
