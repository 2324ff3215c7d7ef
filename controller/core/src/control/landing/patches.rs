//! The writes of landing. Each holds only for the version of the object that
//! it was worked out from.

use jiff::Timestamp;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::node::Node;
use serde_json::json;

use crate::control::ask::{Ask, Target};
use crate::control::slots::{HOLD, HOLD_UNTIL, LANDED, LANDING, SLOTS, Slots};

/// Cordons a node that is open, or widens a hold that stands.
pub fn hold(node: &Node, reason: &str, until: Timestamp, slots: &Slots) -> Ask {
    let annotations = json!({HOLD: reason, HOLD_UNTIL: until.to_string(), LANDING: slots.write()});
    let metadata = json!({"resourceVersion": node.meta.resource_version, "annotations": annotations});
    let body = json!({"metadata": metadata, "spec": {"unschedulable": true}});
    Ask::Patch { target: Target::node(&node.meta.name), status: false, body }
}

/// Puts another end to a hold.
pub fn prolong(node: &Node, until: Timestamp) -> Ask {
    let metadata =
        json!({"resourceVersion": node.meta.resource_version, "annotations": {HOLD_UNTIL: until.to_string()}});
    Ask::Patch { target: Target::node(&node.meta.name), status: false, body: json!({"metadata": metadata}) }
}

/// Ends a hold. The node stays cordoned where somebody else wants it so.
pub fn end(node: &Node, uncordon: bool) -> Ask {
    let annotations = json!({HOLD: null, HOLD_UNTIL: null, LANDING: null, LANDED: "true"});
    let metadata = json!({"resourceVersion": node.meta.resource_version, "annotations": annotations});
    let mut body = json!({"metadata": metadata});
    if uncordon {
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
