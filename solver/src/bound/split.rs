//! Rules on a domain key that the bound makes use of.

use super::joint::carries;
use super::reduced::Served;
use crate::instance::{Instance, Key, Rule, RuleKind};

/// A rule that decides how its pods divide among domains.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub rule: usize,
    pub key: usize,
    /// Pods of the group.
    pub pods: u64,
    /// Domains the group can use.
    pub open: Vec<bool>,
    /// Bounds per domain, one list per final minimum that is possible.
    pub boxes: Vec<Vec<(u64, u64)>>,
}

impl Split {
    /// The hull of the boxes.
    pub fn hull(&self, domain: usize) -> (f64, f64) {
        let low = self.boxes.iter().map(|b| b[domain].0).min().unwrap_or(0);
        let high = self.boxes.iter().map(|b| b[domain].1).max().unwrap_or(self.pods);
        (low as f64, high.min(self.pods) as f64)
    }

    /// The least `Σ ρ Y` the rule allows.
    pub fn least(&self, rho: &[f64]) -> f64 {
        let mut order: Vec<usize> = (0..rho.len()).collect();
        order.sort_by(|&a, &b| rho[a].total_cmp(&rho[b]));
        let each = self.boxes.iter().map(|bounds| {
            let mut left = self.pods as f64 - bounds.iter().map(|b| b.0 as f64).sum::<f64>();
            let mut total: f64 = bounds.iter().zip(rho).map(|(b, r)| b.0 as f64 * r).sum();
            for &d in &order {
                let take = left.min((bounds[d].1 - bounds[d].0) as f64);
                total += take * rho[d];
                left -= take;
            }
            total
        });
        each.fold(f64::INFINITY, f64::min)
    }
}

/// At most this many boxes per rule; beyond, the rule is dropped.
const BOXES: u64 = 64;

/// The rules that can be used, and per served entry which of them act on it:
/// all on one key.
pub(super) fn active(instance: &Instance, served: &[Served]) -> (Vec<Split>, Vec<Vec<usize>>) {
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); served.len()];
    let mut splits: Vec<Split> = Vec::new();
    for (r, rule) in instance.rules.iter().enumerate() {
        let Key::Domain(key) = rule.key else { continue };
        let group: Vec<usize> = (0..served.len()).filter(|&i| carries(instance, r, served[i])).collect();
        let elsewhere = group.iter().any(|&i| of[i].first().is_some_and(|&s| splits[s].key != key));
        if group.is_empty() || elsewhere || !settled(instance, rule) {
            continue;
        }
        let free = (0..served.len()).any(|i| rule.selects(served[i].0) && group.binary_search(&i).is_err());
        if let Some(split) = split(instance, r, rule, key, served, &group, free) {
            group.iter().for_each(|&i| of[i].push(splits.len()));
            splits.push(split);
        }
    }
    (splits, of)
}

fn split(
    instance: &Instance,
    r: usize,
    rule: &Rule,
    key: usize,
    served: &[Served],
    group: &[usize],
    free: bool,
) -> Option<Split> {
    let zones = instance.domains[key] as usize;
    let pods: u64 = group.iter().map(|&i| u64::from(served[i].2)).sum();
    let mut open = vec![false; zones];
    let mut nowhere = false;
    let mut counted = true;
    for &i in group {
        let a = &instance.admissions[instance.shapes[served[i].0].tiers[served[i].1].admission];
        let bins = a.bins.ones().map(|b| instance.bins[b].domain[key]);
        for d in bins.chain(a.nodes.ones().map(|n| instance.nodes[n].domain[key])) {
            match d {
                Some(d) => open[d as usize] = true,
                None => nowhere = true,
            }
        }
        if let RuleKind::Spread(s) = &rule.kind {
            counted &= a.bins.is_subset(&s.scope.bins) && a.nodes.is_subset(&s.scope.nodes);
        }
    }
    let (running, owners) = running(instance, r, rule, key);
    let boxes = match &rule.kind {
        RuleKind::Anti if !nowhere => {
            vec![(0..zones).map(|d| (0, u64::from(open[d] && running[d] + owners[d] == 0))).collect()]
        }
        RuleKind::Affinity if !free && running.iter().any(|&n| n > 0) => {
            vec![(0..zones).map(|d| (0, if open[d] && running[d] > 0 { pods } else { 0 })).collect()]
        }
        RuleKind::Spread(s) if !free && counted => {
            let mut eligible = vec![false; zones];
            s.eligible.iter().for_each(|&d| eligible[d as usize] = true);
            for n in s.scope.nodes.ones().filter(|&n| instance.nodes[n].removal.is_none()) {
                if let Some(d) = instance.nodes[n].domain[key] {
                    eligible[d as usize] = true;
                }
            }
            minima(pods, u64::from(s.max_skew), &open, &eligible, &running)?
        }
        RuleKind::Anti | RuleKind::Affinity | RuleKind::Spread(_) => return None,
    };
    let feasible =
        |b: &Vec<(u64, u64)>| b.iter().map(|x| x.0).sum::<u64>() <= pods && b.iter().map(|x| x.1).sum::<u64>() >= pods;
    let boxes: Vec<_> = boxes.into_iter().filter(feasible).collect();
    (!boxes.is_empty()).then_some(Split { rule: r, key, pods, open, boxes })
}

/// A box per final minimum over the eligible domains.
fn minima(pods: u64, skew: u64, open: &[bool], eligible: &[bool], running: &[u64]) -> Option<Vec<Vec<(u64, u64)>>> {
    let closed = (0..open.len()).filter(|&d| eligible[d] && !open[d]).map(|d| running[d]).min();
    if !eligible.contains(&true) {
        return None;
    }
    let bounds = |m: u64| -> Vec<(u64, u64)> {
        (0..open.len())
            .map(|d| match (open[d], eligible[d]) {
                (false, _) => (0, 0),
                (true, true) => (m.saturating_sub(running[d]), (m + skew).saturating_sub(running[d])),
                (true, false) => (0, (m + skew).saturating_sub(running[d])),
            })
            .collect()
    };
    // Sums grow with m: find the range by bisection.
    let top = closed.unwrap_or(u64::MAX).min(running.iter().max().copied().unwrap_or(0) + pods);
    let first = partition(top + 1, |m| bounds(m).iter().map(|b| b.1).sum::<u64>() < pods);
    let end = partition(top + 1, |m| bounds(m).iter().map(|b| b.0).sum::<u64>() <= pods);
    if first >= end || end - first > BOXES {
        return None;
    }
    Some((first..end).map(bounds).collect())
}

/// The first number below `end` for which `holds` fails, or `end`.
fn partition(end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let mid = low + (high - low) / 2;
        if holds(mid) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    low
}

/// Whether removing nodes changes nothing for the rule.
fn settled(instance: &Instance, rule: &Rule) -> bool {
    let there = rule.present.iter().chain(&rule.present_owners);
    there.filter(|p| p.1 > 0).all(|p| instance.nodes[p.0].removal.is_none())
        && instance
            .nodes
            .iter()
            .filter(|n| n.removal.is_some())
            .all(|n| n.residents.iter().all(|&(s, _)| !rule.selects(s) && !rule.owned_by(s)))
}

/// Selected pods and carriers per domain that run.
fn running(instance: &Instance, r: usize, rule: &Rule, key: usize) -> (Vec<u64>, Vec<u64>) {
    let mut selected = vec![0u64; instance.domains[key] as usize];
    let mut owners = selected.clone();
    let counts = |n: usize| match &rule.kind {
        RuleKind::Spread(s) => s.scope.nodes.contains(n),
        RuleKind::Anti | RuleKind::Affinity => true,
    };
    let add = |to: &mut Vec<u64>, n: usize, c: u32| {
        if let Some(d) = instance.nodes[n].domain[key] {
            to[d as usize] += u64::from(c);
        }
    };
    for (n, node) in instance.nodes.iter().enumerate() {
        for &(s, c) in &node.residents {
            if rule.selects(s) && counts(n) {
                add(&mut selected, n, c);
            }
            if rule.owned_by(s) && instance.shapes[s].tiers.iter().all(|t| t.waived.binary_search(&r).is_err()) {
                add(&mut owners, n, c);
            }
        }
    }
    rule.present.iter().filter(|p| counts(p.0)).for_each(|&(n, c)| add(&mut selected, n, c));
    rule.present_owners.iter().for_each(|&(n, c)| add(&mut owners, n, c));
    (selected, owners)
}
