//! Which pods a pass places (spec 20 §2.1 to §2.3).

use std::collections::BTreeSet;

use super::constraints::Constraints;
use crate::karpenter::labels::{self, NODEPOOL};
use crate::kube::pod::Pod;
use crate::kube::policy::PodDisruptionBudget;
use crate::kube::selector::Operator;
use crate::requirements::Requirement;
use crate::world::World;

/// Whether the pod has to move once its node goes: spec 20 §2.2.
pub(super) fn is_reschedulable(world: &World, pod: &Pod) -> bool {
    let stateful = pod.owner.as_ref().is_some_and(|o| o.kind == "StatefulSet");
    !pod.is_terminal()
        && (pod.deleted.is_none() || stateful)
        && !pod.is_daemon()
        && !pod.is_static
        && pod.annotations.get(labels::DO_NOT_DISRUPT).is_none_or(|v| v != "true")
        && !is_blocked(world, pod)
}

/// More than one budget covers the pod, or one that never lets a pod go.
fn is_blocked(world: &World, pod: &Pod) -> bool {
    let covers = |b: &&PodDisruptionBudget| {
        b.meta.namespace == pod.namespace && b.selector.as_ref().is_some_and(|s| s.matches(&pod.labels))
    };
    let mut budgets = world.budgets.iter().filter(covers);
    let Some(budget) = budgets.next() else { return false };
    if budgets.next().is_some() {
        return true;
    }
    let unready = pod.conditions.iter().any(|c| c.kind == "Ready" && c.status == "False");
    let never = matches!(budget.max_unavailable.as_deref(), Some("0" | "0%"))
        || budget.min_available.as_deref() == Some("100%");
    never && !(budget.always_allow_unhealthy && unready)
}

/// Why a pod is refused before any node is looked at: spec 20 §2.3.
pub(super) fn refusal(pod: &Pod, rules: &Constraints, known: &BTreeSet<String>) -> Option<String> {
    let mut reasons: Vec<String> = Vec::new();
    if rules.full().get(NODEPOOL).is_some_and(|r| r.operator() == Operator::DoesNotExist) {
        reasons.push(format!("the pod keeps away from every NodePool: {NODEPOOL} must not exist"));
    }
    for key in pod.spec.node_selector.keys() {
        reasons.extend(restricted(labels::normalise(key), known));
    }
    for term in &rules.terms {
        if !term.match_fields.is_empty() {
            reasons.push("required node affinity with matchFields is not supported".to_owned());
        }
        for e in &term.match_expressions {
            reasons.extend(restricted(labels::normalise(&e.key), known));
            if let Err(e) = Requirement::new(&e.key, e.operator, &e.values, None) {
                reasons.push(format!("required node affinity: {e}"));
            }
        }
    }
    let asks = |claims: &[crate::kube::pod::ResourceClaimRef]| !claims.is_empty();
    if asks(&pod.spec.resource_claims) || pod.spec.containers.iter().any(|c| asks(&c.resources.claims)) {
        reasons.push("the pod has resource claims, requirements that are not yet supported".to_owned());
    }
    reasons.sort();
    reasons.dedup();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// A label that only Karpenter itself may decide on.
fn restricted(key: &str, known: &BTreeSet<String>) -> Option<String> {
    (!known.contains(key) && labels::is_restricted(key)).then(|| format!("label {key:?} is restricted"))
}
