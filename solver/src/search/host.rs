//! Host rules as the packer sees them: small counters per node.

use super::allot::Item;
use crate::arrival::{Index, Place};
use crate::instance::{Instance, Key, RuleKind};
use std::collections::BTreeMap;

/// What one unit of a slot does to one host rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The rule.
    pub rule: u32,
    /// Carriers.
    pub owners: u32,
    /// Counted pods; of a spread only those that carry a spread, since all
    /// others can arrive after the carriers.
    pub selected: u32,
    /// For a spread: the most such pods beside a carrier. `None` for
    /// anti-affinity.
    pub most: Option<u32>,
}

/// Counts of one rule on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The rule.
    pub rule: u32,
    /// Carriers.
    pub owners: u32,
    /// Counted pods.
    pub selected: u32,
}

/// The terms of an item, ascending by rule. Host affinity has none: bundles
/// and gates see to it.
pub fn terms(instance: &Instance, index: &Index, item: &Item) -> Vec<Term> {
    let mut counts: BTreeMap<usize, (u32, u32)> = BTreeMap::new();
    let on_host = |r: usize| instance.rules[r].key == Key::Host;
    for &(s, n) in &item.parts {
        for r in index.carried(instance, s, item.tier).filter(|&r| on_host(r)) {
            counts.entry(r).or_default().0 += n;
        }
        for &r in index.selected[s].iter().filter(|&&r| on_host(r)) {
            if matches!(instance.rules[r].kind, RuleKind::Anti) || index.early[s] {
                counts.entry(r).or_default().1 += n;
            }
        }
    }
    counts
        .into_iter()
        .filter(|(r, _)| !matches!(instance.rules[*r].kind, RuleKind::Affinity))
        .map(|(r, (owners, selected))| Term { rule: r as u32, owners, selected, most: most(instance, index, r) })
        .collect()
}

fn most(instance: &Instance, index: &Index, rule: usize) -> Option<u32> {
    let RuleKind::Spread(s) = &instance.rules[rule].kind else { return None };
    if index.new_node[rule] || s.scope.nodes.count_ones(..) < s.min_domains as usize {
        return Some(s.max_skew);
    }
    let base = &index.base[rule].selected;
    let count = |n: usize| base.binary_search_by_key(&n, |b| b.0).map_or(0, |i| base[i].1);
    Some(s.max_skew + s.scope.nodes.ones().map(count).min().unwrap_or(0))
}

/// The counts a node has before anything is placed.
pub fn held(place: &Place, instance: &Instance) -> Vec<Held> {
    place
        .host
        .iter()
        .map(|h| {
            let spread = matches!(instance.rules[h.rule].kind, RuleKind::Spread(_));
            Held { rule: h.rule as u32, owners: h.owners, selected: if spread { h.early } else { h.selected } }
        })
        .collect()
}

/// Whether one more unit with these terms may join.
pub fn admits(held: &[Held], terms: &[Term]) -> bool {
    terms.iter().all(|t| {
        let (owners, selected) = held.iter().find(|h| h.rule == t.rule).map_or((0, 0), |h| (h.owners, h.selected));
        match t.most {
            Some(most) => owners + t.owners == 0 || selected + t.selected <= most,
            None => {
                let alone = t.owners == 0 || selected == 0;
                let wanted = t.selected == 0 || owners == 0;
                alone && wanted
            }
        }
    })
}

/// Lets one unit join.
pub fn join(held: &mut Vec<Held>, terms: &[Term]) {
    for t in terms {
        match held.iter_mut().find(|h| h.rule == t.rule) {
            Some(h) => {
                h.owners += t.owners;
                h.selected += t.selected;
            }
            None => held.push(Held { rule: t.rule, owners: t.owners, selected: t.selected }),
        }
    }
}

/// How many units with these terms an empty node takes.
pub fn alone(terms: &[Term]) -> u32 {
    let mut most = u32::MAX;
    for t in terms {
        match t.most {
            Some(m) if t.owners > 0 => most = most.min(m.checked_div(t.selected).unwrap_or(u32::MAX)),
            None if t.owners > 0 && t.selected > 0 => most = 1,
            _ => {}
        }
    }
    most
}
