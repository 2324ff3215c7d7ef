//! What the API server refuses, as far as a wrong value would mislead a plan.

use super::node::Taint;
use super::pod::{PodAffinityTerm, PodSpec, SpreadConstraint, Toleration};
use super::selector::{Expression, LabelSelector, NodeSelectorTerm, Operator};
use crate::faults::Faults;
use crate::requirements::Requirement;

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Taints: a key and a known effect.
pub(crate) fn effects(taints: &[Taint], field: &str, faults: &mut Faults) {
    for (i, taint) in taints.iter().enumerate() {
        if taint.key.is_empty() {
            faults.add(format!("{field}[{i}].key"), "missing");
        }
        known(&taint.effect, &EFFECTS, &format!("{field}[{i}].effect"), faults);
    }
}

/// A label selector: the four set operators, each with the values it takes.
pub(crate) fn label_selector(selector: &LabelSelector, field: &str, faults: &mut Faults) {
    for (i, expression) in selector.match_expressions.iter().enumerate() {
        let Expression { key, operator, values, .. } = expression;
        let fits = match operator {
            Operator::In | Operator::NotIn => !values.is_empty(),
            Operator::Exists | Operator::DoesNotExist => values.is_empty(),
            _ => false,
        };
        if !fits || key.is_empty() {
            let message = format!("key {key:?} with operator {operator} and values {values:?} is no label selector");
            faults.add(format!("{field}.matchExpressions[{i}]"), message);
        }
    }
}

/// Node selector terms: each expression is a requirement.
pub(crate) fn node_terms(terms: &[NodeSelectorTerm], field: &str, faults: &mut Faults) {
    for (i, term) in terms.iter().enumerate() {
        for (part, list) in [("matchExpressions", &term.match_expressions), ("matchFields", &term.match_fields)] {
            for (j, e) in list.iter().enumerate() {
                let made = Requirement::new(&e.key, e.operator, &e.values, e.min_values);
                faults.check(&format!("{field}[{i}].{part}[{j}]"), made);
            }
        }
    }
}

/// A pod's spec, quantities aside.
pub(crate) fn pod_spec(spec: &PodSpec, faults: &mut Faults) {
    for (i, toleration) in spec.tolerations.iter().enumerate() {
        self::toleration(toleration, &format!("spec.tolerations[{i}]"), faults);
    }
    for (i, constraint) in spec.topology_spread_constraints.iter().enumerate() {
        spread(constraint, &format!("spec.topologySpreadConstraints[{i}]"), faults);
    }
    let Some(affinity) = &spec.affinity else { return };
    if let Some(node) = &affinity.node_affinity {
        let field = "spec.affinity.nodeAffinity";
        if let Some(required) = &node.required {
            let field = format!("{field}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
            if required.node_selector_terms.is_empty() {
                faults.add(&field, "needs at least one term");
            }
            node_terms(&required.node_selector_terms, &field, faults);
        }
        for (i, wish) in node.preferred.iter().enumerate() {
            let field = format!("{field}.preferredDuringSchedulingIgnoredDuringExecution[{i}]");
            weight(wish.weight, &field, faults);
            node_terms(std::slice::from_ref(&wish.preference), &format!("{field}.preference"), faults);
        }
    }
    for (terms, name) in [(&affinity.pod_affinity, "podAffinity"), (&affinity.pod_anti_affinity, "podAntiAffinity")] {
        let Some(terms) = terms else { continue };
        for (i, term) in terms.required.iter().enumerate() {
            let field = format!("spec.affinity.{name}.requiredDuringSchedulingIgnoredDuringExecution[{i}]");
            pod_term(term, &field, faults);
        }
        for (i, wish) in terms.preferred.iter().enumerate() {
            let field = format!("spec.affinity.{name}.preferredDuringSchedulingIgnoredDuringExecution[{i}]");
            weight(wish.weight, &field, faults);
            pod_term(&wish.pod_affinity_term, &format!("{field}.podAffinityTerm"), faults);
        }
    }
}

fn toleration(toleration: &Toleration, field: &str, faults: &mut Faults) {
    known(&toleration.operator, &["", "Equal", "Exists", "Gt", "Lt"], &format!("{field}.operator"), faults);
    if !toleration.effect.is_empty() {
        known(&toleration.effect, &EFFECTS, &format!("{field}.effect"), faults);
    }
    if toleration.key.is_empty() && toleration.operator != "Exists" {
        faults.add(format!("{field}.operator"), "must be Exists where there is no key");
    }
}

fn spread(constraint: &SpreadConstraint, field: &str, faults: &mut Faults) {
    if constraint.max_skew == 0 {
        faults.add(format!("{field}.maxSkew"), "must be at least 1");
    }
    if constraint.topology_key.is_empty() {
        faults.add(format!("{field}.topologyKey"), "missing");
    }
    if constraint.min_domains == Some(0) {
        faults.add(format!("{field}.minDomains"), "must be at least 1");
    }
    let when = &constraint.when_unsatisfiable;
    known(when, &["", "DoNotSchedule", "ScheduleAnyway"], &format!("{field}.whenUnsatisfiable"), faults);
    for (policy, name) in
        [(&constraint.node_affinity_policy, "nodeAffinityPolicy"), (&constraint.node_taints_policy, "nodeTaintsPolicy")]
    {
        known(policy, &["", "Honor", "Ignore"], &format!("{field}.{name}"), faults);
    }
    if let Some(selector) = &constraint.label_selector {
        label_selector(selector, &format!("{field}.labelSelector"), faults);
    }
}

fn pod_term(term: &PodAffinityTerm, field: &str, faults: &mut Faults) {
    if term.topology_key.is_empty() {
        faults.add(format!("{field}.topologyKey"), "missing");
    }
    for (selector, name) in [(&term.label_selector, "labelSelector"), (&term.namespace_selector, "namespaceSelector")] {
        if let Some(selector) = selector {
            label_selector(selector, &format!("{field}.{name}"), faults);
        }
    }
}

fn weight(weight: i32, field: &str, faults: &mut Faults) {
    if !(1..=100).contains(&weight) {
        faults.add(format!("{field}.weight"), format!("{weight} is outside 1 to 100"));
    }
}

fn known(value: &str, known: &[&str], field: &str, faults: &mut Faults) {
    if !known.contains(&value) {
        let list: Vec<_> = known.iter().filter(|k| !k.is_empty()).copied().collect();
        faults.add(field, format!("{value:?} is none of {}", list.join(", ")));
    }
}
