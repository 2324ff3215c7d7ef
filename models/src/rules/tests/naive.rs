//! The same filters, written once more in the plainest way: every check looks
//! at every pod.

use std::collections::BTreeMap;

use crate::kube::meta::Labels;
use crate::kube::node::{Node, untolerated};
use crate::kube::pod::{Pod, PodAffinityTerm, SpreadConstraint};
use crate::kube::selector::{Expression, LabelSelector, NodeSelectorTerm, Operator};
use crate::resources::PODS;

/// Pods with the index of their node.
pub struct Naive<'a> {
    pub nodes: &'a [Node],
    pub pods: Vec<(Pod, usize)>,
    pub namespaces: BTreeMap<String, Labels>,
}

impl Naive<'_> {
    /// The plugin that refuses, or `ok`.
    pub fn verdict(&self, pod: &Pod, at: usize) -> &'static str {
        let node = &self.nodes[at];
        let hard: Vec<_> = node.taints.iter().filter(|t| t.effect != "PreferNoSchedule").cloned().collect();
        if untolerated(&hard, &pod.spec.tolerations).is_some() {
            return "TaintToleration";
        }
        if !admitted(pod, node) {
            return "NodeAffinity";
        }
        let here = || self.pods.iter().filter(|(_, n)| *n == at).map(|(p, _)| p);
        let ports =
            |p: &Pod| -> Vec<u16> { p.spec.containers.iter().flat_map(|c| &c.ports).map(|p| p.host_port).collect() };
        if here().any(|other| ports(other).iter().any(|port| ports(pod).contains(port))) {
            return "NodePorts";
        }
        for (resource, requested) in pod.requests.iter().filter(|(_, n)| *n > 0) {
            let used: i64 = here().map(|p| p.requests.get(resource)).sum();
            if used + requested > node.allocatable.get(resource) {
                return "NodeResourcesFit";
            }
        }
        assert_eq!(pod.requests.get(PODS), 1);
        if !self.spreads(pod, node) {
            return "PodTopologySpread";
        }
        if self.affinity(pod, node) && self.anti_affinity(pod, node) { "ok" } else { "InterPodAffinity" }
    }

    fn spreads(&self, pod: &Pod, node: &Node) -> bool {
        let hard = || pod.spec.topology_spread_constraints.iter().filter(|c| c.when_unsatisfiable == "DoNotSchedule");
        hard().all(|constraint| {
            let Some(own) = node.meta.labels.get(&constraint.topology_key) else { return false };
            let mut counts: BTreeMap<&String, u32> = BTreeMap::new();
            for (i, other) in self.nodes.iter().enumerate() {
                let in_view = hard().all(|c| other.meta.labels.contains_key(&c.topology_key))
                    && (constraint.node_affinity_policy == "Ignore" || admitted(pod, other))
                    && (constraint.node_taints_policy != "Honor" || {
                        let hard: Vec<_> =
                            other.taints.iter().filter(|t| t.effect != "PreferNoSchedule").cloned().collect();
                        untolerated(&hard, &pod.spec.tolerations).is_none()
                    });
                if in_view {
                    let counted = |(p, n): &&(Pod, usize)| {
                        *n == i
                            && p.deleted.is_none()
                            && p.namespace == pod.namespace
                            && selected(constraint, pod, &p.labels, true)
                    };
                    let pods = self.pods.iter().filter(counted).count() as u32;
                    *counts.entry(&other.meta.labels[&constraint.topology_key]).or_default() += pods;
                }
            }
            let few = counts.len() < constraint.min_domains.unwrap_or(1) as usize;
            let lowest = if few { 0 } else { counts.values().copied().min().unwrap_or(0) };
            let own = counts.get(own).copied().unwrap_or(0);
            own + u32::from(selected(constraint, pod, &pod.labels, false)) <= lowest + constraint.max_skew
        })
    }

    fn affinity(&self, pod: &Pod, node: &Node) -> bool {
        let terms = pod.spec.affinity.iter().flat_map(|a| &a.pod_affinity).flat_map(|a| &a.required);
        let terms: Vec<&PodAffinityTerm> = terms.collect();
        let targets = self.pods.iter().filter(|(p, _)| terms.iter().all(|t| self.meant(t, pod, p)));
        let targets: Vec<usize> = targets.map(|(_, n)| *n).collect();
        let key = |t: &PodAffinityTerm, n: &Node| n.meta.labels.get(&t.topology_key).cloned();
        let together = |t: &&PodAffinityTerm| {
            targets.iter().any(|at| key(t, node).is_some() && key(t, &self.nodes[*at]) == key(t, node))
        };
        let anywhere = targets.iter().any(|at| terms.iter().any(|t| key(t, &self.nodes[*at]).is_some()));
        let first = !anywhere && terms.iter().all(|t| self.meant(t, pod, pod) && key(t, node).is_some());
        terms.iter().all(together) || first
    }

    fn anti_affinity(&self, pod: &Pod, node: &Node) -> bool {
        self.pods.iter().all(|(other, at)| {
            let other_node = &self.nodes[*at];
            let apart = |t: &PodAffinityTerm| {
                let own = node.meta.labels.get(&t.topology_key);
                own.is_none() || own != other_node.meta.labels.get(&t.topology_key)
            };
            avoided(pod).all(|t| apart(t) || !self.meant(t, pod, other))
                && avoided(other).all(|t| apart(t) || !self.meant(t, other, pod))
        })
    }

    /// Whether `term` of `owner` means `other`.
    fn meant(&self, term: &PodAffinityTerm, owner: &Pod, other: &Pod) -> bool {
        let namespace = if term.namespaces.is_empty() && term.namespace_selector.is_none() {
            owner.namespace == other.namespace
        } else {
            let labels = &self.namespaces[&other.namespace];
            term.namespaces.contains(&other.namespace)
                || term.namespace_selector.as_ref().is_some_and(|s| s.matches(labels))
        };
        let keys = |keys: &[String], same: bool| {
            keys.iter().all(|k| owner.labels.get(k).is_none_or(|v| (other.labels.get(k) == Some(v)) == same))
        };
        namespace
            && term.label_selector.as_ref().is_some_and(|s: &LabelSelector| s.matches(&other.labels))
            && keys(&term.match_label_keys, true)
            && keys(&term.mismatch_label_keys, false)
    }
}

fn avoided(pod: &Pod) -> impl Iterator<Item = &PodAffinityTerm> {
    pod.spec.affinity.iter().flat_map(|a| &a.pod_anti_affinity).flat_map(|a| &a.required)
}

/// An empty selector selects everything, but is never counted.
fn selected(constraint: &SpreadConstraint, owner: &Pod, labels: &Labels, counting: bool) -> bool {
    let Some(selector) = &constraint.label_selector else { return false };
    let own = constraint.match_label_keys.iter().filter_map(|k| Some((k, owner.labels.get(k)?)));
    let empty = selector.match_labels.is_empty() && selector.match_expressions.is_empty() && own.clone().count() == 0;
    selector.matches(labels) && own.clone().all(|(k, v)| labels.get(k) == Some(v)) && !(counting && empty)
}

fn admitted(pod: &Pod, node: &Node) -> bool {
    let holds = |e: &Expression| e.matches(&node.meta.labels);
    let named = |e: &Expression| (e.operator == Operator::In) == e.values.contains(&node.meta.name);
    let term = |t: &NodeSelectorTerm| {
        t.match_expressions.len() + t.match_fields.len() > 0
            && t.match_expressions.iter().all(holds)
            && t.match_fields.iter().all(named)
    };
    let required = pod.spec.affinity.iter().flat_map(|a| &a.node_affinity).flat_map(|a| &a.required);
    pod.spec.node_selector.iter().all(|(k, v)| node.meta.labels.get(k) == Some(v))
        && required.into_iter().all(|r| r.node_selector_terms.iter().any(term))
}
