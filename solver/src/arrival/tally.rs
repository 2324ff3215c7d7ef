use super::Index;
use crate::instance::{Instance, Key, RuleKind};

/// Counts of one rule while pods arrive one after the other.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Counted pods per domain; empty for host rules.
    pub selected: Vec<u32>,
    /// Carriers per domain; empty for host rules.
    pub owners: Vec<u32>,
    /// Counted pods anywhere.
    pub total: u64,
    /// For spreads on a domain key: whether a domain counts for the minimum.
    pub eligible: Vec<bool>,
    /// The same for the number of domains: a domain that only a node yet to
    /// be bought would open does not count before.
    pub sure: Vec<bool>,
}

impl Tally {
    /// The counts before anything is placed.
    pub fn new(instance: &Instance, index: &Index, rule: usize) -> Self {
        let r = &instance.rules[rule];
        let size = match r.key {
            Key::Host => 0,
            Key::Domain(k) => instance.domains[k] as usize,
        };
        let mut t = Tally { selected: vec![0; size], owners: vec![0; size], ..Tally::default() };
        for &(n, count) in &index.base[rule].selected {
            if let RuleKind::Spread(s) = &r.kind
                && !s.scope.nodes.contains(n)
            {
                continue;
            }
            t.total += u64::from(count);
            if let Key::Domain(k) = r.key
                && let Some(d) = instance.nodes[n].domain[k]
            {
                t.selected[d as usize] += count;
            }
        }
        if let Key::Domain(k) = r.key {
            for &(n, count) in &index.base[rule].owners {
                if let Some(d) = instance.nodes[n].domain[k] {
                    t.owners[d as usize] += count;
                }
            }
            if matches!(r.kind, RuleKind::Spread(_)) {
                t.eligible = vec![false; size];
                for &d in &index.eligible[rule] {
                    t.eligible[d as usize] = true;
                }
            }
            if let RuleKind::Spread(s) = &r.kind {
                t.sure = vec![false; size];
                for &d in &s.eligible {
                    t.sure[d as usize] = true;
                }
                for d in s.scope.nodes.ones().filter_map(|n| instance.nodes[n].domain[k]) {
                    t.sure[d as usize] = true;
                }
            }
        }
        t
    }

    /// The count a spread on a domain key compares with.
    pub fn minimum(&self, min_domains: u32) -> u32 {
        let (mut domains, mut least) = (0, u32::MAX);
        for (d, &count) in self.selected.iter().enumerate() {
            domains += u32::from(self.sure[d]);
            if self.eligible[d] {
                least = least.min(count);
            }
        }
        if domains < min_domains || least == u32::MAX { 0 } else { least }
    }
}
