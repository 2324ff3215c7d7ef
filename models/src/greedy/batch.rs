//! Which pods a pass places (spec 20 §2.1 to §2.3).

use std::collections::BTreeSet;

use super::constraints::Constraints;
use crate::karpenter::labels::{self, NODEPOOL};
use crate::kube::pod::Pod;
use crate::kube::selector::Operator;
use crate::requirements::Requirement;

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
