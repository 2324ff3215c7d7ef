//! The fluid relaxation by classes: pods are liquid, but only flow where their
//! class is admitted, and host rules ask for enough nodes.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;

use super::duals::Duals;
use super::master::Totals;
use super::reduced::Reduced;
use crate::highs::{Col, HighsError, INFINITY, Model, Row, Status};
use crate::instance::Instance;

/// Beyond this many flows all pods are one class.
const FLOWS: usize = 20_000;

/// Simplex iterations between two questions whether to stop.
const SLICE: u32 = 500;

/// The relaxation, solved.
pub(super) struct Fluid {
    /// Values from its duals. They may need repair.
    pub duals: Duals,
    /// What it costs, in dollars per hour.
    pub objective: f64,
    /// Per dimension of the columns: whether it is worth anything.
    pub binding: Vec<bool>,
}

/// Which pods the relaxation tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grain {
    /// None: all flow everywhere.
    Coarse,
    /// Those that are admitted to different places, unless that is too many.
    Fine,
}

/// Solves it; `None` if told to stop or if there is no optimum.
pub(super) fn solve(
    instance: &Instance,
    reduced: &Reduced,
    grain: Grain,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Fluid>, HighsError> {
    let classes = match grain {
        Grain::Coarse => Classes::one(reduced.items.len(), reduced.bins.len() + reduced.nodes.len()),
        Grain::Fine => Classes::new(reduced),
    };
    let dims = reduced.columns.dims;
    let scale: Vec<f64> = (0..dims)
        .map(|d| {
            let spots = reduced.bins.iter().chain(&reduced.nodes);
            spots.map(|s| s.capacity[d]).fold(1.0, f64::max)
        })
        .collect();
    let mut m = Model::new()?;
    // Few dense rows: simplifying them takes longer than solving.
    m.presolve(grain == Grain::Fine)?;
    // What each class asks for; split items add theirs through a column.
    let mut asked = vec![vec![0.0; dims]; classes.count];
    for f in reduced.families.iter().filter(|f| f.key.is_none()) {
        for &i in &f.items {
            for (d, r) in reduced.columns.of(i).iter().enumerate() {
                asked[classes.of[i]][d] += r * f.count as f64 / scale[d];
            }
        }
    }
    let mut need: Vec<Vec<Row>> = Vec::with_capacity(classes.count);
    for a in &asked {
        need.push(a.iter().map(|&r| m.add_row(r, INFINITY, &[])).collect::<Result<_, _>>()?);
    }
    let mut free = vec![vec![0.0; dims]; classes.sigs.len()];
    for (n, spot) in reduced.nodes.iter().enumerate().filter(|(_, s)| instance.nodes[s.at].removal.is_none()) {
        for d in 0..dims {
            free[classes.of_spot[reduced.bins.len() + n]][d] += spot.capacity[d] / scale[d];
        }
    }
    let mut room: Vec<Vec<Row>> = Vec::with_capacity(free.len());
    for f in &free {
        room.push(f.iter().map(|&a| m.add_row(-a, INFINITY, &[])).collect::<Result<_, _>>()?);
    }
    for (s, sig) in classes.sigs.iter().enumerate() {
        for c in sig.ones() {
            for d in 0..dims {
                m.add_col(0.0, 0.0, INFINITY, &[(need[c][d], 1.0), (room[s][d], -1.0)])?;
            }
        }
    }
    let groups = Groups::new(reduced);
    let crowd: Vec<Row> = groups.pods.iter().map(|&n| m.add_row(n, INFINITY, &[])).collect::<Result<_, _>>()?;
    let totals = Totals::new(instance);
    let limit: Vec<Row> = totals.limit.iter().map(|&l| m.add_row(-INFINITY, l, &[])).collect::<Result<_, _>>()?;
    let supply: Vec<Row> = totals.supply.iter().map(|&s| m.add_row(-INFINITY, s, &[])).collect::<Result<_, _>>()?;
    let budget: Vec<Row> = totals.budget.iter().map(|&b| m.add_row(b, INFINITY, &[])).collect::<Result<_, _>>()?;
    for (n, spot) in reduced.nodes.iter().enumerate() {
        let node = &instance.nodes[spot.at];
        let Some(removal) = &node.removal else { continue };
        // Keeping it serves its residents and offers its room.
        let mut entries: BTreeMap<Row, f64> = BTreeMap::new();
        for &(i, c) in &spot.fixed {
            let split = reduced.families[reduced.items[i].family].key.is_some();
            for (d, r) in reduced.columns.of(i).iter().enumerate().filter(|_| !split) {
                *entries.entry(need[classes.of[i]][d]).or_default() += r * c / scale[d];
            }
            if let Some(g) = groups.of[i] {
                *entries.entry(crowd[g]).or_default() += c;
            }
        }
        let sig = classes.of_spot[reduced.bins.len() + n];
        for d in 0..dims {
            *entries.entry(room[sig][d]).or_default() += spot.capacity[d] / scale[d];
        }
        let limits = node.limit_use.iter().map(|&(l, a)| (limit[l], a as f64));
        let draws = removal.budgets.iter().map(|&(b, a)| (budget[b], a as f64));
        limits.chain(draws).chain(node.supply.map(|s| (supply[s], 1.0))).for_each(|(r, a)| {
            *entries.entry(r).or_default() += a;
        });
        let entries: Vec<(Row, f64)> = entries.into_iter().filter(|e| e.1 != 0.0).collect();
        m.add_col(spot.price, 0.0, if removal.forced { 0.0 } else { 1.0 }, &entries)?;
    }
    for (b, spot) in reduced.bins.iter().enumerate() {
        let bin = &instance.bins[spot.at];
        let mut entries: Vec<(Row, f64)> =
            (0..dims).map(|d| (room[classes.of_spot[b]][d], spot.capacity[d] / scale[d])).collect();
        entries.extend(groups.caps(reduced, b, false).map(|(g, cap)| (crowd[g], cap)));
        entries.extend(bin.limit_use.iter().filter(|l| l.1 > 0).map(|&(l, a)| (limit[l], a as f64)));
        entries.extend(bin.supply.map(|s| (supply[s], 1.0)));
        entries.retain(|e| e.1 != 0.0);
        m.add_col(spot.price, 0.0, INFINITY, &entries)?;
    }
    let room_there: Vec<(usize, f64)> =
        (0..reduced.nodes.len()).flat_map(|n| groups.caps(reduced, n, true).collect::<Vec<_>>()).collect();
    for (g, cap) in room_there {
        m.add_col(0.0, 0.0, cap, &[(crowd[g], 1.0)])?;
    }
    let rules = split_rows(&mut m, reduced, &classes, &need, &scale)?;
    // Nothing may be impossible: what the bins cannot serve costs dearly.
    let dear = 1e3 * reduced.bins.iter().map(|b| b.price).fold(1.0, f64::max);
    for row in need.iter().flatten().chain(&crowd) {
        m.add_col(dear, 0.0, INFINITY, &[(*row, 1.0)])?;
    }
    let mut duals = Duals::zero(instance, reduced);
    // In slices, each from the last one's basis.
    let mut iterations = SLICE;
    loop {
        m.iteration_limit(iterations)?;
        match m.run()? {
            Status::Optimal => break,
            Status::Stopped if !stop() => iterations = iterations.saturating_add(SLICE),
            _ => return Ok(None),
        }
    }
    let worth = |d: usize| need.iter().any(|n| m.dual(n[d]) > 1e-9);
    let binding = (0..dims).map(worth).collect();
    for i in 0..reduced.items.len() {
        let mut v: f64 = reduced
            .columns
            .of(i)
            .iter()
            .enumerate()
            .map(|(d, r)| m.dual(need[classes.of[i]][d]).max(0.0) * r / scale[d])
            .sum();
        if let Some(g) = groups.of[i] {
            v += m.dual(crowd[g]).max(0.0);
        }
        duals.value[i] = v;
    }
    for (rho, rows) in duals.rho.iter_mut().zip(&rules) {
        rho.iter_mut().zip(rows).for_each(|(r, &row)| *r = m.dual(row));
    }
    duals.limit.iter_mut().zip(&limit).for_each(|(v, &row)| *v = (-m.dual(row)).max(0.0));
    duals.supply.iter_mut().zip(&supply).for_each(|(v, &row)| *v = (-m.dual(row)).max(0.0));
    duals.budget.iter_mut().zip(&budget).for_each(|(v, &row)| *v = m.dual(row).max(0.0));
    Ok(Some(Fluid { duals, objective: m.objective(), binding }))
}

/// Columns that divide split families among domains, and the rules' rows.
fn split_rows(
    m: &mut Model,
    reduced: &Reduced,
    classes: &Classes,
    need: &[Vec<Row>],
    scale: &[f64],
) -> Result<Vec<Vec<Row>>, HighsError> {
    let mut rules: Vec<Vec<Row>> = Vec::with_capacity(reduced.splits.len());
    for s in &reduced.splits {
        let rows = (0..s.open.len()).map(|d| {
            let (low, high) = s.hull(d);
            m.add_row(low, high, &[])
        });
        rules.push(rows.collect::<Result<_, _>>()?);
    }
    for f in reduced.families.iter().filter(|f| f.key.is_some()) {
        let all = m.add_row(f.count as f64, f.count as f64, &[])?;
        for &i in &f.items {
            let mut entries = vec![(all, 1.0)];
            if let Some(d) = reduced.items[i].domain {
                entries.extend(f.splits.iter().map(|&p| (rules[p][d as usize], 1.0)));
            }
            for (d, r) in reduced.columns.of(i).iter().enumerate().filter(|(_, r)| **r > 0.0) {
                entries.push((need[classes.of[i]][d], -r / scale[d]));
            }
            let _: Col = m.add_col(0.0, 0.0, INFINITY, &entries)?;
        }
    }
    Ok(rules)
}

/// Items that no bin big enough for them tells apart.
struct Classes {
    count: usize,
    of: Vec<usize>,
    /// Classes that flow into each kind of spot.
    sigs: Vec<FixedBitSet>,
    of_spot: Vec<usize>,
}

impl Classes {
    fn new(reduced: &Reduced) -> Self {
        let spots: Vec<_> = reduced.bins.iter().chain(&reduced.nodes).collect();
        let mut order: Vec<usize> = (0..reduced.items.len()).collect();
        let size = |i: usize| {
            let r = reduced.columns.of(i);
            spots.iter().filter(|s| r.iter().zip(&s.capacity).all(|(r, c)| r <= c)).count()
        };
        order.sort_by_cached_key(|&i| (std::cmp::Reverse(size(i)), i));
        let mut leaders: Vec<FixedBitSet> = Vec::new();
        let mut of = vec![0; reduced.items.len()];
        let mut seen: BTreeMap<(Vec<usize>, Vec<usize>), usize> = BTreeMap::new();
        for i in order {
            let mut open = FixedBitSet::with_capacity(spots.len());
            let mut fits = FixedBitSet::with_capacity(spots.len());
            for (k, s) in spots.iter().enumerate() {
                open.set(k, reduced.kinds[s.kind].items.contains(i));
                fits.set(k, reduced.columns.of(i).iter().zip(&s.capacity).all(|(r, c)| r <= c));
            }
            let key = (open.as_slice().to_vec(), fits.as_slice().to_vec());
            of[i] = *seen.entry(key).or_insert_with(|| {
                let same = leaders.iter().position(|l| {
                    let mut differ = l.clone();
                    differ.symmetric_difference_with(&open);
                    differ.intersect_with(&fits);
                    differ.is_clear()
                });
                same.unwrap_or_else(|| {
                    leaders.push(open.clone());
                    leaders.len() - 1
                })
            });
        }
        let mut index: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
        let of_spot: Vec<usize> = (0..spots.len())
            .map(|k| {
                let sig: Vec<bool> = leaders.iter().map(|l| l.contains(k)).collect();
                let next = index.len();
                *index.entry(sig).or_insert(next)
            })
            .collect();
        let mut sigs = vec![FixedBitSet::with_capacity(leaders.len()); index.len()];
        for (sig, at) in index {
            sig.iter().enumerate().filter(|s| *s.1).for_each(|(c, _)| sigs[at].insert(c));
        }
        let flows: usize = sigs.iter().map(|s| s.count_ones(..)).sum::<usize>() * reduced.columns.dims;
        if flows > FLOWS {
            return Classes::one(of.len(), spots.len());
        }
        Classes { count: leaders.len(), of, sigs, of_spot }
    }

    /// All items in one class.
    fn one(items: usize, spots: usize) -> Self {
        let mut all = FixedBitSet::with_capacity(1);
        all.insert(0);
        Classes { count: 1, of: vec![0; items], sigs: vec![all], of_spot: vec![0; spots] }
    }
}

/// Host groups of the items: pods that no node holds more than a few of.
struct Groups {
    of: Vec<Option<usize>>,
    pods: Vec<f64>,
}

impl Groups {
    fn new(reduced: &Reduced) -> Self {
        let mut index: BTreeMap<usize, usize> = BTreeMap::new();
        let mut pods: Vec<f64> = Vec::new();
        let mut of = vec![None; reduced.items.len()];
        for f in &reduced.families {
            let Some(j) = f.joint else { continue };
            let next = pods.len();
            let g = *index.entry(j).or_insert(next);
            if g == pods.len() {
                pods.push(0.0);
            }
            pods[g] += f.count as f64;
            f.items.iter().for_each(|&i| of[i] = Some(g));
        }
        Groups { of, pods }
    }

    /// Most pods per group on a bin or node.
    fn caps<'a>(&'a self, reduced: &'a Reduced, at: usize, node: bool) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let spot = if node { &reduced.nodes[at] } else { &reduced.bins[at] };
        let mut caps: BTreeMap<usize, f64> = BTreeMap::new();
        for guest in &spot.guests {
            if let Some(g) = self.of[guest.item] {
                let sum = caps.entry(g).or_insert(0.0);
                *sum = match guest.group {
                    Some(k) => spot.groups[k],
                    None => *sum + guest.most,
                };
            }
        }
        caps.into_iter()
    }
}
