//! Pods that no rule can tell apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::labels::{NodeRule, Scope, Selector};
use super::picks::Selection;
use super::ports::{self, HostPort};
use super::topology::{Key, Slot};
use crate::kube::meta::Labels;
use crate::kube::pod::{Pod, PodAffinityTerm, PodSpec, SpreadConstraint};
use crate::resources::Resources;

/// Same namespace, labels, spec and requests.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub namespace: String,
    pub labels: Arc<Labels>,
    pub spec: Arc<PodSpec>,
    pub requests: Arc<Resources>,
    pub rule: NodeRule,
    pub ports: Vec<HostPort>,
    /// Hard spread constraints.
    pub spreads: Vec<Hard>,
    pub affinity: Option<Follow>,
    /// Required anti-affinity terms.
    pub avoids: Vec<Avoid>,
    /// Selections that select these pods.
    pub picks: Vec<usize>,
    /// Where they run.
    pub homes: BTreeMap<Slot, Home>,
}

/// Pods of a class on one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Home {
    pub live: u32,
    pub terminating: u32,
}

/// A `DoNotSchedule` constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hard {
    pub topology: Key,
    pub spread: usize,
    pub max_skew: u32,
    pub min_domains: u32,
    /// Whether the pod is one of those it counts.
    pub counts_itself: bool,
}

/// All required affinity terms together: a target satisfies every one.
#[derive(Clone, Debug)]
pub(super) struct Follow {
    pub pick: usize,
    /// One tally per term.
    pub tallies: Vec<usize>,
    /// Whether the pod is a target itself, and so may be the first.
    pub is_target: bool,
}

/// An anti-affinity term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avoid {
    pub topology: Key,
    /// Tally of the pods it keeps away from.
    pub targets: usize,
    /// Tally of the pods that carry it.
    pub carriers: usize,
}

impl Class {
    /// Without the parts that live in counters.
    pub fn of(pod: &Pod) -> Self {
        Self {
            namespace: pod.namespace.clone(),
            labels: pod.labels.clone(),
            spec: pod.spec.clone(),
            requests: pod.requests.clone(),
            rule: NodeRule::of(&pod.spec),
            ports: ports::of(&pod.spec),
            spreads: Vec::new(),
            affinity: None,
            avoids: Vec::new(),
            picks: Vec::new(),
            homes: BTreeMap::new(),
        }
    }

    pub fn hard_constraints(&self) -> impl Iterator<Item = &SpreadConstraint> {
        self.spec.topology_spread_constraints.iter().filter(|c| c.when_unsatisfiable != "ScheduleAnyway")
    }

    pub fn affinity_terms(&self) -> &[PodAffinityTerm] {
        let affinity = self.spec.affinity.as_ref().and_then(|a| a.pod_affinity.as_ref());
        affinity.map_or(&[], |a| &a.required)
    }

    pub fn anti_affinity_terms(&self) -> &[PodAffinityTerm] {
        let affinity = self.spec.affinity.as_ref().and_then(|a| a.pod_anti_affinity.as_ref());
        affinity.map_or(&[], |a| &a.required)
    }

    /// What a spread constraint counts.
    pub fn spread_selection(&self, constraint: &SpreadConstraint) -> Selection {
        let selector = Selector::of(constraint.label_selector.as_ref());
        let selector = selector.with_keys(&self.labels, &constraint.match_label_keys, &[]);
        Selection(vec![(Scope::only(&self.namespace), selector)])
    }

    /// What an affinity or anti-affinity term looks at.
    pub fn term_selection(&self, term: &PodAffinityTerm) -> (Scope, Selector) {
        let scope = if term.namespaces.is_empty() && term.namespace_selector.is_none() {
            Scope::only(&self.namespace)
        } else {
            let mut names = term.namespaces.clone();
            names.sort();
            names.dedup();
            Scope { names, selector: term.namespace_selector.as_ref().map(|s| Selector::of(Some(s))) }
        };
        let selector = Selector::of(term.label_selector.as_ref());
        (scope, selector.with_keys(&self.labels, &term.match_label_keys, &term.mismatch_label_keys))
    }

    /// Whether the order in which pods come matters to these.
    pub fn depends(&self) -> bool {
        !self.spreads.is_empty() || self.affinity.is_some()
    }
}
