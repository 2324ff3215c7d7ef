//! LIF-022 to LIF-028, LIF-107, LIF-076, LIF-077.

use serde_json::{Value, json};

use crate::objects::{claim, launched, node, ready, with};
use crate::stage::Stage;

/// A registered claim whose node is like this.
fn joined(spec: Value, node_patch: Value) -> Stage {
    let mut stage = launched(spec);
    stage.put(with(node("n", "c"), node_patch));
    stage.settle();
    stage.claim_says("Registered", "True", "Registered");
    stage
}

fn taints(list: Value) -> Value {
    json!({"spec": {"taints": list}})
}

#[test]
fn lif_022_a_clean_node_is_initialized() {
    let stage = launched(json!({}));
    stage.claim_says("Initialized", "Unknown", "AwaitingReconciliation");
    let stage = joined(json!({}), json!({}));
    stage.claim_says("Initialized", "True", "Initialized");
    stage.claim_says("Ready", "True", "Ready");
    assert_eq!(stage.object("Node", "n")["metadata"]["labels"]["karpenter.sh/initialized"], json!("true"));
}

#[test]
fn lif_023_to_026_what_keeps_a_node_from_being_initialized() {
    let gpu = |n: &str| json!({"spec": {"resources": {"requests": {"nvidia.com/gpu": n}}}});
    let startup = json!({"spec": {"startupTaints": [{"key": "s", "effect": "NoSchedule"}]}});
    for (spec, node, reason, cure) in [
        (
            json!({}),
            json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}),
            "NodeNotReady",
            json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        ),
        (startup, json!({}), "StartupTaintsExist", taints(json!([]))),
        (
            json!({}),
            taints(json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}])),
            "KnownEphemeralTaintsExist",
            taints(json!([])),
        ),
        (
            json!({}),
            taints(json!([{"key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoSchedule"}])),
            "KnownEphemeralTaintsExist",
            taints(json!([])),
        ),
        (
            json!({}),
            taints(json!([{"key": "readiness.k8s.io/net", "effect": "NoSchedule"}])),
            "KnownEphemeralTaintsExist",
            taints(json!([{"key": "somebody/else", "effect": "NoSchedule"}])),
        ),
        (
            gpu("1"),
            json!({"status": {"allocatable": {"nvidia.com/gpu": "0"}}}),
            "ResourceNotRegistered",
            json!({"status": {"allocatable": {"nvidia.com/gpu": "1"}}}),
        ),
    ] {
        let mut stage = joined(spec, node);
        stage.claim_says("Initialized", "Unknown", reason);
        assert!(stage.object("Node", "n")["metadata"]["labels"]["karpenter.sh/initialized"].is_null());
        stage.server.merge("Node", "n", &cure);
        stage.pass(1);
        stage.claim_says("Initialized", "True", "Initialized");
    }
    joined(gpu("0"), json!({})).claim_says("Initialized", "True", "Initialized");
}

#[test]
fn lif_028_initialized_stays() {
    let mut stage = ready(json!({}));
    stage.server.merge("Node", "n", &json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}));
    stage.pass(1);
    stage.claim_says("Initialized", "True", "Initialized");
}

#[test]
fn lif_107_a_reboot_suspends_initialization() {
    let mut stage = joined(json!({}), json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}));
    let set = |stage: &mut Stage, status: &str| {
        let mut list = stage.object("NodeClaim", "c")["status"]["conditions"].as_array().unwrap().clone();
        list.retain(|c| c["type"] != "Rebooting");
        list.push(json!({"type": "Rebooting", "status": status, "reason": "RebootIssued"}));
        stage.server.merge("NodeClaim", "c", &json!({"status": {"conditions": list}}));
        stage.server.merge("Node", "n", &json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}));
        stage.pass(1);
    };
    set(&mut stage, "True");
    stage.claim_says("Initialized", "Unknown", "NodeNotReady");
    set(&mut stage, "False");
    stage.claim_says("Initialized", "True", "Initialized");
    assert_eq!(stage.object("Node", "n")["metadata"]["labels"]["karpenter.sh/initialized"], json!("true"));
}

#[test]
fn lif_076_a_node_that_is_smaller_than_promised_is_told_of() {
    let mut stage = joined(json!({}), json!({"status": {"capacity": {"memory": "12Gi"}}}));
    stage.claim_says("ConsistentStateFound", "False", "ConsistencyCheckFailed");
    let events = stage.events("FailedConsistencyCheck");
    assert!(events[0].message.contains("16Gi") && events[0].message.contains("75.0%"), "{}", events[0].message);
    stage.server.merge("Node", "n", &json!({"status": {"capacity": {"memory": "16Gi"}}}));
    stage.skip(9 * 60);
    stage.claim_says("ConsistentStateFound", "False", "ConsistencyCheckFailed");
    stage.skip(60);
    stage.claim_says("ConsistentStateFound", "True", "ConsistentStateFound");
    let stage = joined(json!({}), json!({"status": {"capacity": {"memory": "15565Mi"}}}));
    stage.claim_says("ConsistentStateFound", "True", "ConsistentStateFound");
}

#[test]
fn lif_077_the_label_of_the_class_is_added() {
    let mut stage = ready(json!({}));
    let key = "karpenter.k8s.aws/ec2nodeclass";
    for (kind, name) in [("NodeClaim", "c"), ("Node", "n")] {
        assert_eq!(stage.object(kind, name)["metadata"]["labels"][key], json!("d"), "{kind}");
        stage.server.merge(kind, name, &json!({"metadata": {"labels": {key: null}}}));
    }
    stage.put(with(node("stranger", "none"), json!({})));
    stage.put(with(claim("other"), json!({"spec": {"nodeClassRef": {"group": "example.com"}}})));
    stage.pass(1);
    for (kind, name, want) in [
        ("NodeClaim", "c", json!("d")),
        ("Node", "n", json!("d")),
        ("Node", "stranger", Value::Null),
        ("NodeClaim", "other", Value::Null),
    ] {
        assert_eq!(stage.object(kind, name)["metadata"]["labels"][key], want, "{kind} {name}");
    }
}
