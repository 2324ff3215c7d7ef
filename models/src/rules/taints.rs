//! TaintToleration and NodeUnschedulable.

use super::refusal::Refusal;
use crate::kube::node::{Node, Taint};
use crate::kube::pod::Toleration;

const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// The first taint that keeps a pod with these tolerations away;
/// `PreferNoSchedule` never does.
pub(super) fn repels<'a>(taints: &'a [Taint], tolerations: &[Toleration]) -> Option<&'a Taint> {
    let hard = taints.iter().filter(|t| matches!(&*t.effect, "NoSchedule" | "NoExecute"));
    hard.into_iter().find(|taint| !tolerations.iter().any(|t| tolerated(t, &taint.key, &taint.value, &taint.effect)))
}

/// The filters on a node's cordon and taints.
pub(super) fn admits(node: &Node, tolerations: &[Toleration]) -> Result<(), Refusal> {
    if node.unschedulable && !tolerations.iter().any(|t| tolerated(t, UNSCHEDULABLE, "", "NoSchedule")) {
        return Err(Refusal::Unschedulable);
    }
    match repels(&node.taints, tolerations) {
        None => Ok(()),
        Some(Taint { key, value, effect, .. }) => {
            Err(Refusal::Taint { key: key.clone(), value: value.clone(), effect: effect.clone() })
        }
    }
}

fn tolerated(toleration: &Toleration, key: &str, value: &str, effect: &str) -> bool {
    if !toleration.effect.is_empty() && toleration.effect != effect {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != key {
        return false;
    }
    match &*toleration.operator {
        "" | "Equal" => toleration.value == value,
        "Exists" => true,
        "Gt" => matches!((decimal(value), decimal(&toleration.value)), (Some(a), Some(b)) if a > b),
        "Lt" => matches!((decimal(value), decimal(&toleration.value)), (Some(a), Some(b)) if a < b),
        _ => false,
    }
}

/// An integer without sign `+` or leading zeros.
fn decimal(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|n| n.to_string() == text)
}
