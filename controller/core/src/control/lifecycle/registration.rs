//! Letting a node in. (spec 40 §4.1)

use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::meta::{Labels, OwnerReference};
use millwright_models::kube::node::{NO_EXECUTE, Node, Taint};
use serde_json::json;

use super::hooks::{self, Hook};
use super::{Case, Edit};
use crate::control::brain::{Hold, Shared};
use crate::control::conditions::Truth;
use crate::control::desk::Desk;
use crate::control::keys::{DO_NOT_SYNC_TAINTS, HOLD, HOLD_UNTIL, REGISTERED, TERMINATION, UNREGISTERED};
use crate::control::view::View;

pub(super) fn look(
    case: &mut Case<'_>,
    hooks: &mut [Box<dyn Hook + Send>],
    view: &View<'_>,
    shared: &Shared,
    desk: &mut Desk,
) {
    if !case.conditions.is(REGISTERED, Truth::Unknown) {
        case.conditions.refresh(REGISTERED);
        return;
    }
    let nodes = case.nodes;
    let node = match nodes {
        [] => {
            let message = "Node not registered with cluster";
            return case.conditions.set(REGISTERED, Truth::Unknown, "NodeNotFound", message);
        }
        [node] => *node,
        many => {
            let names: Vec<&str> = many.iter().map(|n| n.meta.name.as_str()).collect();
            let message = format!("Invariant violated, matched multiple nodes: {}", names.join(", "));
            return case.conditions.set(REGISTERED, Truth::False, "MultipleNodesFound", &message);
        }
    };
    if is_in(node, case.claim) {
        case.edit.status("nodeName", json!(node.meta.name));
        return case.conditions.set_true(REGISTERED);
    }
    let tainted = node.taints.iter().any(is_unregistered);
    if !tainted && !node.meta.labels.contains_key(labels::REGISTERED) {
        let message = format!("Missing {UNREGISTERED} taint which prevents registration related race conditions");
        case.warn(desk, "UnregisteredTaintMissing", message);
    }
    let findings = hooks::judge(hooks, case.claim, node);
    case.labels = findings.labels;
    let labels = case.labels.clone();
    case.edit.labels(&case.claim.meta.labels, &labels);
    let Some(edit) = &mut case.node_edit else { return };
    let mut wanted = case.claim.meta.labels.clone();
    wanted.extend(labels);
    sync(edit, node, case.claim, &wanted, findings.pending.is_empty());
    if findings.pending.is_empty() {
        let registered = Labels::from([(labels::REGISTERED.to_owned(), "true".to_owned())]);
        edit.labels(&node.meta.labels, &registered);
        edit.bind();
        if let Some(hold) = shared.holds.get(&case.claim.meta.name) {
            keep_closed(edit, node, hold);
        }
        return;
    }
    let message = findings.pending.join(", ");
    case.conditions.set(REGISTERED, Truth::Unknown, "RegistrationHookPending", &message);
    if let Some(after) = findings.again {
        desk.wake(view.now + after);
    }
    for error in findings.errors {
        case.warn(desk, "RegistrationHookFailed", error);
    }
}

fn is_unregistered(taint: &Taint) -> bool {
    taint.key == UNREGISTERED && taint.effect == NO_EXECUTE
}

/// Whether the patch that lets the node in has been written.
fn is_in(node: &Node, claim: &NodeClaim) -> bool {
    node.meta.labels.get(labels::REGISTERED).is_some_and(|v| v == "true")
        && !node.taints.iter().any(is_unregistered)
        && node.meta.finalizers.iter().any(|f| f == TERMINATION)
        && node.meta.owner_references.iter().any(|o| o.uid == claim.meta.uid)
}

/// Carries over what the claim says of its node.
fn sync(edit: &mut Edit, node: &Node, claim: &NodeClaim, labels: &Labels, lets_in: bool) {
    edit.finalizer(&node.meta, TERMINATION);
    edit.owner(
        &node.meta,
        &OwnerReference {
            api_version: "karpenter.sh/v1".to_owned(),
            kind: "NodeClaim".to_owned(),
            name: claim.meta.name.clone(),
            uid: claim.meta.uid.clone(),
            controller: false,
            block_owner_deletion: Some(true),
        },
    );
    edit.labels(&node.meta.labels, labels);
    edit.annotations(&node.meta.annotations, &claim.meta.annotations);
    let mut taints: Vec<Taint> = node.written_taints().filter(|t| !(lets_in && is_unregistered(t))).cloned().collect();
    if labels.get(DO_NOT_SYNC_TAINTS).or_else(|| node.meta.labels.get(DO_NOT_SYNC_TAINTS)).is_none_or(|v| v != "true") {
        for taint in claim.taints.iter().chain(&claim.startup_taints) {
            if !taints.iter().any(|t| t.is_same(taint)) {
                taints.push(taint.clone());
            }
        }
    }
    edit.taints(node, &taints);
}

/// Cordons the node in the same breath, so that nobody is faster than the
/// pods planned for it. A cordon of somebody else stays what it is.
fn keep_closed(edit: &mut Edit, node: &Node, hold: &Hold) {
    if node.unschedulable {
        return;
    }
    edit.spec("unschedulable", json!(true));
    let annotations =
        Labels::from([(HOLD.to_owned(), hold.reason.clone()), (HOLD_UNTIL.to_owned(), hold.until.to_string())]);
    edit.annotations(&node.meta.annotations, &annotations);
}
