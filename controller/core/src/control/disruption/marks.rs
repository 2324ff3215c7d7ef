//! The marks of a node that is about to go: its taint, and the condition
//! `DisruptionReason` of its claim.

use jiff::Timestamp;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::meta::Condition;
use millwright_models::kube::node::{Node, Taint};
use serde_json::{Value, json};

use crate::control::ask::{Ask, Target};
use crate::pods::DISRUPTED;

pub const REASON: &str = "DisruptionReason";
const NO_SCHEDULE: &str = "NoSchedule";

fn is_mark(taint: &Taint) -> bool {
    taint.key == DISRUPTED && taint.effect == NO_SCHEDULE
}

/// Whether the node carries the taint.
pub fn is_tainted(node: &Node) -> bool {
    node.taints.iter().any(is_mark)
}

/// Adds the taint.
pub fn taint(node: &Node) -> Ask {
    let mark = Taint { key: DISRUPTED.to_owned(), value: String::new(), effect: NO_SCHEDULE.to_owned() };
    with_taints(node, node.taints.iter().chain([&mark]))
}

/// Takes the taint away.
pub fn untaint(node: &Node) -> Ask {
    with_taints(node, node.taints.iter().filter(|t| !is_mark(t)))
}

fn with_taints<'t>(node: &Node, taints: impl Iterator<Item = &'t Taint>) -> Ask {
    let taints: Vec<Value> = taints
        .map(|t| {
            let mut taint = json!({"key": t.key, "effect": t.effect});
            if !t.value.is_empty() {
                taint["value"] = json!(t.value);
            }
            taint
        })
        .collect();
    let body = json!({
        "metadata": {"resourceVersion": node.meta.resource_version},
        "spec": {"taints": taints},
    });
    Ask::Patch { target: Target::node(&node.meta.name), status: false, body }
}

/// A condition as it ought to be: none to have it removed.
pub type Wanted<'a> = (&'a str, Option<(&'a str, &'a str)>);

/// Sets and removes conditions of a claim; none if they are right already.
pub fn conditions(claim: &NodeClaim, wanted: &[Wanted<'_>], now: Timestamp) -> Option<Ask> {
    let mut all = claim.conditions.clone();
    for (kind, value) in wanted {
        let at = all.iter().position(|c| c.kind == *kind);
        match (value, at) {
            (None, Some(at)) => drop(all.remove(at)),
            (None, None) => {}
            (Some((reason, message)), at) => {
                let old = at.map(|at| all.remove(at));
                let same = old.as_ref().filter(|c| c.status == "True");
                all.push(Condition {
                    kind: (*kind).to_owned(),
                    status: "True".to_owned(),
                    reason: (*reason).to_owned(),
                    message: (*message).to_owned(),
                    last_transition_time: Some(same.and_then(|c| c.last_transition_time).unwrap_or(now)),
                    observed_generation: Some(claim.meta.generation),
                });
            }
        }
    }
    let sorted = |list: &[Condition]| {
        let mut list: Vec<(String, String, String, String)> =
            list.iter().map(|c| (c.kind.clone(), c.status.clone(), c.reason.clone(), c.message.clone())).collect();
        list.sort();
        list
    };
    if sorted(&all) == sorted(&claim.conditions) {
        return None;
    }
    let list: Vec<Value> = all.iter().map(written).collect();
    let body = json!({
        "metadata": {"resourceVersion": claim.meta.resource_version},
        "status": {"conditions": list},
    });
    Some(Ask::Patch { target: Target::claim(&claim.meta.name), status: true, body })
}

fn written(c: &Condition) -> Value {
    let mut value = json!({"type": c.kind, "status": c.status, "reason": c.reason, "message": c.message});
    if let Some(at) = c.last_transition_time {
        value["lastTransitionTime"] = json!(at.to_string());
    }
    if let Some(generation) = c.observed_generation {
        value["observedGeneration"] = json!(generation);
    }
    value
}
