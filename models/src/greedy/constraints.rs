//! What a pod asks of its node, and the order in which it gives up.

use super::PreferencePolicy;
use crate::karpenter::labels::HOSTNAME;
use crate::kube::node::Taint;
use crate::kube::pod::{PodAffinityTerm, PodSpec, PreferredNode, PreferredPod, SpreadConstraint, Toleration};
use crate::kube::selector::NodeSelectorTerm;
use crate::requirements::{Requirement, Requirements};

/// A pod's rules, the private copy that relaxation works on (spec 20 §5).
#[derive(Clone, Debug)]
pub(super) struct Constraints {
    pub selector: Requirements,
    /// Alternatives; only the first is in force.
    pub terms: Vec<NodeSelectorTerm>,
    /// Heaviest first, like the other preferences.
    pub preferred: Vec<PreferredNode>,
    pub affinity: Vec<PodAffinityTerm>,
    pub preferred_affinity: Vec<PreferredPod>,
    pub anti_affinity: Vec<PodAffinityTerm>,
    pub preferred_anti_affinity: Vec<PreferredPod>,
    pub spread: Vec<SpreadConstraint>,
    pub tolerations: Vec<Toleration>,
}

/// Whether the scheduler may leave the constraint unmet.
fn is_soft(constraint: &SpreadConstraint) -> bool {
    constraint.when_unsatisfiable == "ScheduleAnyway"
}

impl Constraints {
    /// The unrelaxed rules of a pod.
    pub fn new(spec: &PodSpec, policy: PreferencePolicy) -> Self {
        let affinity = spec.affinity.clone().unwrap_or_default();
        let node = affinity.node_affinity.unwrap_or_default();
        let (with, against) =
            (affinity.pod_affinity.unwrap_or_default(), affinity.pod_anti_affinity.unwrap_or_default());
        let mut all = Self {
            selector: Requirements::from_labels(&spec.node_selector),
            terms: node.required.map(|r| r.node_selector_terms).unwrap_or_default(),
            preferred: node.preferred,
            affinity: with.required,
            preferred_affinity: with.preferred,
            anti_affinity: against.required,
            preferred_anti_affinity: against.preferred,
            spread: spec.topology_spread_constraints.clone(),
            tolerations: spec.tolerations.clone(),
        };
        if policy == PreferencePolicy::Ignore {
            all.preferred.clear();
            all.preferred_affinity.clear();
            all.preferred_anti_affinity.clear();
            all.spread.retain(|c| !is_soft(c));
        }
        all.preferred.sort_by_key(|p| -i64::from(p.weight));
        all.preferred_affinity.sort_by_key(|p| -i64::from(p.weight));
        all.preferred_anti_affinity.sort_by_key(|p| -i64::from(p.weight));
        all
    }

    /// Node selector and the first required term.
    pub fn strict(&self) -> Requirements {
        let mut all = self.selector.clone();
        if let Some(term) = self.terms.first() {
            add_term(&mut all, term);
        }
        all
    }

    /// Also the heaviest preferred term.
    pub fn full(&self) -> Requirements {
        let mut all = self.strict();
        if let Some(wish) = self.preferred.first() {
            add_term(&mut all, &wish.preference);
        }
        all
    }

    /// Gives up one thing (spec 20 §5.3); false if nothing is left to give.
    /// `prefer_no_schedule`: some pool has such a taint.
    pub fn relax(&mut self, prefer_no_schedule: bool) -> bool {
        if self.terms.len() > 1 {
            self.terms.remove(0);
        } else if !self.preferred_affinity.is_empty() {
            self.preferred_affinity.remove(0);
        } else if !self.preferred_anti_affinity.is_empty() {
            self.preferred_anti_affinity.remove(0);
        } else if !self.preferred.is_empty() {
            self.preferred.remove(0);
        } else if let Some(soft) = self.spread.iter().position(is_soft) {
            self.spread.swap_remove(soft);
        } else if prefer_no_schedule && !self.tolerations.iter().any(tolerates_preferences) {
            let effect = "PreferNoSchedule".to_owned();
            self.tolerations.push(Toleration { operator: "Exists".to_owned(), effect, ..Toleration::default() });
        } else {
            return false;
        }
        true
    }
}

fn tolerates_preferences(toleration: &Toleration) -> bool {
    toleration.key.is_empty() && toleration.operator == "Exists" && toleration.effect == "PreferNoSchedule"
}

/// Whether `taint` merely asks pods to stay away.
pub(super) fn is_preference(taint: &Taint) -> bool {
    taint.effect == "PreferNoSchedule"
}

/// Adds the expressions of `term`. One that is malformed admits nothing.
pub(super) fn add_term(set: &mut Requirements, term: &NodeSelectorTerm) {
    for e in &term.match_expressions {
        set.add(Requirement::new(&e.key, e.operator, &e.values, None).unwrap_or_else(|_| Requirement::absent(&e.key)));
    }
}

/// The set without its requirement on the hostname, and that requirement.
pub(super) fn split_host(mut set: Requirements) -> (Requirements, Option<Requirement>) {
    let host = set.remove(HOSTNAME);
    (set, host)
}

impl Constraints {
    /// Every set of node requirements among the rules.
    pub fn sets(&self) -> impl Iterator<Item = Requirements> + '_ {
        let terms = self.terms.iter().chain(self.preferred.iter().map(|p| &p.preference));
        let terms = terms.map(|term| {
            let mut set = Requirements::default();
            add_term(&mut set, term);
            set
        });
        std::iter::once(self.selector.clone()).chain(terms)
    }

    /// Every topology key among the rules.
    pub fn topology_keys(&self) -> impl Iterator<Item = &str> {
        let soft = self.preferred_affinity.iter().chain(&self.preferred_anti_affinity).map(|p| &p.pod_affinity_term);
        let terms = self.affinity.iter().chain(&self.anti_affinity).chain(soft).map(|t| t.topology_key.as_str());
        terms.chain(self.spread.iter().map(|c| c.topology_key.as_str()))
    }
}
