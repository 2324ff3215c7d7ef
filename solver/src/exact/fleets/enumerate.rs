use super::Rank;
use crate::arrival::Index;
use crate::consolidate::budget;
use crate::instance::{Instance, Micros};
use crate::search::offers;

/// Nodes that go and machines that are bought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// Ascending.
    pub removed: Vec<usize>,
    /// Bins, ascending by price, with repetition.
    pub bins: Vec<usize>,
}

/// Most nodes of which each may stay or go.
const OPEN: usize = 10;
/// Most machines: of more, fleets are too many anyway.
const MACHINES: usize = 16;
/// Most fleets, and most steps of the search for them.
const FLEETS: usize = 20_000;
const STEPS: usize = 2_000_000;

/// All fleets that rank before `best`, cost at least `least` and have room in
/// total, best first; `None` if they are too many.
pub fn fleets(instance: &Instance, best: &Rank, least: Micros) -> Option<Vec<Fleet>> {
    let must = budget::forced(instance);
    let open: Vec<usize> = (0..instance.nodes.len())
        .filter(|&n| instance.nodes[n].removal.is_some() && must.binary_search(&n).is_err())
        .filter(|&n| instance.nodes[n].residents.iter().all(|r| !instance.shapes[r.0].tiers.is_empty()))
        .collect();
    if open.len() > OPEN {
        return None;
    }
    let mut full = instance.clone();
    for &n in open.iter().chain(&must) {
        for &(s, c) in &instance.nodes[n].residents {
            full.shapes[s].count += c;
        }
    }
    let mut bins = offers(&full, &Index::new(&full));
    bins.sort_by_key(|&b| (instance.bins[b].price, b));
    let rates = rates(instance, &bins);
    // No machine stays empty.
    let most = usize::try_from(full.pods()).unwrap_or(usize::MAX);
    let mut walk = Walk { instance, bins, rates, best, least, most, steps: 0, out: Vec::new() };
    for mask in 0..1usize << open.len() {
        let mut removed = must.clone();
        removed.extend(open.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, &n)| n));
        removed.sort_unstable();
        if budget::holds(instance, &removed) {
            let need = need(instance, &removed);
            walk.extend(&mut Fleet { removed, bins: Vec::new() }, 0, &need)?;
        }
    }
    let mut out = walk.out;
    out.sort_by_cached_key(|f| (Rank::of_fleet(instance, f), f.removed.clone(), f.bins.clone()));
    Some(out)
}

/// What must be bought in total, per dimension, were the room of nodes that
/// stay open to every pod.
fn need(instance: &Instance, removed: &[usize]) -> Vec<i64> {
    let mut need = vec![0i64; instance.dims];
    let mut add = |s: usize, count: u32| {
        for (n, d) in need.iter_mut().zip(&instance.shapes[s].demand) {
            *n = n.saturating_add(d.saturating_mul(i64::from(count)));
        }
    };
    instance.shapes.iter().enumerate().for_each(|(s, shape)| add(s, shape.count));
    removed.iter().flat_map(|&n| &instance.nodes[n].residents).for_each(|&(s, c)| add(s, c));
    for (n, node) in instance.nodes.iter().enumerate() {
        if removed.binary_search(&n).is_err() {
            need.iter_mut().zip(&node.free).for_each(|(n, f)| *n = n.saturating_sub(*f));
        }
    }
    need
}

/// The least price of a unit per dimension.
fn rates(instance: &Instance, bins: &[usize]) -> Vec<f64> {
    let rate = |d: usize| {
        let of = |&b: &usize| instance.bins[b].price as f64 / instance.bins[b].capacity[d] as f64;
        bins.iter().filter(|&&b| instance.bins[b].capacity[d] > 0).map(of).fold(f64::INFINITY, f64::min)
    };
    (0..instance.dims).map(rate).collect()
}

struct Walk<'a> {
    instance: &'a Instance,
    bins: Vec<usize>,
    rates: Vec<f64>,
    best: &'a Rank,
    least: Micros,
    most: usize,
    steps: usize,
    out: Vec<Fleet>,
}

impl Walk<'_> {
    /// The fleet itself, and those with more machines from `from` on.
    fn extend(&mut self, fleet: &mut Fleet, from: usize, need: &[i64]) -> Option<()> {
        self.steps += 1;
        if self.steps > STEPS {
            return None;
        }
        let rank = Rank::of_fleet(self.instance, fleet);
        let missing = need.iter().zip(&self.rates).filter(|(n, _)| **n > 0).map(|(n, r)| *n as f64 * r);
        let missing = missing.fold(0.0, f64::max);
        // Floats round: a fleet at the limit is looked at.
        if rank >= *self.best || rank.cost as f64 + missing > self.best.cost as f64 + 1.0 {
            return Some(());
        }
        if need.iter().all(|&n| n <= 0) && rank.cost >= self.least {
            if self.out.len() >= FLEETS {
                return None;
            }
            self.out.push(fleet.clone());
        }
        if fleet.bins.len() == MACHINES.min(self.most) {
            return if self.most > MACHINES { None } else { Some(()) };
        }
        for k in from..self.bins.len() {
            let bin = &self.instance.bins[self.bins[k]];
            let rest: Vec<i64> = need.iter().zip(&bin.capacity).map(|(n, c)| n.saturating_sub(*c)).collect();
            fleet.bins.push(self.bins[k]);
            self.extend(fleet, k, &rest)?;
            fleet.bins.pop();
        }
        Some(())
    }
}
