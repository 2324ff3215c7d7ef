//! Counters of PodTopologySpread: pods of one selection per domain, with the
//! lowest count at hand.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::labels::NodeRule;
use super::taints;
use super::topology::{Domain, Key, Slot, Topologies};
use crate::kube::node::Node;
use crate::kube::pod::Toleration;

/// Which nodes a constraint looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Filter {
    pub topology: Key,
    /// Keys of all hard constraints of the pod: a node that lacks one of them
    /// counts for none.
    pub keys: Vec<Key>,
    /// `nodeAffinityPolicy: Honor`.
    pub rule: NodeRule,
    /// `nodeTaintsPolicy: Honor`.
    pub tolerations: Option<Vec<Toleration>>,
}

/// The nodes and domains that a [`Filter`] admits; shared by counters.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub filter: Filter,
    admitted: Vec<bool>,
    nodes: FxHashMap<Domain, u32>,
}

/// How many pods of one selection are in each domain of a [`Field`].
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub field: usize,
    counts: FxHashMap<Domain, u32>,
    /// How many domains hold a count; zeros are not listed.
    levels: BTreeMap<u32, u32>,
    /// Goes up with every change.
    pub version: u64,
}

impl Field {
    pub fn new(filter: Filter) -> Self {
        Self { filter, admitted: Vec::new(), nodes: FxHashMap::default() }
    }

    /// The next slot; `None` for a node that is gone.
    pub fn add_slot(&mut self, node: Option<&Node>, topologies: &Topologies) {
        let slot = self.admitted.len();
        let admitted = node.is_some_and(|node| self.filter.admits(node, slot, topologies));
        self.admitted.push(admitted);
        if let (true, Some(domain)) = (admitted, topologies.domain(self.filter.topology, slot)) {
            *self.nodes.entry(domain).or_default() += 1;
        }
    }

    pub fn remove_slot(&mut self, slot: Slot, topologies: &Topologies) {
        if !std::mem::take(&mut self.admitted[slot]) {
            return;
        }
        let Some(domain) = topologies.domain(self.filter.topology, slot) else { return };
        if let Some(nodes) = self.nodes.get_mut(&domain) {
            *nodes -= 1;
            if *nodes == 0 {
                self.nodes.remove(&domain);
            }
        }
    }

    pub fn admits(&self, slot: Slot) -> bool {
        self.admitted[slot]
    }

    pub fn domains(&self) -> usize {
        self.nodes.len()
    }
}

impl Filter {
    fn admits(&self, node: &Node, slot: Slot, topologies: &Topologies) -> bool {
        self.keys.iter().all(|key| topologies.domain(*key, slot).is_some())
            && self.rule.admits(&node.meta.name, &node.meta.labels)
            && self.tolerations.as_ref().is_none_or(|t| taints::repels(&node.taints, t).is_none())
    }
}

impl Spread {
    pub fn new(field: usize) -> Self {
        Self { field, counts: FxHashMap::default(), levels: BTreeMap::new(), version: 0 }
    }

    pub fn count(&self, domain: Domain) -> u32 {
        self.counts.get(&domain).copied().unwrap_or(0)
    }

    /// The count that skew is measured from.
    pub fn lowest(&self, field: &Field, min_domains: u32) -> u32 {
        if field.domains() < min_domains as usize || self.counts.len() < field.domains() {
            return 0;
        }
        self.levels.first_key_value().map_or(0, |(count, _)| *count)
    }

    pub fn add(&mut self, domain: Domain, pods: u32) {
        self.replace(domain, self.count(domain) + pods);
    }

    pub fn take(&mut self, domain: Domain, pods: u32) {
        self.replace(domain, self.count(domain).saturating_sub(pods));
    }

    fn replace(&mut self, domain: Domain, now: u32) {
        self.version += 1;
        let before = match now {
            0 => self.counts.remove(&domain).unwrap_or(0),
            _ => self.counts.insert(domain, now).unwrap_or(0),
        };
        if let Some(domains) = self.levels.get_mut(&before) {
            *domains -= 1;
            if *domains == 0 {
                self.levels.remove(&before);
            }
        }
        if now > 0 {
            *self.levels.entry(now).or_default() += 1;
        }
    }
}
