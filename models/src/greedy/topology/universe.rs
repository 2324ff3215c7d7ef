//! Which domains there are (spec 20 §10.2).

use std::collections::{BTreeMap, BTreeSet};

use super::super::bits::Bits;
use super::super::book::{Book, KeyId};
use super::super::taint::{TaintBook, TaintsId, TolerationsId};
use crate::requirements::{Requirement, Requirements};

/// Values per topology key, with the taints of the pools that can make them.
#[derive(Debug, Default)]
pub(in super::super) struct Universe {
    keys: Vec<BTreeMap<String, BTreeSet<TaintsId>>>,
    /// Values seen on nodes, known to groups only through these.
    seen: Vec<BTreeSet<String>>,
}

impl Universe {
    /// A universe over the keys declared in `book`.
    pub fn new(book: &Book) -> Self {
        let n = book.key_names().count();
        Self { keys: vec![BTreeMap::new(); n], seen: vec![BTreeSet::new(); n] }
    }

    /// Adds what a pool with this template can make of `types`.
    pub fn add_pool<'a>(
        &mut self,
        book: &Book,
        template: &Requirements,
        taints: TaintsId,
        types: impl Iterator<Item = &'a Requirements> + Clone,
    ) {
        for (key, name) in book.key_names().enumerate() {
            let own = template.get(name);
            let values = own.into_iter().cloned().chain(types.clone().filter_map(|t| both(own, t.get(name))));
            for value in values.filter(|r| !r.complement).flat_map(|r| r.values) {
                self.keys[key].entry(value).or_default().insert(taints);
            }
        }
    }

    /// Adds the labels of a node.
    pub fn add_node(&mut self, book: &Book, labels: &Requirements) {
        for (key, name) in book.key_names().enumerate() {
            let values = labels.get(name).into_iter().filter(|r| !r.complement).flat_map(|r| &r.values);
            self.seen[key].extend(values.cloned());
        }
    }

    /// Tells `book` every value.
    pub fn publish(&self, book: &mut Book) {
        for (key, values) in self.keys.iter().enumerate() {
            book.set_values(key, values.keys().chain(&self.seen[key]).cloned().collect());
        }
    }

    /// Domains of `key` from pools: all, or those of pools whose taints a pod
    /// tolerates.
    pub fn domains(&self, book: &Book, taints: &mut TaintBook, key: KeyId, pod: Option<TolerationsId>) -> Bits {
        let open = self.keys[key].iter().filter(|(_, pools)| {
            pod.is_none_or(|tolerations| pools.iter().any(|pool| taints.tolerates(tolerations, *pool)))
        });
        open.filter_map(|(value, _)| book.value(key, value)).collect()
    }
}

fn both(a: Option<&Requirement>, b: Option<&Requirement>) -> Option<Requirement> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.intersect(b)),
        (a, b) => a.or(b).cloned(),
    }
}
