//! Topology keys and their domains: the distinct values of a node label.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::kube::meta::Labels;

/// Index of a topology key.
pub(super) type Key = usize;
/// Index of a value of a key.
pub(super) type Domain = u32;
/// Index of a node, never used again once the node is gone.
pub(super) type Slot = usize;

/// The domains of every key that some rule looks at.
#[derive(Clone, Debug, Default)]
pub(super) struct Topologies {
    index: HashMap<String, Key>,
    all: Vec<Topology>,
}

#[derive(Clone, Debug)]
struct Topology {
    key: String,
    index: FxHashMap<String, Domain>,
    names: Vec<String>,
    of: Vec<Option<Domain>>,
}

impl Topologies {
    /// The index of `key`; `nodes` are the labels of all slots so far.
    pub fn intern<'a>(&mut self, key: &str, nodes: impl Iterator<Item = Option<&'a Labels>>) -> Key {
        if let Some(known) = self.index.get(key) {
            return *known;
        }
        let mut topology =
            Topology { key: key.to_owned(), index: FxHashMap::default(), names: Vec::new(), of: Vec::new() };
        nodes.for_each(|labels| topology.add(labels));
        self.all.push(topology);
        self.index.insert(key.to_owned(), self.all.len() - 1);
        self.all.len() - 1
    }

    /// A new slot with a node of these labels.
    pub fn add_node(&mut self, labels: &Labels) {
        self.all.iter_mut().for_each(|t| t.add(Some(labels)));
    }

    pub fn key(&self, key: Key) -> &str {
        &self.all[key].key
    }

    pub fn domain(&self, key: Key, slot: Slot) -> Option<Domain> {
        self.all[key].of[slot]
    }

    pub fn name(&self, key: Key, domain: Domain) -> &str {
        &self.all[key].names[domain as usize]
    }
}

impl Topology {
    fn add(&mut self, labels: Option<&Labels>) {
        let value = labels.and_then(|l| l.get(&self.key));
        self.of.push(value.map(|value| match self.index.get(value) {
            Some(known) => *known,
            None => {
                let fresh = self.names.len() as Domain;
                self.index.insert(value.clone(), fresh);
                self.names.push(value.clone());
                fresh
            }
        }));
    }
}
