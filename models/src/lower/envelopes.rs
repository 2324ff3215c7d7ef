//! Envelopes: several spot types bought as one choice.
//!
//! A spot launch weighs depth against price, so a node planned on one type
//! alone is what a reclaim takes first. An envelope holds what the smallest of
//! its members holds and costs what the dearest of its cheapest `k` costs;
//! pods planned into it fit whichever member the launch returns.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use millwright_solver::instance::{Bin, Instance};

use super::BinSource;
use super::offers::{Offers, is_spot};

/// Members dearer than this times the cheapest are no choice:
/// numerator and denominator.
pub const REACH: (i64, i64) = (5, 4);

/// A choice of spot types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Rows, cheapest first.
    pub members: Vec<usize>,
}

/// Adds envelopes of `k` types for the spot rows of an instance whose bins are
/// the rows, and stops single spot types from being bought.
pub fn add(instance: &mut Instance, bins: &mut Vec<BinSource>, offers: &Offers<'_>, k: usize) {
    if k <= 1 {
        return;
    }
    let rows = instance.bins.len();
    let mut groups: BTreeMap<Market<'_>, Vec<Candidate>> = BTreeMap::new();
    for (i, row) in offers.rows.iter().enumerate() {
        let offering = offers.offering(row);
        let mut admits = FixedBitSet::with_capacity(instance.admissions.len());
        for (a, admission) in instance.admissions.iter().enumerate() {
            admits.set(a, admission.bins.contains(i));
        }
        if is_spot(offering) && !admits.is_clear() {
            let key = (row.pool, row.variant, &*offering.zone, &*row.os, instance.bins[i].domain.clone());
            groups.entry(key).or_default().push(Candidate { bin: i, admits });
        }
    }
    let mut made: Vec<(Bin, Envelope)> = Vec::new();
    for group in groups.values() {
        for floor in group {
            made.push(envelope(instance, group, floor, k));
        }
    }
    for candidate in groups.values().flatten() {
        instance.bins[candidate.bin].buyable = false;
    }
    made.sort_by(|a, b| (a.1.members.as_slice(), a.0.price).cmp(&(b.1.members.as_slice(), b.0.price)));
    made.dedup_by(|a, b| a.1 == b.1);
    let total = rows + made.len();
    for admission in &mut instance.admissions {
        admission.bins = widen(&admission.bins, total, &made, rows);
    }
    for rule in &mut instance.rules {
        if let millwright_solver::instance::RuleKind::Spread(s) = &mut rule.kind {
            s.scope.bins = widen(&s.scope.bins, total, &made, rows);
        }
    }
    for (bin, envelope) in made {
        instance.bins.push(bin);
        bins.push(BinSource::Envelope(envelope));
    }
}

/// Types of one market can stand in for each other: pool, label variant, zone,
/// operating system, domains.
type Market<'o> = (usize, usize, &'o str, &'o str, Vec<Option<u32>>);

/// A spot row and the admissions that name it.
struct Candidate {
    bin: usize,
    admits: FixedBitSet,
}

/// The envelope of the `k` cheapest types that hold what `floor` holds and
/// are open to all that `floor` is open to.
fn envelope(instance: &Instance, group: &[Candidate], floor: &Candidate, k: usize) -> (Bin, Envelope) {
    let least = &instance.bins[floor.bin].capacity;
    let mut members: Vec<usize> = group
        .iter()
        .filter(|m| floor.admits.is_subset(&m.admits))
        .map(|m| m.bin)
        .filter(|&m| instance.bins[m].capacity.iter().zip(least).all(|(have, need)| have >= need))
        .collect();
    members.sort_by_key(|&m| (instance.bins[m].price, m));
    let cheapest = instance.bins[members[0]].price;
    members.retain(|&m| instance.bins[m].price * REACH.1 <= cheapest * REACH.0);
    members.truncate(k);
    let mut capacity = instance.bins[members[0]].capacity.clone();
    let mut limit_use: BTreeMap<usize, i64> = BTreeMap::new();
    for &m in &members {
        for (have, other) in capacity.iter_mut().zip(&instance.bins[m].capacity) {
            *have = (*have).min(*other);
        }
        for &(limit, amount) in &instance.bins[m].limit_use {
            let most = limit_use.entry(limit).or_default();
            *most = (*most).max(amount);
        }
    }
    let dearest = members.iter().map(|&m| instance.bins[m].price).max().unwrap_or(cheapest);
    let bin = Bin {
        capacity,
        price: dearest,
        domain: instance.bins[floor.bin].domain.clone(),
        limit_use: limit_use.into_iter().collect(),
        supply: None,
        buyable: true,
        in_bound: false,
    };
    (bin, Envelope { members })
}

/// The set over rows and envelopes: an envelope is in if all members are.
fn widen(set: &FixedBitSet, total: usize, made: &[(Bin, Envelope)], rows: usize) -> FixedBitSet {
    let mut wide = set.clone();
    wide.grow(total);
    for (i, (_, envelope)) in made.iter().enumerate() {
        wide.set(rows + i, envelope.members.iter().all(|&m| set.contains(m)));
    }
    wide
}
