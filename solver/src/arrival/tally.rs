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
    /// Smallest count among the eligible domains.
    low: u32,
    /// For spreads on a domain key: whether a domain counts for the minimum.
    pub eligible: Vec<bool>,
    /// Why a domain counts towards the number of domains: one that only a node
    /// yet to be bought would open does not count before.
    pub sure: Vec<u32>,
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
                t.sure = vec![0; size];
                for &d in &s.eligible {
                    t.sure[d as usize] += 1;
                }
                for d in s.scope.nodes.ones().filter_map(|n| instance.nodes[n].domain[k]) {
                    t.sure[d as usize] += 1;
                }
            }
        }
        t.settle();
        t
    }

    /// The count a spread on a domain key compares with.
    pub fn minimum(&self, min_domains: u32) -> u32 {
        let enough = min_domains <= 1 || self.sure.iter().filter(|s| **s > 0).count() >= min_domains as usize;
        if enough && self.sure.iter().any(|&s| s > 0) { self.low } else { 0 }
    }

    /// Counts `by` more selected pods in a domain.
    pub fn shift(&mut self, domain: usize, by: i32) {
        let before = self.selected[domain];
        self.selected[domain] = before.saturating_add_signed(by);
        if self.selected[domain] < self.low || before == self.low {
            self.settle();
        }
    }

    /// A node in `domain` has been opened.
    pub fn open(&mut self, domain: usize) {
        self.sure[domain] += 1;
        if !self.eligible[domain] {
            self.eligible[domain] = true;
            self.settle();
        }
    }

    /// The last node opened in `domain` has been given back.
    pub fn close(&mut self, domain: usize) {
        self.sure[domain] = self.sure[domain].saturating_sub(1);
    }

    fn settle(&mut self) {
        let counts = self.selected.iter().zip(&self.eligible).filter(|(_, e)| **e).map(|(c, _)| *c);
        self.low = counts.min().unwrap_or(0);
    }
}
