//! Finding the groups that select a pod without trying them all.

use rustc_hash::FxHashMap;

use super::{Group, GroupId, Namespaces};
use crate::kube::meta::Labels;
use crate::kube::selector::LabelSelector;

/// Groups by one label that their selector asks for.
#[derive(Debug, Default)]
pub(super) struct Index {
    by_label: FxHashMap<(String, String), Vec<GroupId>>,
    others: Vec<GroupId>,
}

impl Index {
    pub fn insert(&mut self, id: GroupId, selector: Option<&LabelSelector>) {
        let Some(selector) = selector else { return };
        match selector.match_labels.iter().next() {
            Some((k, v)) => self.by_label.entry((k.clone(), v.clone())).or_default().push(id),
            None => self.others.push(id),
        }
    }

    /// The groups that select a pod with these labels, in ascending order.
    pub fn matching(&self, groups: &[Group], namespace: &str, labels: &Labels) -> Vec<GroupId> {
        let by_label = labels.iter().filter_map(|(k, v)| self.by_label.get(&(k.clone(), v.clone()))).flatten();
        let candidates = by_label.chain(&self.others).copied();
        let mut found: Vec<_> = candidates.filter(|id| groups[*id].selects(namespace, labels)).collect();
        found.sort_unstable();
        found
    }
}

impl Group {
    pub(super) fn selects(&self, namespace: &str, labels: &Labels) -> bool {
        let near = match &self.id.namespaces {
            Namespaces::All => true,
            Namespaces::These(names) => names.contains(namespace),
        };
        near && self.id.selector.as_ref().is_some_and(|s| s.matches(labels))
    }
}
