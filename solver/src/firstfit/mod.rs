//! First fit: pods arrive in a fixed order and take the first place that
//! admits them. Always an answer, always legal, never a good price.

mod landing;

pub use landing::finish;

use crate::arrival::{Arrivals, Index};
use crate::fluid;
use crate::instance::Instance;
use crate::plan::Plan;
use crate::units::{Unit, units};
use rustc_hash::FxHashMap;

/// Serves every pod it can, each in its earliest tier that has a place.
pub fn first_fit(instance: &Instance, index: &Index) -> Plan {
    let waiting: Vec<_> = instance.shapes.iter().enumerate().map(|(s, shape)| (s, 0, shape.count)).collect();
    let mut state = Arrivals::new(instance, index);
    arrive(&mut state, &waiting);
    finish(state)
}

/// The same with all pods of a shape in one tier, so that nobody can doubt
/// which pods gave up what.
pub fn first_fit_whole(instance: &Instance, index: &Index) -> Plan {
    let most = instance.shapes.iter().map(|s| s.tiers.len()).max().unwrap_or(0);
    let mut tier = vec![0; instance.shapes.len()];
    let mut plan = Plan::default();
    for _ in 0..most.max(1) {
        let shapes = instance.shapes.iter().enumerate();
        let waiting: Vec<_> = shapes.map(|(s, shape)| (s, tier[s], shape.count)).collect();
        let mut state = Arrivals::new(instance, index);
        let mut opener = Opener::new(instance);
        place_all(&mut state, &mut opener, units(instance, index, &waiting), true);
        plan = finish(state);
        let mut moved = false;
        for &(s, _) in &plan.unserved {
            if tier[s] + 1 < instance.shapes[s].tiers.len() {
                tier[s] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    plan
}

/// Lets all of `waiting` (shape, tier, count) arrive, tier 0 meaning any; what finds no place is left out.
pub fn arrive(state: &mut Arrivals, waiting: &[(usize, usize, u32)]) {
    let mut opener = Opener::new(state.instance);
    let mut stay = place_all(state, &mut opener, units(state.instance, state.index, waiting), false);
    // A place may open for one pod only because another came: try the rest
    // again while that helps, bundles taken apart.
    while !stay.is_empty() {
        let before: u64 = pods(&stay);
        let mut single = vec![0; state.instance.shapes.len()];
        for u in &stay {
            for &(s, n) in &u.parts {
                single[s] += n * u.count;
            }
        }
        let parts = (0..single.len()).filter(|&s| single[s] > 0);
        let again = parts.map(|s| Unit::new(state.instance, vec![(s, 1)], single[s], 0)).collect();
        stay = place_all(state, &mut opener, again, false);
        if pods(&stay) >= before {
            break;
        }
    }
}

fn pods(units: &[Unit]) -> u64 {
    units.iter().map(|u| u64::from(u.count) * u.parts.iter().map(|p| u64::from(p.1)).sum::<u64>()).sum()
}

fn place_all(state: &mut Arrivals, opener: &mut Opener, units: Vec<Unit>, one_tier: bool) -> Vec<Unit> {
    let mut stay = Vec::new();
    for mut unit in units {
        let tiers = unit.parts.iter().map(|p| state.instance.shapes[p.0].tiers.len()).min().unwrap_or(0);
        let mut from = vec![vec![0; state.index.cells.len()]; tiers];
        let choice = if unit.tier == 0 && !one_tier { 0..tiers } else { unit.tier..tiers.min(unit.tier + 1) };
        while unit.count > 0 {
            let placed = choice.clone().any(|t| place(state, opener, &unit, t, &mut from[t]));
            if !placed {
                break;
            }
            unit.count -= 1;
        }
        if unit.count > 0 {
            stay.push(unit);
        }
    }
    stay
}

/// Places one unit; `from` skips places, per cell, that can never take
/// another.
fn place(state: &mut Arrivals, opener: &mut Opener, unit: &Unit, tier: usize, from: &mut [usize]) -> bool {
    opener.gather(state);
    let cells = legal_cells(state, unit.parts[0].0, tier);
    let steady = unit.parts.iter().all(|p| state.steady(p.0));
    let room = |state: &Arrivals, p: usize| {
        let at = &state.places[p];
        unit.demand.iter().zip(&at.room).all(|(d, r)| d <= r)
            && unit.parts.iter().all(|&(s, _)| state.admitted(s, tier, p))
    };
    // Where nothing lifts a host rule again, a place it closes stays closed.
    let open = |state: &Arrivals, p: usize| {
        room(state, p) && (!steady || state.host_admits(unit.parts[0].0, tier, &state.places[p]))
    };
    let mut candidates: Vec<usize> = Vec::new();
    for (c, places) in opener.by_cell.iter().enumerate() {
        if cells.as_ref().is_some_and(|open| !open[c]) {
            continue;
        }
        while from[c] < places.len() && !open(state, places[from[c]]) {
            from[c] += 1;
        }
        candidates.extend(places.get(from[c]));
    }
    candidates.sort_unstable();
    for first in candidates {
        if put_unit(state, unit, tier, first) {
            return true;
        }
        let c = state.places[first].cell as usize;
        for i in from[c] + 1..opener.by_cell[c].len() {
            let p = opener.by_cell[c][i];
            if open(state, p) && put_unit(state, unit, tier, p) {
                return true;
            }
        }
    }
    opener.open(state, unit, tier, cells.as_deref())
}

fn put_unit(state: &mut Arrivals, unit: &Unit, tier: usize, place: usize) -> bool {
    let mut done = Vec::new();
    for &(s, n) in &unit.parts {
        for _ in 0..n {
            if !state.admits(s, tier, place) {
                for &(s, tier) in done.iter().rev() {
                    state.take(s, tier, place);
                }
                return false;
            }
            state.put(s, tier, place);
            done.push((s, tier));
        }
    }
    true
}

/// Per cell, whether the domain rules let `shape` in; `None` if it has none.
fn legal_cells(state: &Arrivals, shape: usize, tier: usize) -> Option<Vec<bool>> {
    use crate::instance::Key;
    let rules = state.index.owned[shape].iter().chain(&state.index.selected[shape]);
    let mut rules = rules.filter(|&&r| state.instance.rules[r].key != Key::Host);
    rules.next()?;
    Some((0..state.index.cells.len() as u32).map(|c| state.domain_admits(shape, tier, c)).collect())
}

/// Chooses bins to open: best value for money first.
struct Opener {
    /// Price over fluid value per bin.
    ratio: Vec<f64>,
    /// Bins of an admission, best first.
    order: FxHashMap<usize, Vec<usize>>,
    /// Places per cell, ascending.
    by_cell: Vec<Vec<usize>>,
    seen: usize,
}

impl Opener {
    fn new(instance: &Instance) -> Self {
        let buyable: Vec<usize> = (0..instance.bins.len()).filter(|&b| instance.bins[b].buyable).collect();
        let rho = fluid::prices(instance, &buyable, &fluid::total_demand(instance));
        let ratio = instance
            .bins
            .iter()
            .map(|b| {
                let value: f64 = b.capacity.iter().zip(&rho).map(|(&c, p)| c as f64 * p).sum();
                (b.price as f64 + 1.0) / (value + 1e-9)
            })
            .collect();
        Opener { ratio, order: FxHashMap::default(), by_cell: Vec::new(), seen: 0 }
    }

    /// Notes the places that are new.
    fn gather(&mut self, state: &Arrivals) {
        self.by_cell.resize(state.index.cells.len(), Vec::new());
        for p in self.seen..state.places.len() {
            self.by_cell[state.places[p].cell as usize].push(p);
        }
        self.seen = state.places.len();
    }

    /// Opens the best bin that takes the unit.
    fn open(&mut self, state: &mut Arrivals, unit: &Unit, tier: usize, cells: Option<&[bool]>) -> bool {
        let instance = state.instance;
        let admission = instance.shapes[unit.parts[0].0].tiers[tier].admission;
        let ratio = &self.ratio;
        let order = self.order.entry(admission).or_insert_with(|| {
            let bins = instance.admissions[admission].bins.ones();
            let mut bins: Vec<usize> = bins.filter(|&b| instance.bins[b].buyable).collect();
            bins.sort_by(|&a, &b| {
                let key = |b: usize| (instance.bins[b].price, &instance.bins[b].domain, &instance.bins[b].capacity);
                ratio[a].total_cmp(&ratio[b]).then_with(|| key(a).cmp(&key(b)))
            });
            bins
        });
        for &bin in order.iter() {
            let b = &instance.bins[bin];
            if cells.is_some_and(|c| !c[state.index.cells.of_bin[bin] as usize])
                || unit.demand.iter().zip(&b.capacity).any(|(d, c)| d > c)
                || !state.buyable(bin)
                || !unit
                    .parts
                    .iter()
                    .all(|&(s, _)| instance.admissions[instance.shapes[s].tiers[tier].admission].bins.contains(bin))
            {
                continue;
            }
            let place = state.open(bin);
            if put_unit(state, unit, tier, place) {
                return true;
            }
            state.close_last();
        }
        false
    }
}
