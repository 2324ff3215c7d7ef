use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;

use super::joint::{self, Joint};
use crate::certificate::{Certificate, Item, Nanos};
use crate::instance::{Instance, Key, RuleKind};

/// The items of a certificate with what the rules say about them.
pub(super) struct Items<'a> {
    pub list: &'a [Item],
    /// Demand per item, whole units included.
    pub demand: Vec<Vec<i64>>,
    /// Items of one demand share a number, if there are several.
    pub alike: Vec<Option<usize>>,
    /// Index into `admissions`, per item.
    pub admission: Vec<usize>,
    /// Distinct admissions in use: indices into the instance.
    pub admissions: Vec<usize>,
    /// Keys on which the item needs a domain, since a rule of its asks.
    pub needs: Vec<Vec<usize>>,
    /// Rules that limit pods per node jointly.
    pub joint: Vec<Joint>,
    /// Index into `joint`, per item.
    pub joint_of: Vec<Option<usize>>,
    dearest: BTreeMap<usize, Nanos>,
    /// Per admission in use and key: possible domains, then "no domain".
    possible: Vec<Vec<FixedBitSet>>,
}

impl<'a> Items<'a> {
    pub fn new(instance: &'a Instance, proof: &'a Certificate) -> Self {
        let list = proof.items.as_slice();
        let mut admissions: Vec<usize> =
            list.iter().map(|i| instance.shapes[i.shape].tiers[i.tier].admission).collect();
        admissions.sort_unstable();
        admissions.dedup();
        let admission = list
            .iter()
            .map(|i| admissions.partition_point(|&a| a < instance.shapes[i.shape].tiers[i.tier].admission))
            .collect();
        let mut dearest = BTreeMap::new();
        for i in list {
            let most = i.by_domain.iter().flat_map(|b| &b.dual).copied().fold(i.dual, Nanos::max);
            let entry = dearest.entry(i.shape).or_insert(0);
            *entry = most.max(*entry);
        }
        let mut needs = vec![Vec::new(); list.len()];
        for (r, rule) in instance.rules.iter().enumerate() {
            let Key::Domain(key) = rule.key else { continue };
            if !matches!(rule.kind, RuleKind::Spread(_) | RuleKind::Affinity) {
                continue;
            }
            for (i, item) in list.iter().enumerate() {
                if carries(instance, r, item) {
                    needs[i].push(key);
                }
            }
        }
        let (joint, joint_of) = joint::groups(instance, list);
        let possible = admissions.iter().map(|&a| possible(instance, a)).collect();
        let demand: Vec<Vec<i64>> = list.iter().map(|i| with_units(proof, &instance.shapes[i.shape].demand)).collect();
        let mut members: BTreeMap<&[i64], Vec<usize>> = BTreeMap::new();
        for (i, d) in demand.iter().enumerate() {
            members.entry(d).or_default().push(i);
        }
        let mut alike = vec![None; list.len()];
        for (class, same) in members.into_values().filter(|m| m.len() > 1).enumerate() {
            same.into_iter().for_each(|i| alike[i] = Some(class));
        }
        Items { list, demand, alike, admission, admissions, needs, joint, joint_of, dearest, possible }
    }

    /// The best value any item of a shape has anywhere.
    pub fn dearest(&self, shape: usize) -> Nanos {
        self.dearest.get(&shape).copied().unwrap_or(0)
    }

    /// The value of an item in a domain vector, `None` if a rule of the item
    /// forbids the place.
    pub fn value(&self, i: usize, domain: &[Option<u32>]) -> Option<Nanos> {
        if self.needs[i].iter().any(|&k| domain[k].is_none()) {
            return None;
        }
        let item = &self.list[i];
        Some(match &item.by_domain {
            None => item.dual,
            Some(by) => domain[by.key].map_or(item.dual, |d| by.dual[d as usize]),
        })
    }

    /// Whether an item could be in a domain of a key; `None` asks for places
    /// without one.
    pub fn possible(&self, i: usize, key: usize, domain: Option<usize>) -> bool {
        let set = &self.possible[self.admission[i]][key];
        match domain {
            Some(d) => set.contains(d),
            None => set.contains(set.len() - 1) && !self.needs[i].contains(&key),
        }
    }
}

/// Amounts per dimension of the instance, then in the units of the roundings.
pub(super) fn with_units(proof: &Certificate, amounts: &[i64]) -> Vec<i64> {
    amounts.iter().copied().chain(proof.roundings.iter().map(|r| amounts[r.dim] / r.unit)).collect()
}

/// Whether the pods of an item carry a rule.
pub(super) fn carries(instance: &Instance, r: usize, item: &Item) -> bool {
    instance.rules[r].owned_by(item.shape)
        && instance.shapes[item.shape].tiers[item.tier].waived.binary_search(&r).is_err()
}

fn possible(instance: &Instance, admission: usize) -> Vec<FixedBitSet> {
    let a = &instance.admissions[admission];
    let mut out: Vec<FixedBitSet> =
        instance.domains.iter().map(|&n| FixedBitSet::with_capacity(n as usize + 1)).collect();
    let bins = a.bins.ones().map(|b| &instance.bins[b].domain);
    for domain in bins.chain(a.nodes.ones().map(|n| &instance.nodes[n].domain)) {
        for (set, d) in out.iter_mut().zip(domain) {
            let last = set.len() - 1;
            set.insert(d.map_or(last, |d| d as usize));
        }
    }
    out
}
