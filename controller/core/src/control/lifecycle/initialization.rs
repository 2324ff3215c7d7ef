//! Whether a node is ready for pods. (spec 40 §4.2)

use millwright_models::karpenter::labels;
use millwright_models::kube::meta::Labels;
use millwright_models::kube::node::{NO_EXECUTE, NO_SCHEDULE, Node, Taint};

use super::Case;
use crate::control::conditions::Truth;
use crate::control::keys::{INITIALIZED, REBOOTING, REGISTERED, UNREGISTERED};

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
const READINESS: &str = "readiness.k8s.io/";

pub(super) fn look(case: &mut Case<'_>) {
    if case.conditions.is(INITIALIZED, Truth::True) {
        return case.conditions.refresh(INITIALIZED);
    }
    // What is being registered in this look is not written yet.
    if !case.claim.is(REGISTERED) || case.conditions.is(REBOOTING, Truth::True) {
        return;
    }
    if let Err((reason, message)) = check(case) {
        return case.conditions.set(INITIALIZED, Truth::Unknown, reason, &message);
    }
    let Some(held) = case.node().map(|n| n.meta.labels.clone()) else { return };
    if held.get(labels::INITIALIZED).is_some_and(|v| v == "true") {
        return case.conditions.set_true(INITIALIZED);
    }
    if let Some(edit) = &mut case.node_edit {
        edit.labels(&held, &Labels::from([(labels::INITIALIZED.to_owned(), "true".to_owned())]));
    }
}

fn check(case: &Case<'_>) -> Result<(), (&'static str, String)> {
    let Some(node) = case.node() else {
        return Err(("NodeNotFound", "Node not registered with cluster".to_owned()));
    };
    if !is_ready(node) {
        return Err(("NodeNotReady", "Node status is NotReady".to_owned()));
    }
    let startup = case.claim.startup_taints.iter().find(|s| node.taints.iter().any(|t| t.is_same(s)));
    if let Some(taint) = startup {
        return Err(("StartupTaintsExist", format!("StartupTaint \"{}\" still exists", text(taint))));
    }
    if let Some(taint) = node.taints.iter().find(|t| is_ephemeral(t)) {
        return Err(("KnownEphemeralTaintsExist", format!("KnownEphemeralTaint \"{}\" still exists", text(taint))));
    }
    let missing = case.claim.requests.iter().find(|(name, amount)| *amount != 0 && node.allocatable.get(name) == 0);
    match missing {
        Some((name, _)) => {
            Err(("ResourceNotRegistered", format!("Resource \"{name}\" was requested but not registered")))
        }
        None => Ok(()),
    }
}

/// The kubelet says that it is well.
pub(in crate::control) fn is_ready(node: &Node) -> bool {
    node.conditions.iter().any(|c| c.kind == "Ready" && c.status == "True")
}

/// Taints that go by themselves while a node comes up.
fn is_ephemeral(taint: &Taint) -> bool {
    match (taint.key.as_str(), taint.effect.as_str()) {
        (NOT_READY, NO_SCHEDULE | NO_EXECUTE)
        | (UNREACHABLE | UNINITIALIZED, NO_SCHEDULE)
        | (UNREGISTERED, NO_EXECUTE) => true,
        (key, _) => key.starts_with(READINESS),
    }
}

fn text(taint: &Taint) -> String {
    match taint.value.as_str() {
        "" => format!("{}:{}", taint.key, taint.effect),
        value => format!("{}={value}:{}", taint.key, taint.effect),
    }
}
