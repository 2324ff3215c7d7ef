//! Objects of the scenes.

use serde_json::{Value, json};

use crate::provider::id;
use crate::server::merge;
use crate::stage::Stage;

pub const FINALIZER: &str = "karpenter.sh/termination";

pub fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "p"}},
        "spec": {
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
            "resources": {"requests": {"cpu": "1", "memory": "1Gi", "pods": "3"}},
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "d"},
        },
    })
}

/// A node as a kubelet registers it for the machine of a claim.
pub fn node(name: &str, claim: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {"providerID": id(claim), "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]},
        "status": {
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    })
}

pub fn pod(name: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "a", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": true}]},
        "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [{"name": "c"}]},
        "status": {"phase": "Running"},
    })
}

pub fn daemon(name: &str, node: &str) -> Value {
    with(
        pod(name, node),
        json!({"metadata": {"ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "ds", "uid": "ds", "controller": true}]}}),
    )
}

pub fn class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "d"},
        "spec": {"amiFamily": "AL2023"},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": ""}]},
    })
}

pub fn pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p", "uid": "pool-uid"},
        "spec": {"template": {"spec": {
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "d"},
        }}},
    })
}

/// An object with a merge patch on it.
pub fn with(mut object: Value, patch: Value) -> Value {
    merge(&mut object, &patch);
    object
}

/// A claim `c` that is launched.
pub fn launched(spec: Value) -> Stage {
    let mut stage = Stage::new();
    stage.put(with(claim("c"), spec));
    stage.settle();
    stage.claim_says("Launched", "True", "Launched");
    stage
}

/// A claim `c` with its node `n`, ready for pods.
pub fn ready(spec: Value) -> Stage {
    let mut stage = launched(spec);
    stage.put(node("n", "c"));
    stage.settle();
    stage.claim_says("Initialized", "True", "Initialized");
    stage
}
