//! Counters of InterPodAffinity: pods per domain of a topology key, whatever
//! the node is otherwise.

use rustc_hash::FxHashMap;

use super::topology::{Domain, Key};

/// Pods of a selection, or pods that carry a term, per domain.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    pub topology: Key,
    counts: FxHashMap<Domain, u32>,
    total: u64,
    /// Goes up with every change.
    pub version: u64,
}

impl Tally {
    pub fn new(topology: Key) -> Self {
        Self { topology, counts: FxHashMap::default(), total: 0, version: 0 }
    }

    pub fn holds(&self, domain: Domain) -> bool {
        self.counts.contains_key(&domain)
    }

    /// Whether nothing is counted in any domain.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub fn add(&mut self, domain: Option<Domain>, pods: u32) {
        let Some(domain) = domain.filter(|_| pods > 0) else { return };
        *self.counts.entry(domain).or_default() += pods;
        self.total += u64::from(pods);
        self.version += 1;
    }

    pub fn take(&mut self, domain: Option<Domain>, pods: u32) {
        let Some((domain, count)) = domain.and_then(|d| Some((d, self.counts.get_mut(&d)?))) else { return };
        let taken = pods.min(*count);
        *count -= taken;
        if *count == 0 {
            self.counts.remove(&domain);
        }
        self.total -= u64::from(taken);
        self.version += 1;
    }
}
