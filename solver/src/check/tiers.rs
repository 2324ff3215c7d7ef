use std::collections::{BTreeMap, VecDeque};

use super::broken::{Broken, Spot};
use super::place::Tiers;
use crate::instance::Instance;
use crate::plan::Plan;

/// All divisions are tried while there are at most this many.
const ALL: usize = 3_000;

/// One shape's pods on the places of a plan, and how many are in each tier.
struct Shape {
    shape: usize,
    /// (spot, pods there, tiers whose admission has the spot).
    spots: Vec<(Spot, u32, Vec<bool>)>,
    quota: Vec<u64>,
}

/// Ways to say which pods use which tier. Shapes that are wholly in their
/// first tier need no entry. If there are many ways only a few are returned,
/// those in which later tiers gather on the fullest or the emptiest places.
pub(super) fn assignments(instance: &Instance, plan: &Plan) -> Result<Vec<Tiers>, Vec<Broken>> {
    let mut broken = Vec::new();
    let mut split: Vec<Shape> = Vec::new();
    for (shape, spots) in by_shape(plan) {
        let tiers = &instance.shapes[shape].tiers;
        let placed: u64 = spots.iter().map(|&(_, c)| u64::from(c)).sum();
        let mut quota = vec![0u64; tiers.len()];
        for &(_, t, c) in plan.demoted.iter().filter(|d| d.0 == shape) {
            quota[t] = u64::from(c);
        }
        let demoted: u64 = quota.iter().sum();
        if demoted > placed {
            broken.push(Broken::DemotedTooMany { shape, demoted, placed });
            continue;
        }
        if let Some(first) = quota.first_mut() {
            *first = placed - demoted;
        }
        let spots: Vec<(Spot, u32, Vec<bool>)> = spots
            .into_iter()
            .map(|(spot, c)| {
                let open = tiers.iter().map(|t| admits(instance, plan, t.admission, spot)).collect();
                (spot, c, open)
            })
            .collect();
        for (spot, _, open) in &spots {
            if !open.iter().zip(&quota).any(|(&o, &q)| o && q > 0) {
                broken.push(Broken::NotAdmitted { spot: *spot, shape });
            }
        }
        if demoted > 0 {
            split.push(Shape { shape, spots, quota });
        }
    }
    for &(shape, _, c) in &plan.demoted {
        if !plan
            .bought
            .iter()
            .map(|n| &n.contents)
            .chain(plan.placed.iter().map(|p| &p.1))
            .flatten()
            .any(|e| e.0 == shape)
        {
            broken.push(Broken::DemotedTooMany { shape, demoted: u64::from(c), placed: 0 });
        }
    }
    if !broken.is_empty() {
        return Err(broken);
    }
    choose(&split)
}

fn by_shape(plan: &Plan) -> BTreeMap<usize, Vec<(Spot, u32)>> {
    let mut out: BTreeMap<usize, Vec<(Spot, u32)>> = BTreeMap::new();
    let bought = plan.bought.iter().enumerate().map(|(i, n)| (Spot::Bought(i), &n.contents));
    for (spot, contents) in bought.chain(plan.placed.iter().map(|(n, c)| (Spot::Node(*n), c))) {
        for &(s, c) in contents {
            out.entry(s).or_default().push((spot, c));
        }
    }
    out
}

fn admits(instance: &Instance, plan: &Plan, admission: usize, spot: Spot) -> bool {
    let a = &instance.admissions[admission];
    match spot {
        Spot::Bought(i) => a.bins.contains(plan.bought[i].bin),
        Spot::Node(n) => a.nodes.contains(n),
    }
}

fn choose(split: &[Shape]) -> Result<Vec<Tiers>, Vec<Broken>> {
    if split.is_empty() {
        return Ok(vec![Tiers::new()]);
    }
    let mut all: Option<Vec<Tiers>> = Some(vec![Tiers::new()]);
    for shape in split {
        all = all.and_then(|sofar| {
            let ways = every_way(shape, ALL / sofar.len().max(1))?;
            let mut out = Vec::with_capacity(sofar.len() * ways.len());
            for tiers in &sofar {
                out.extend(ways.iter().map(|w| merged(tiers, w)));
            }
            Some(out)
        });
    }
    if let Some(all) = all.filter(|a| !a.is_empty()) {
        return Ok(all);
    }
    // Too many, or none: a flow decides, and orders of places give variants.
    let mut out: Vec<Tiers> = Vec::new();
    for fullest_first in [true, false] {
        for later_first in [true, false] {
            let mut tiers = Tiers::new();
            for shape in split {
                match flow(shape, fullest_first, later_first) {
                    Some(way) => tiers = merged(&tiers, &way),
                    None => return Err(vec![Broken::TiersImpossible { shape: shape.shape }]),
                }
            }
            out.push(tiers);
        }
    }
    Ok(out)
}

fn merged(a: &Tiers, b: &Tiers) -> Tiers {
    a.iter().chain(b).map(|(k, v)| (*k, v.clone())).collect()
}

/// All divisions of one shape, or `None` if there are more than `most`.
fn every_way(shape: &Shape, most: usize) -> Option<Vec<Tiers>> {
    struct Walk<'a> {
        shape: &'a Shape,
        most: usize,
        steps: usize,
        out: Vec<Tiers>,
    }
    impl Walk<'_> {
        fn go(&mut self, at: usize, tier: usize, left: u32, quota: &mut [u64], sofar: &mut Tiers) -> Option<()> {
            self.steps += 1;
            if self.out.len() > self.most || self.steps > 40 * ALL {
                return None;
            }
            let Some((spot, _, open)) = self.shape.spots.get(at) else {
                self.out.push(sofar.clone());
                return Some(());
            };
            if tier == quota.len() {
                if left == 0 {
                    let next = self.shape.spots.get(at + 1).map_or(0, |s| s.1);
                    return self.go(at + 1, 0, next, quota, sofar);
                }
                return Some(());
            }
            let most = if open[tier] { u64::from(left).min(quota[tier]) as u32 } else { 0 };
            for take in 0..=most {
                let key = (*spot, self.shape.shape);
                if take > 0 {
                    quota[tier] -= u64::from(take);
                    sofar.entry(key).or_default().push((tier, take));
                }
                let ok = self.go(at, tier + 1, left - take, quota, sofar);
                if take > 0 {
                    quota[tier] += u64::from(take);
                    if let Some(v) = sofar.get_mut(&key) {
                        v.pop();
                    }
                }
                ok?;
            }
            Some(())
        }
    }
    if shape.spots.len() > 200 {
        return None;
    }
    let mut walk = Walk { shape, most, steps: 0, out: Vec::new() };
    let first = shape.spots.first().map_or(0, |s| s.1);
    walk.go(0, 0, first, &mut shape.quota.clone(), &mut Tiers::new())?;
    (walk.out.len() <= most).then_some(walk.out)
}

/// A division by augmenting paths over tiers, or `None` if there is none.
fn flow(shape: &Shape, fullest_first: bool, later_first: bool) -> Option<Tiers> {
    let tiers = shape.quota.len();
    let mut order: Vec<usize> = (0..shape.spots.len()).collect();
    order.sort_by_key(|&i| shape.spots[i].1);
    if fullest_first {
        order.reverse();
    }
    let mut quota = shape.quota.clone();
    let mut given = vec![vec![0u32; tiers]; shape.spots.len()];
    let ranks: Vec<usize> = if later_first { (0..tiers).rev().collect() } else { (0..tiers).collect() };
    for &i in &order {
        let mut left = shape.spots[i].1;
        while left > 0 {
            let direct = ranks.iter().copied().find(|&t| shape.spots[i].2[t] && quota[t] > 0);
            if let Some(t) = direct {
                let take = quota[t].min(u64::from(left)) as u32;
                given[i][t] += take;
                quota[t] -= u64::from(take);
                left -= take;
                continue;
            }
            augment(shape, i, &mut given, &mut quota)?;
            left -= 1;
        }
    }
    let mut out = Tiers::new();
    for (i, (spot, ..)) in shape.spots.iter().enumerate() {
        let split = given[i].iter().enumerate().filter(|&(_, &c)| c > 0).map(|(t, &c)| (t, c)).collect();
        out.insert((*spot, shape.shape), split);
    }
    Some(out)
}

/// Makes room for one pod on spot `i` by moving pods elsewhere between tiers.
fn augment(shape: &Shape, i: usize, given: &mut [Vec<u32>], quota: &mut [u64]) -> Option<()> {
    let tiers = quota.len();
    let mut from: Vec<Option<(Option<usize>, usize)>> = vec![None; tiers];
    let mut queue = VecDeque::new();
    for t in (0..tiers).filter(|&t| shape.spots[i].2[t]) {
        from[t] = Some((None, i));
        queue.push_back(t);
    }
    while let Some(t) = queue.pop_front() {
        if quota[t] > 0 {
            quota[t] -= 1;
            let mut at = t;
            loop {
                let (before, spot) = from[at]?;
                given[spot][at] += 1;
                match before {
                    None => return Some(()),
                    Some(b) => {
                        given[spot][b] -= 1;
                        at = b;
                    }
                }
            }
        }
        for (j, (_, _, open)) in shape.spots.iter().enumerate().filter(|&(j, _)| given[j][t] > 0) {
            for next in 0..tiers {
                if open[next] && from[next].is_none() {
                    from[next] = Some((Some(t), j));
                    queue.push_back(next);
                }
            }
        }
    }
    None
}
