//! LIF-082 to LIF-085, and the hash of 30-disruption §17.1.

use millwright_core::control::ask::Ask;
use serde_json::{Value, json};

use crate::objects::{claim, class, node, pool, with};
use crate::provider::id;
use crate::stage::Stage;

fn scene() -> Stage {
    let mut stage = Stage::new();
    stage.put(class());
    stage.put(pool());
    stage.settle();
    stage
}

fn resources(stage: &Stage) -> Value {
    stage.object("NodePool", "p")["status"]["resources"].clone()
}

#[test]
fn lif_082_lif_083_what_a_pool_has() {
    let mut stage = scene();
    let none = json!({"cpu": "0", "memory": "0", "pods": "0", "ephemeral-storage": "0", "nodes": "0"});
    assert_eq!(resources(&stage), none);
    assert_eq!(stage.object("NodePool", "p")["status"]["nodes"], json!(0));
    stage.put(claim("c"));
    stage.settle();
    stage.pass(6);
    assert_eq!(resources(&stage)["cpu"], json!("4"), "of the claim");
    stage.put(with(node("n", "c"), json!({"status": {"capacity": {"cpu": "3", "example.com/gpu": "1"}}})));
    stage.settle();
    stage.pass(6);
    let full = resources(&stage);
    assert_eq!((&full["cpu"], &full["nodes"], &full["example.com/gpu"]), (&json!("3"), &json!("1"), &json!("1")));
    stage.shared.memory.marked.insert(id("c"));
    stage.pass(6);
    assert_eq!(resources(&stage), none, "marked for deletion, and what it alone had is gone");
    stage.shared.memory.marked.clear();
    stage.pass(6);
    assert_eq!(resources(&stage), full);
    let patches = stage.asked(|a| matches!(a, Ask::Patch { target, .. } if target.name == "p"));
    stage.pass(60);
    assert_eq!(stage.asked(|a| matches!(a, Ask::Patch { target, .. } if target.name == "p")), patches, "quiet");
}

#[test]
fn lif_084_readiness_follows_the_class() {
    let status = |conditions: Value| json!({"status": {"conditions": conditions}});
    let says = |s: &str| status(json!([{"type": "Ready", "status": s, "reason": "R", "message": "m"}]));
    for (patch, want, reason) in [
        (None, "False", "NodeClassNotFound"),
        (Some(json!({"metadata": {"deletionTimestamp": "2026-12-01T09:00:00Z"}})), "False", "NodeClassTerminating"),
        (Some(says("Unknown")), "False", "NodeClassReadinessUnknown"),
        (Some(status(json!([]))), "False", "NodeClassReadinessUnknown"),
        (Some(says("False")), "False", "R"),
        (Some(says("True")), "True", "NodeClassReady"),
    ] {
        let mut stage = Stage::new();
        stage.put(pool());
        if let Some(patch) = patch {
            stage.put(with(class(), patch));
        }
        stage.settle();
        let (status, why) = stage.condition("NodePool", "p", "NodeClassReady");
        assert_eq!((status.as_str(), why.as_str()), (want, reason));
        assert_eq!(stage.condition("NodePool", "p", "Ready").0, want);
    }
}

#[test]
fn lif_085_wrong_pools_say_so() {
    let values = |v: Value| {
        json!({"spec": {"template": {"spec": {"requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": v}]}}}})
    };
    for (list, valid) in [(json!(["foo"]), "False"), (json!(["foo", "spot"]), "True")] {
        let mut stage = Stage::new();
        stage.put(class());
        stage.put(with(pool(), values(list)));
        stage.settle();
        assert_eq!(stage.condition("NodePool", "p", "ValidationSucceeded").0, valid);
        assert_eq!(stage.condition("NodePool", "p", "Ready").0, valid);
    }
    let mut stage = Stage::new();
    stage.put(with(pool(), json!({"spec": {"template": {"spec": {"nodeClassRef": {"kind": "Other"}}}}})));
    stage.settle();
    assert!(stage.object("NodePool", "p")["status"].is_null(), "pools of others are left alone");
}

#[test]
fn the_hash_moves_to_claims_that_have_not_drifted_and_then_to_the_pool() {
    let (hash, version) = ("karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version");
    let old = json!({"metadata": {"annotations": {hash: "1", version: "v2"}}});
    let mut stage = Stage::new();
    stage.put(class());
    stage.put(with(pool(), old.clone()));
    stage.put(with(claim("c"), old.clone()));
    let drifted = json!({"status": {"conditions": [{"type": "Drifted", "status": "True"}]}});
    stage.put(with(with(claim("d"), old), drifted));
    stage.settle();
    let note = |kind: &str, name: &str, key: &str| stage.object(kind, name)["metadata"]["annotations"][key].clone();
    let new = note("NodePool", "p", hash);
    assert_ne!(new, json!("1"));
    assert_eq!((note("NodeClaim", "c", hash), note("NodeClaim", "d", hash)), (new, json!("1")));
    for (kind, name) in [("NodePool", "p"), ("NodeClaim", "c"), ("NodeClaim", "d")] {
        assert_eq!(note(kind, name, version), json!("v3"), "{kind} {name}");
    }
}
