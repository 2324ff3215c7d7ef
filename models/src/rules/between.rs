//! PodTopologySpread and InterPodAffinity, answered from the counters.

use super::counters::Counters;
use super::refusal::Refusal;
use super::topology::{Domain, Key, Slot};

impl Counters {
    /// The filters that look at other pods.
    pub fn admits(&self, class: usize, slot: Slot) -> Result<(), Refusal> {
        self.spreads_admit(class, slot)?;
        self.affinity_admits(class, slot)?;
        self.avoids_admit(class, slot)?;
        self.residents_admit(class, slot)
    }

    fn spreads_admit(&self, class: usize, slot: Slot) -> Result<(), Refusal> {
        for hard in &self.classes[class].spreads {
            let Some(domain) = self.topologies.domain(hard.topology, slot) else {
                return Err(Refusal::SpreadLabel { key: self.topologies.key(hard.topology).to_owned() });
            };
            let spread = &self.spreads[hard.spread];
            let lowest = i64::from(spread.lowest(&self.fields[spread.field], hard.min_domains));
            let count = i64::from(spread.count(domain)) + i64::from(hard.counts_itself);
            if count - lowest > i64::from(hard.max_skew) {
                return Err(Refusal::Spread {
                    key: self.topologies.key(hard.topology).to_owned(),
                    domain: self.topologies.name(hard.topology, domain).to_owned(),
                    count,
                    lowest,
                    max_skew: i64::from(hard.max_skew),
                });
            }
        }
        Ok(())
    }

    /// A target in the domain of every term; or, while there is none at all,
    /// the pod itself as the first one, on a node that has every key.
    fn affinity_admits(&self, class: usize, slot: Slot) -> Result<(), Refusal> {
        let Some(follow) = &self.classes[class].affinity else { return Ok(()) };
        let tallies = || follow.tallies.iter().map(|t| &self.tallies[*t]);
        let first = follow.is_target && tallies().all(|t| t.is_empty());
        for tally in tallies() {
            let domain = self.topologies.domain(tally.topology, slot);
            if !domain.is_some_and(|d| first || tally.holds(d)) {
                return Err(Refusal::Affinity { key: self.topologies.key(tally.topology).to_owned() });
            }
        }
        Ok(())
    }

    /// The pod's own anti-affinity.
    fn avoids_admit(&self, class: usize, slot: Slot) -> Result<(), Refusal> {
        for avoid in &self.classes[class].avoids {
            let domain = self.topologies.domain(avoid.topology, slot);
            if let Some(domain) = domain.filter(|d| self.tallies[avoid.targets].holds(*d)) {
                let (key, domain) = self.words(avoid.topology, domain);
                return Err(Refusal::AntiAffinity { key, domain });
            }
        }
        Ok(())
    }

    /// The anti-affinity of the pods that run.
    fn residents_admit(&self, class: usize, slot: Slot) -> Result<(), Refusal> {
        let picks = self.classes[class].picks.iter().map(|p| &self.picks.all[*p]);
        for carriers in picks.flat_map(|p| &p.carriers).map(|c| &self.carriers[*c]) {
            let domain = self.topologies.domain(carriers.topology, slot);
            if let Some(domain) = domain.filter(|d| carriers.holds(*d)) {
                let (key, domain) = self.words(carriers.topology, domain);
                return Err(Refusal::ExistingAntiAffinity { key, domain });
            }
        }
        Ok(())
    }

    fn words(&self, key: Key, domain: Domain) -> (String, String) {
        (self.topologies.key(key).to_owned(), self.topologies.name(key, domain).to_owned())
    }
}

/// What a class is to the order in which pods come.
impl Counters {
    /// Whether pods of `class` may come at any time, and matter to none.
    pub fn is_indifferent(&self, class: usize) -> bool {
        !self.classes[class].depends() && self.is_harmless(class)
    }

    /// Whether a pod of `class` that comes never makes another illegal that
    /// would be legal otherwise and is so in the end.
    pub fn is_harmless(&self, class: usize) -> bool {
        self.classes[class].picks.iter().all(|p| self.picks.all[*p].spreads.is_empty() && !self.picks.all[*p].followed)
    }

    /// Whether some spread counts `class`, which has no rule of its own.
    pub fn is_stranger(&self, class: usize) -> bool {
        let class = &self.classes[class];
        !class.depends() && class.picks.iter().any(|p| !self.picks.all[*p].spreads.is_empty())
    }

    /// Whether some spread counts `class` that it does not carry itself.
    pub fn is_foreign(&self, class: usize) -> bool {
        let class = &self.classes[class];
        let mut counting = class.picks.iter().flat_map(|p| &self.picks.all[*p].spreads);
        counting.any(|s| class.spreads.iter().all(|own| own.spread != *s))
    }

    /// The keys that matter to the order: of its own rules, and of the spreads
    /// that count it.
    pub fn keys_of(&self, class: usize) -> Vec<Key> {
        let class = &self.classes[class];
        let own = class.spreads.iter().map(|h| h.topology);
        let follow = class.affinity.iter().flat_map(|f| &f.tallies).map(|t| self.tallies[*t].topology);
        let spreads = class.picks.iter().flat_map(|p| &self.picks.all[*p].spreads);
        let counted = spreads.map(|s| self.fields[self.spreads[*s].field].filter.topology);
        let mut keys: Vec<Key> = own.chain(follow).chain(counted).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Goes up whenever a counter moves that the rules of `class` look at.
    pub fn stamp(&self, class: usize) -> u64 {
        let class = &self.classes[class];
        let spreads = class.spreads.iter().map(|h| self.spreads[h.spread].version);
        let tallies = class.affinity.iter().flat_map(|f| &f.tallies).map(|t| self.tallies[*t].version);
        spreads.chain(tallies).sum()
    }
}
