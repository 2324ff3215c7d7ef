//! What one bin or node can be worth at most, by given multipliers.

use std::collections::BTreeMap;

use super::super::broken::BrokenProof;
use super::form::dual;
use super::items::{Items, with_units};
use crate::certificate::{Certificate, U_SHIFT};
use crate::instance::Instance;

/// An item that a place admits, its value there, and its joint group with the
/// most pods of it there. It stands for all items that agree in demand, value
/// and group, with their pods.
struct Guest {
    item: usize,
    value: i128,
    joint: Option<(usize, u32)>,
    count: u64,
}

/// Bins that differ in price only.
struct Like {
    bin: usize,
    /// With whole units.
    room: Vec<i64>,
    guests: usize,
    /// Scaled: price, limit and supply terms.
    budget: i128,
}

/// What tells bins apart beside capacity and price: admissions (bits),
/// domains, draws, and which joint rules count there.
type Kind = (Vec<bool>, Vec<Option<u32>>, Vec<(usize, i64)>, Option<usize>, Vec<Option<u32>>);

/// Proves every bin that the bound must cover.
pub(super) fn bins(instance: &Instance, proof: &Certificate, items: &Items) -> Result<(), BrokenProof> {
    let telling = telling(instance, items);
    let dims = instance.dims + proof.roundings.len();
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut guests: Vec<Vec<Guest>> = Vec::new();
    let mut likes: BTreeMap<(&[i64], usize), Like> = BTreeMap::new();
    let mut like_of: BTreeMap<usize, (&[i64], usize)> = BTreeMap::new();
    for (b, bin) in instance.bins.iter().enumerate().filter(|(_, bin)| bin.in_bound) {
        let open: Vec<bool> = items.admissions.iter().map(|&a| instance.admissions[a].bins.contains(b)).collect();
        let joint: Vec<Option<u32>> = items.joint.iter().map(|j| Some(j.on_bin())).collect();
        let kind: Kind = (open, telling(&bin.domain), bin.limit_use.clone(), bin.supply, joint);
        let mut budget = i128::from(bin.price) * 1000;
        for &(l, a) in &bin.limit_use {
            budget += super::product(dual(&proof.limit_duals, l), a)?;
        }
        if let Some(s) = bin.supply {
            budget += i128::from(dual(&proof.supply_duals, s));
        }
        // Beyond this any content is cheaper than the bin.
        let budget = budget.min(1 << 100) << U_SHIFT;
        let next = guests.len();
        let at = *kinds.entry(kind).or_insert_with_key(|(open, domain, _, _, joint)| {
            guests.push(admitted(items, open, domain, joint));
            next
        });
        let key = (bin.capacity.as_slice(), at);
        like_of.insert(b, key);
        let new = || Like { bin: b, room: with_units(proof, &bin.capacity), guests: at, budget };
        let like = likes.entry(key).or_insert_with(new);
        if budget < like.budget {
            (like.bin, like.budget) = (b, budget);
        }
    }
    // First the multipliers made for the bin, then everybody's.
    let mut unit = vec![0i128; items.list.len()];
    for listed in &proof.bins {
        let Some(key) = like_of.get(&listed.bin) else { continue };
        let Some(like) = likes.get(key) else { continue };
        let g = &guests[like.guests];
        for guest in g {
            unit[guest.item] = cost(&items.demand[guest.item], &listed.u);
        }
        if worth(items, g, &like.room, &listed.u, &unit, like.budget) <= like.budget {
            likes.remove(key);
        }
    }
    let vectors = vectors(proof);
    // Without multipliers every pod counts in full: enough where nobody or
    // little goes.
    let zero = vec![0; dims];
    unit.fill(0);
    likes.retain(|_, like| worth(items, &guests[like.guests], &like.room, &zero, &unit, like.budget) > like.budget);
    for u in &vectors {
        for (i, unit) in unit.iter_mut().enumerate() {
            *unit = cost(&items.demand[i], u);
        }
        likes.retain(|_, like| worth(items, &guests[like.guests], &like.room, u, &unit, like.budget) > like.budget);
        if likes.is_empty() {
            break;
        }
    }
    let Some(like) = likes.values().min_by_key(|l| l.bin) else { return Ok(()) };
    let g = &guests[like.guests];
    let mut least: Option<i128> = None;
    for u in vectors {
        for guest in g {
            unit[guest.item] = cost(&items.demand[guest.item], u);
        }
        let w = worth(items, g, &like.room, u, &unit, i128::MAX);
        least = Some(least.map_or(w, |l| l.min(w)));
    }
    Err(match least {
        None => BrokenProof::Unbounded { bin: like.bin },
        Some(worth) => BrokenProof::Bin { bin: like.bin, worth, price: like.budget },
    })
}

/// What of a place's domains decides the value of an item there: others do not
/// tell bins apart.
fn telling(instance: &Instance, items: &Items) -> impl Fn(&[Option<u32>]) -> Vec<Option<u32>> {
    let mut asked = vec![false; instance.keys];
    items.needs.iter().flatten().for_each(|&k| asked[k] = true);
    let mut valued = vec![false; instance.keys];
    items.list.iter().filter_map(|i| i.by_domain.as_ref()).for_each(|by| valued[by.key] = true);
    move |domain| {
        let told = |(k, d): (usize, &Option<u32>)| match (valued[k], asked[k]) {
            (true, _) => *d,
            (false, true) => d.map(|_| 0),
            (false, false) => None,
        };
        domain.iter().enumerate().map(told).collect()
    }
}

/// The least worth of each node's room, scaled.
pub(super) fn nodes(instance: &Instance, proof: &Certificate, items: &Items) -> Vec<i128> {
    let mut guests: Vec<Vec<Guest>> = Vec::with_capacity(instance.nodes.len());
    for (n, node) in instance.nodes.iter().enumerate() {
        let open: Vec<bool> = items.admissions.iter().map(|&a| instance.admissions[a].nodes.contains(n)).collect();
        if !open.contains(&true) {
            guests.push(Vec::new());
            continue;
        }
        let joint: Vec<Option<u32>> = items.joint.iter().map(|j| Some(j.on_node(instance, n))).collect();
        guests.push(admitted(items, &open, &node.domain, &joint));
    }
    let rooms: Vec<Vec<i64>> = instance.nodes.iter().map(|n| with_units(proof, &n.free)).collect();
    let zero = vec![0; instance.dims + proof.roundings.len()];
    let mut unit = vec![0i128; items.list.len()];
    let mut out: Vec<i128> =
        rooms.iter().zip(&guests).map(|(room, g)| worth(items, g, room, &zero, &unit, i128::MAX)).collect();
    let mut listed = vec![false; out.len()];
    for p in &proof.nodes {
        listed[p.node] = true;
        for guest in &guests[p.node] {
            unit[guest.item] = cost(&items.demand[guest.item], &p.u);
        }
        let most = out[p.node];
        out[p.node] = most.min(worth(items, &guests[p.node], &rooms[p.node], &p.u, &unit, most));
    }
    if listed.iter().zip(&out).all(|(&l, &w)| l || w == 0) {
        return out;
    }
    for u in vectors(proof) {
        for (i, unit) in unit.iter_mut().enumerate() {
            *unit = cost(&items.demand[i], u);
        }
        for (n, room) in rooms.iter().enumerate().filter(|&(n, _)| !listed[n]) {
            if out[n] > 0 {
                out[n] = out[n].min(worth(items, &guests[n], room, u, &unit, out[n]));
            }
        }
    }
    out
}

/// All listed vectors, each once.
fn vectors(proof: &Certificate) -> Vec<&[i64]> {
    let mut seen = std::collections::BTreeSet::new();
    let all = proof.bins.iter().map(|b| b.u.as_slice()).chain(proof.nodes.iter().map(|n| n.u.as_slice()));
    all.filter(|u| seen.insert(*u)).collect()
}

fn admitted(items: &Items, open: &[bool], domain: &[Option<u32>], joint: &[Option<u32>]) -> Vec<Guest> {
    let mut same: BTreeMap<(usize, Option<usize>, i64), usize> = BTreeMap::new();
    let mut guests: Vec<Guest> = Vec::new();
    for i in (0..items.list.len()).filter(|&i| open[items.admission[i]]) {
        let Some(value) = items.value(i, domain).filter(|v| *v > 0) else { continue };
        let joint = items.joint_of[i].and_then(|j| joint[j].map(|most| (j, most)));
        let next = guests.len();
        let at = match items.alike[i] {
            Some(class) => *same.entry((class, joint.map(|j| j.0), value)).or_insert(next),
            None => next,
        };
        if at == next {
            guests.push(Guest { item: i, value: i128::from(value) << U_SHIFT, joint, count: 0 });
        }
        guests[at].count += u64::from(items.list[i].count);
    }
    guests
}

fn cost(demand: &[i64], u: &[i64]) -> i128 {
    demand.iter().zip(u).map(|(&r, &u)| i128::from(r) * i128::from(u)).sum()
}

/// Everything above `enough` may come back as any number above it.
fn worth(items: &Items, guests: &[Guest], room: &[i64], u: &[i64], unit: &[i128], enough: i128) -> i128 {
    let mut total = cost(room, u);
    // Groups with a common cap: by a rule, else by having the same demand.
    let mut joint: Vec<(bool, usize, i128, u64, u64)> = Vec::new();
    for g in guests {
        if total > enough {
            return total;
        }
        let extra = g.value - unit[g.item];
        if extra <= 0 {
            continue;
        }
        let count = g.count;
        let room = most(&items.demand[g.item], room);
        match (g.joint, items.alike[g.item]) {
            (Some((j, cap)), _) => joint.push((true, j, -extra, room.min(count), u64::from(cap))),
            (None, Some(class)) => joint.push((false, class, -extra, room.min(count), room)),
            (None, None) => total += extra * i128::from(room.min(count)),
        }
    }
    // Per group the dearest first, as many as fit in.
    joint.sort_unstable();
    for group in joint.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let mut left = group[0].4;
        for &(_, _, extra, most, _) in group {
            let take = left.min(most);
            total -= extra * i128::from(take);
            left -= take;
        }
    }
    total
}

/// The most pods of one demand that fit a room.
fn most(demand: &[i64], room: &[i64]) -> u64 {
    let fits = demand.iter().zip(room).filter(|(r, _)| **r > 0).map(|(&r, &a)| (a / r).max(0) as u64);
    fits.min().unwrap_or(u64::MAX >> 1)
}
