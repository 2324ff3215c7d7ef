//! Selections of pods that rules count, found by an index over labels.

use std::collections::HashMap;

use super::class::Class;
use super::labels::{Namespaces, Scope, Selector};
use crate::kube::meta::Labels;

/// Pods that satisfy every part: namespaces and labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Selection(pub Vec<(Scope, Selector)>);

/// A selection and the counters that use it.
#[derive(Clone, Debug)]
pub(super) struct Pick {
    pub selection: Selection,
    /// The classes it selects.
    pub classes: Vec<usize>,
    pub spreads: Vec<usize>,
    /// Tallies of selected pods.
    pub tallies: Vec<usize>,
    /// Tallies of the carriers of anti-affinity terms against selected pods.
    pub carriers: Vec<usize>,
    /// Whether an affinity looks for selected pods.
    pub followed: bool,
}

/// All selections in force.
#[derive(Clone, Debug, Default)]
pub(super) struct Picks {
    pub all: Vec<Pick>,
    index: HashMap<Selection, usize>,
    by_pair: HashMap<(String, String), Vec<usize>>,
    without_pair: Vec<usize>,
}

impl Selection {
    pub fn selects(&self, namespace: &str, labels: &Labels, namespaces: &Namespaces) -> bool {
        self.0.iter().all(|(scope, s)| s.matches(labels) && scope.admits(namespace, namespaces))
    }

    fn pair(&self) -> Option<(String, String)> {
        let (key, value) = self.0.iter().find_map(|(_, s)| s.pair())?;
        Some((key.to_owned(), value.to_owned()))
    }
}

impl Picks {
    /// The index of a selection, and whether it is new.
    pub fn intern(&mut self, mut selection: Selection) -> (usize, bool) {
        selection.0.sort();
        selection.0.dedup();
        if let Some(known) = self.index.get(&selection) {
            return (*known, false);
        }
        let fresh = self.all.len();
        match selection.pair() {
            Some(pair) => self.by_pair.entry(pair).or_default().push(fresh),
            None => self.without_pair.push(fresh),
        }
        self.index.insert(selection.clone(), fresh);
        self.all.push(Pick {
            selection,
            classes: Vec::new(),
            spreads: Vec::new(),
            tallies: Vec::new(),
            carriers: Vec::new(),
            followed: false,
        });
        (fresh, true)
    }

    /// The selections that select a pod, in order.
    pub fn selecting(&self, namespace: &str, labels: &Labels, namespaces: &Namespaces) -> Vec<usize> {
        let pairs = labels.iter().filter_map(|(k, v)| self.by_pair.get(&(k.clone(), v.clone())));
        let candidates = pairs.flatten().chain(&self.without_pair).copied();
        let mut found: Vec<usize> =
            candidates.filter(|p| self.all[*p].selection.selects(namespace, labels, namespaces)).collect();
        found.sort_unstable();
        found
    }
}

/// Classes by label pair, to find those a new selection selects.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassIndex {
    by_pair: HashMap<(String, String), Vec<usize>>,
}

impl ClassIndex {
    pub fn add(&mut self, class: usize, labels: &Labels) {
        for (key, value) in labels {
            self.by_pair.entry((key.clone(), value.clone())).or_default().push(class);
        }
    }

    pub fn selected(&self, selection: &Selection, classes: &[Class], namespaces: &Namespaces) -> Vec<usize> {
        let selects = |class: &usize| {
            let class = &classes[*class];
            selection.selects(&class.namespace, &class.labels, namespaces)
        };
        match selection.pair() {
            Some(pair) => self.by_pair.get(&pair).into_iter().flatten().copied().filter(selects).collect(),
            None => (0..classes.len()).filter(selects).collect(),
        }
    }
}
