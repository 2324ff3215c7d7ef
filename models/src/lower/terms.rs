//! Rules between pods as they are written: selectors, and the order in which
//! a pod's preferences are given up. (spec 20 §§5.3, 10.1)

use std::collections::BTreeMap;

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use super::settings::PreferencePolicy;
use crate::kube::meta::Labels;
use crate::kube::pod::{Pod, PodAffinityTerm, SpreadConstraint};
use crate::kube::selector::{Expression, LabelSelector, Operator};
use crate::world::World;

/// Whose pods a selector looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Namespaces {
    All,
    Set(Vec<String>),
}

/// Pods by namespace and label. A nil selector selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodSelector {
    pub namespaces: Namespaces,
    pub selector: Option<LabelSelector>,
}

impl PodSelector {
    fn matches(&self, namespace: &str, labels: &Labels) -> bool {
        let here = match &self.namespaces {
            Namespaces::All => true,
            Namespaces::Set(names) => names.iter().any(|n| n == namespace),
        };
        here && self.selector.as_ref().is_some_and(|s| s.matches(labels))
    }
}

/// A rule that a pod carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    pub key: String,
    /// Index into [`Selectors`].
    pub selector: usize,
    pub kind: TermKind,
}

/// What it demands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TermKind {
    Spread { max_skew: u32, min_domains: u32, honor_affinity: bool, honor_taints: bool },
    Anti,
    Affinity,
}

/// One step of giving up: which preferred node-affinity term is still asked
/// for, and whether `PreferNoSchedule` taints are tolerated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Index into the preferred terms as written.
    pub preferred: Option<usize>,
    pub tolerates_prefer: bool,
}

/// A pod's rules and the steps of giving up preferences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ladder {
    /// Rule, and the step from which it is no longer asked for.
    pub terms: Vec<(Term, Option<usize>)>,
    pub steps: Vec<Step>,
}

/// The distinct selectors of all rules.
#[derive(Default)]
pub struct Selectors {
    all: IndexSet<PodSelector>,
    /// Selectors by one label they demand; those without such a label.
    by_label: FxHashMap<(String, String), Vec<usize>>,
    rest: Vec<usize>,
}

impl Selectors {
    fn intern(&mut self, selector: PodSelector) -> usize {
        let (index, new) = self.all.insert_full(selector);
        if new && let Some(s) = &self.all[index].selector {
            match s.match_labels.iter().next() {
                Some((k, v)) => self.by_label.entry((k.clone(), v.clone())).or_default().push(index),
                None => self.rest.push(index),
            }
        }
        index
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn get(&self, index: usize) -> &PodSelector {
        &self.all[index]
    }

    /// Selectors that match a pod with these labels, ascending.
    pub fn matching(&self, namespace: &str, labels: &Labels) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut key = (String::new(), String::new());
        for (k, v) in labels {
            key.0.clone_from(k);
            key.1.clone_from(v);
            found.extend(self.by_label.get(&key).into_iter().flatten());
        }
        found.extend(&self.rest);
        found.retain(|&i| self.all[i].matches(namespace, labels));
        found.sort_unstable();
        found
    }
}

/// Reads the rules of pods into terms.
pub struct TermReader<'w> {
    pub selectors: Selectors,
    namespaces: BTreeMap<&'w str, &'w Labels>,
    policy: PreferencePolicy,
    /// Some participating pool or node has a `PreferNoSchedule` taint.
    prefer_taints: bool,
}

impl<'w> TermReader<'w> {
    pub fn new(world: &'w World, policy: PreferencePolicy, prefer_taints: bool) -> Self {
        let namespaces = world.namespaces.iter().map(|n| (n.meta.name.as_str(), &n.meta.labels)).collect();
        Self { selectors: Selectors::default(), namespaces, policy, prefer_taints }
    }

    /// The ladder of a pod.
    pub fn ladder(&mut self, pod: &Pod) -> Ladder {
        let respect = self.policy == PreferencePolicy::Respect;
        let mut ladder = Ladder::default();
        let affinity = pod.spec.affinity.as_ref();
        let attract = affinity.and_then(|a| a.pod_affinity.as_ref());
        let repel = affinity.and_then(|a| a.pod_anti_affinity.as_ref());
        let wished = affinity.and_then(|a| a.node_affinity.as_ref()).map_or(&[][..], |n| &n.preferred);
        for (terms, kind) in [(attract, TermKind::Affinity), (repel, TermKind::Anti)] {
            for term in terms.map_or(&[][..], |t| &t.required) {
                let term = self.pod_term(pod, term, kind.clone());
                ladder.terms.push((term, None));
            }
        }
        let mut step = 0;
        if respect {
            for (terms, kind) in [(attract, TermKind::Affinity), (repel, TermKind::Anti)] {
                let mut preferred: Vec<_> = terms.map_or(&[][..], |t| &t.preferred).iter().collect();
                preferred.sort_by_key(|p| -p.weight);
                for p in preferred {
                    step += 1;
                    let term = self.pod_term(pod, &p.pod_affinity_term, kind.clone());
                    ladder.terms.push((term, Some(step)));
                }
            }
        }
        let before_wishes = step;
        let mut order: Vec<usize> = (0..wished.len()).collect();
        order.sort_by_key(|&i| -wished[i].weight);
        if respect {
            step += order.len();
        }
        for (constraint, drop) in self.spreads(pod, respect, &mut step) {
            let term = self.spread_term(pod, constraint);
            ladder.terms.push((term, drop));
        }
        for s in 0..=step {
            let preferred = if respect { order.get(s.saturating_sub(before_wishes)).copied() } else { None };
            ladder.steps.push(Step { preferred, tolerates_prefer: false });
        }
        if self.prefer_taints {
            ladder.steps.push(Step { preferred: None, tolerates_prefer: true });
        }
        ladder
    }

    /// The spread constraints with the step that drops them.
    fn spreads<'p>(&self, pod: &'p Pod, respect: bool, step: &mut usize) -> Vec<(&'p SpreadConstraint, Option<usize>)> {
        let all = &pod.spec.topology_spread_constraints;
        let mut drops: Vec<Option<usize>> = vec![None; all.len()];
        // The first soft one goes, and the last of the list takes its place.
        let mut list: Vec<usize> = (0..all.len()).collect();
        if respect {
            while let Some(at) = list.iter().position(|&i| is_soft(&all[i])) {
                *step += 1;
                drops[list[at]] = Some(*step);
                list.swap_remove(at);
            }
        }
        all.iter().zip(drops).filter(|(c, drop)| drop.is_some() || !is_soft(c)).collect()
    }

    fn spread_term(&mut self, pod: &Pod, c: &SpreadConstraint) -> Term {
        let selector = c.label_selector.clone().map(|s| with_label_keys(s, &c.match_label_keys, &[], &pod.labels));
        let selector =
            self.selectors.intern(PodSelector { namespaces: Namespaces::Set(vec![pod.namespace.clone()]), selector });
        Term {
            key: c.topology_key.clone(),
            selector,
            kind: TermKind::Spread {
                max_skew: c.max_skew.max(1),
                min_domains: c.min_domains.unwrap_or(1),
                honor_affinity: c.node_affinity_policy != "Ignore",
                honor_taints: c.node_taints_policy == "Honor",
            },
        }
    }

    fn pod_term(&mut self, pod: &Pod, t: &PodAffinityTerm, kind: TermKind) -> Term {
        let selector = t
            .label_selector
            .clone()
            .map(|s| with_label_keys(s, &t.match_label_keys, &t.mismatch_label_keys, &pod.labels));
        let namespaces = self.namespaces_of(pod, t);
        let selector = self.selectors.intern(PodSelector { namespaces, selector });
        Term { key: t.topology_key.clone(), selector, kind }
    }

    fn namespaces_of(&self, pod: &Pod, t: &PodAffinityTerm) -> Namespaces {
        let mut names = t.namespaces.clone();
        match &t.namespace_selector {
            Some(s) if s.match_labels.is_empty() && s.match_expressions.is_empty() => return Namespaces::All,
            Some(s) => {
                names.extend(self.namespaces.iter().filter(|(_, l)| s.matches(l)).map(|(n, _)| (*n).to_owned()));
            }
            None if names.is_empty() => names.push(pod.namespace.clone()),
            None => {}
        }
        names.sort();
        names.dedup();
        Namespaces::Set(names)
    }
}

fn is_soft(c: &SpreadConstraint) -> bool {
    c.when_unsatisfiable == "ScheduleAnyway"
}

/// Adds `key In [value]` (or `NotIn`) for each listed key that the pod has.
fn with_label_keys(mut s: LabelSelector, same: &[String], other: &[String], labels: &Labels) -> LabelSelector {
    for (keys, operator) in [(same, Operator::In), (other, Operator::NotIn)] {
        for key in keys {
            if let Some(value) = labels.get(key) {
                let e = Expression { key: key.clone(), operator, values: vec![value.clone()], min_values: None };
                if !s.match_expressions.contains(&e) {
                    s.match_expressions.push(e);
                }
            }
        }
    }
    s
}
