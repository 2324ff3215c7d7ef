//! Minimum hitting sets: the fewest reasons such that each spot is excluded by
//! at least one of them.
//!
//! Spots that the same reasons exclude count once, and of two such sets of
//! reasons where one holds the other only the smaller matters. What is left is
//! a handful, solved by deepening search with a packing bound.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;

/// Search steps per answer; beyond that the greedy answer stands.
const STEPS: u32 = 200_000;

/// What reasons do to the spots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cover {
    /// A smallest set of reasons that exclude every spot: positions, ascending.
    Reasons(Vec<usize>),
    /// Spots that no reason excludes.
    Open(FixedBitSet),
}

/// The fewest of `reasons`, each a set of spots that it excludes, which
/// together exclude all of `spots`. Equal sets of spots give the same answer
/// whatever the numbering of spots; among answers of one size those with
/// earlier reasons are preferred.
pub fn smallest_cover(reasons: &[FixedBitSet], spots: &FixedBitSet) -> Cover {
    let mut open = spots.clone();
    for r in reasons {
        open.difference_with(r);
    }
    if !open.is_clear() {
        return Cover::Open(open);
    }
    let masks = minimal(masks(reasons, spots).into_keys().collect());
    Cover::Reasons(Search { masks, steps: 0 }.run())
}

/// The distinct sets of reasons that exclude some spot, with the spots that
/// each excludes; found by splitting the spots reason by reason.
pub fn masks(reasons: &[FixedBitSet], spots: &FixedBitSet) -> BTreeMap<Vec<usize>, FixedBitSet> {
    let mut parts: Vec<(FixedBitSet, Vec<usize>)> = vec![(spots.clone(), Vec::new())];
    for (r, excluded) in reasons.iter().enumerate() {
        let mut next = Vec::with_capacity(parts.len());
        for (part, mask) in parts {
            let mut hit = part.clone();
            hit.intersect_with(excluded);
            let mut missed = part;
            missed.difference_with(excluded);
            if !hit.is_clear() {
                next.push((hit, [mask.as_slice(), &[r]].concat()));
            }
            if !missed.is_clear() {
                next.push((missed, mask));
            }
        }
        parts = next;
    }
    parts.into_iter().filter(|(part, _)| !part.is_clear()).map(|(part, mask)| (mask, part)).collect()
}

/// Masks that hold no other mask, the shortest first.
fn minimal(mut all: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    all.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    let mut kept: Vec<Vec<usize>> = Vec::new();
    for mask in all {
        if !kept.iter().any(|k| k.iter().all(|r| mask.binary_search(r).is_ok())) {
            kept.push(mask);
        }
    }
    kept
}

struct Search {
    masks: Vec<Vec<usize>>,
    steps: u32,
}

impl Search {
    fn run(mut self) -> Vec<usize> {
        let greedy = self.greedy();
        for size in self.packing(&[])..greedy.len() {
            let mut chosen = Vec::new();
            match self.descend(size, &mut chosen) {
                Some(true) => {
                    chosen.sort_unstable();
                    return chosen;
                }
                Some(false) => {}
                None => break,
            }
        }
        greedy
    }

    /// Whether `size` more reasons are enough; `None` when out of steps.
    fn descend(&mut self, size: usize, chosen: &mut Vec<usize>) -> Option<bool> {
        let Some(next) = self.masks.iter().find(|m| !hits(m, chosen)).cloned() else { return Some(true) };
        self.steps += 1;
        if self.steps > STEPS {
            return None;
        }
        if self.packing(chosen) > size {
            return Some(false);
        }
        for r in next {
            chosen.push(r);
            match self.descend(size - 1, chosen) {
                Some(false) => {}
                found => return found,
            }
            chosen.pop();
        }
        Some(false)
    }

    /// Masks without a common reason, none of them hit yet: each needs a
    /// reason of its own.
    fn packing(&self, chosen: &[usize]) -> usize {
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        let mut count = 0;
        for mask in self.masks.iter().filter(|m| !hits(m, chosen)) {
            if mask.iter().all(|r| !taken.contains(r)) {
                taken.extend(mask);
                count += 1;
            }
        }
        count
    }

    /// The reason that hits most goes first; what turns out superfluous goes.
    fn greedy(&self) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        loop {
            let open: Vec<&Vec<usize>> = self.masks.iter().filter(|m| !hits(m, &chosen)).collect();
            let reasons: BTreeSet<usize> = open.iter().flat_map(|m| m.iter().copied()).collect();
            let count = |r: usize| open.iter().filter(|m| m.contains(&r)).count();
            let best = reasons.into_iter().max_by_key(|&r| (count(r), std::cmp::Reverse(r)));
            match best {
                Some(r) => chosen.push(r),
                None => break,
            }
        }
        for at in (0..chosen.len()).rev() {
            let mut fewer = chosen.clone();
            fewer.remove(at);
            if self.masks.iter().all(|m| hits(m, &fewer)) {
                chosen = fewer;
            }
        }
        chosen.sort_unstable();
        chosen
    }
}

fn hits(mask: &[usize], chosen: &[usize]) -> bool {
    mask.iter().any(|r| chosen.contains(r))
}
