//! Rules within one node.

use std::collections::BTreeSet;

use super::contents::Item;
use crate::instance::{Instance, Key, Rule, RuleKind};

fn carries(instance: &Instance, r: usize, rule: &Rule, item: Item) -> bool {
    rule.owned_by(item.shape) && instance.shapes[item.shape].tiers[item.tier].waived.binary_search(&r).is_err()
}

/// What a rule counts on a place.
#[derive(Default)]
pub(super) struct Sums {
    pub both: u64,
    pub owners: u64,
    pub selected: u64,
    pub old_selected: u64,
    pub old_owners: u64,
}

pub(super) fn sums(instance: &Instance, items: &[Item], r: usize, node: Option<usize>, pods: &[(usize, u32)]) -> Sums {
    let rule = &instance.rules[r];
    let mut s = Sums::default();
    for &(i, n) in pods {
        match (carries(instance, r, rule, items[i]), rule.selects(items[i].shape)) {
            (true, true) => s.both += u64::from(n),
            (true, false) => s.owners += u64::from(n),
            (false, true) => s.selected += u64::from(n),
            (false, false) => {}
        }
    }
    if let Some(n) = node {
        let firm =
            |s: usize| rule.owned_by(s) && instance.shapes[s].tiers.iter().all(|t| t.waived.binary_search(&r).is_err());
        for &(shape, c) in &instance.nodes[n].residents {
            s.old_selected += if rule.selects(shape) { u64::from(c) } else { 0 };
            s.old_owners += if firm(shape) { u64::from(c) } else { 0 };
        }
        let sum = |list: &[(usize, u32)]| list.iter().filter(|p| p.0 == n).map(|p| u64::from(p.1)).sum::<u64>();
        s.old_selected += sum(&rule.present);
        s.old_owners += sum(&rule.present_owners);
    }
    s
}

/// Whether contents, perhaps still to grow, break no host rule for good and
/// land where their domain rules need a domain.
pub(super) fn may(instance: &Instance, items: &[Item], node: bool, at: usize, pods: &[(usize, u32)]) -> bool {
    let domain = if node { &instance.nodes[at].domain } else { &instance.bins[at].domain };
    instance.rules.iter().enumerate().all(|(r, rule)| {
        let s = sums(instance, items, r, node.then_some(at), pods);
        match (rule.key, &rule.kind) {
            (Key::Host, RuleKind::Anti) => {
                let owner = s.both + s.owners > 0;
                let selected = s.both + s.selected > 0;
                !(s.both > 1
                    || (s.both == 1 && s.owners + s.selected > 0)
                    || (s.owners > 0 && s.selected > 0)
                    || (owner && s.old_selected > 0)
                    || (selected && s.old_owners > 0))
            }
            // Left to the verifier: the minimum depends on all nodes.
            (Key::Host, RuleKind::Spread(_) | RuleKind::Affinity) => true,
            (Key::Domain(k), RuleKind::Spread(_) | RuleKind::Affinity) => s.both + s.owners == 0 || domain[k].is_some(),
            (Key::Domain(_), RuleKind::Anti) => true,
        }
    })
}

/// Whether a bin holding these pods leaves every choice it must.
pub(super) fn varied(instance: &Instance, items: &[Item], bin: usize, pods: &[(usize, u32)]) -> bool {
    instance.varieties.iter().filter(|v| v.bins.binary_search(&bin).is_ok()).all(|v| {
        let hosts = |b: usize| {
            (0..instance.dims).all(|d| {
                let used: i64 =
                    pods.iter().map(|&(i, n)| instance.shapes[items[i].shape].demand[d] * i64::from(n)).sum();
                used <= instance.bins[b].capacity[d]
            }) && pods.iter().all(|&(i, _)| {
                let t = &instance.shapes[items[i].shape].tiers[items[i].tier];
                instance.admissions[t.admission].bins.contains(b)
            })
        };
        let values: BTreeSet<u32> = v.bins.iter().zip(&v.value).filter(|&(&b, _)| hosts(b)).map(|(_, &x)| x).collect();
        values.len() >= v.least as usize
    })
}
