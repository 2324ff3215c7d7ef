//! The writes of landing. Each holds only for the version of the object that
//! it was worked out from.

use jiff::Timestamp;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::written;
use millwright_models::kube::node::{NO_SCHEDULE, Node, Taint};
use serde_json::json;

use super::berths::{is_hold, is_tainted};
use crate::control::ask::{Ask, Target};
use crate::control::edit::Edit;
use crate::control::slots::{HOLD, HOLD_UNTIL, LANDED, LANDING, SLOTS, Slots};

/// Closes a node that is open, by our taint or by a cordon, or widens a hold
/// that stands.
pub fn hold(node: &Node, reason: &str, until: Timestamp, slots: &Slots, by_taint: bool) -> Option<Ask> {
    let until = until.to_string();
    let given = [(HOLD, reason.to_owned()), (HOLD_UNTIL, until), (LANDING, slots.write())];
    let mut edit = Edit::new(Target::node(&node.meta.name), &node.meta);
    edit.annotations(&node.meta.annotations, &given.map(|(key, value)| (key.to_owned(), value)).into());
    if by_taint {
        let have = node.written_taints().filter(|t| !is_hold(t)).cloned();
        edit.taints(node, &have.chain([Taint::new(HOLD, "", NO_SCHEDULE)]).collect::<Vec<_>>());
    } else {
        edit.spec("unschedulable", json!(true));
    }
    edit.bind();
    edit.ask()
}

/// Puts another end to a hold.
pub fn prolong(node: &Node, until: Timestamp) -> Ask {
    let metadata =
        json!({"resourceVersion": node.meta.resource_version, "annotations": {HOLD_UNTIL: until.to_string()}});
    Ask::Patch { target: Target::node(&node.meta.name), status: false, body: json!({"metadata": metadata}) }
}

/// Ends a hold: takes our taint away, or the cordon unless somebody else wants
/// it. Who holds by a taint has no cordon to take away.
pub fn end(node: &Node, uncordon: bool) -> Ask {
    let annotations = json!({HOLD: null, HOLD_UNTIL: null, LANDING: null, LANDED: "true"});
    let metadata = json!({"resourceVersion": node.meta.resource_version, "annotations": annotations});
    let mut body = json!({"metadata": metadata});
    if is_tainted(node) {
        let rest: Vec<_> = node.written_taints().filter(|t| !is_hold(t)).map(written::taint).collect();
        body["spec"] = json!({"taints": rest});
    } else if uncordon {
        body["spec"] = json!({"unschedulable": null});
    }
    Ask::Patch { target: Target::node(&node.meta.name), status: false, body }
}

/// Writes the slots of a claim whose node has not registered.
pub fn plan(claim: &NodeClaim, slots: &Slots) -> Ask {
    let metadata = json!({"resourceVersion": claim.meta.resource_version, "annotations": {SLOTS: slots.write()}});
    Ask::Patch { target: Target::claim(&claim.meta.name), status: false, body: json!({"metadata": metadata}) }
}

/// Nominates exactly this pod.
pub fn nominate(namespace: &str, name: &str, uid: &str, node: &str) -> Ask {
    let body = json!({"metadata": {"uid": uid}, "status": {"nominatedNodeName": node}});
    Ask::Patch { target: Target::pod(namespace, name), status: true, body }
}
