//! Kubernetes objects of the room.

use serde_json::{Value, json};

pub use crate::json::merge;

fn patched(mut object: Value, patch: Value) -> Value {
    merge(&mut object, &patch);
    object
}

pub fn class() -> Value {
    let ready = json!([{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-11-01T00:00:00Z"}]);
    json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}]}, "status": {"conditions": ready}})
}

/// A pool of on-demand machines that consolidates at once.
pub fn pool(name: &str, patch: Value) -> Value {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let types = ["t1", "t2", "t4", "t8", "t16"];
    let spec = json!({
        "template": {"spec": {
            "requirements": [
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": types},
                {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z1"]}],
            "nodeClassRef": class, "expireAfter": "Never"}},
        "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s",
            "budgets": [{"nodes": "100%"}]}});
    let ready = |kind: &str| json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-11-01T00:00:00Z"});
    let conditions = json!([ready("ValidationSucceeded"), ready("NodeClassReady"), ready("Ready")]);
    let object = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": name, "uid": format!("pool-{name}")}, "spec": spec, "status": {"conditions": conditions}});
    patched(object, patch)
}

/// A pod of a ReplicaSet `app`.
pub fn pod(app: &str, name: &str, cpu: &str, patch: Value) -> Value {
    let object = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": format!("rs-{app}"), "controller": true}]},
        "spec": {"terminationGracePeriodSeconds": 1,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}]},
        "status": {"phase": "Pending"}});
    patched(object, patch)
}

/// What the scheduler writes on a pod that it finds no node for.
pub fn unschedulable() -> Value {
    json!({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}})
}

pub fn on(node: &str) -> Value {
    json!({"spec": {"nodeName": node}, "status": {"phase": "Running", "startTime": "2026-11-30T11:00:00Z",
        "conditions": [{"type": "Ready", "status": "True"}]}})
}

/// A node that was there before, with its claim.
pub fn node(name: &str, kind: &str) -> [Value; 2] {
    let cpus: u32 = kind[1..].parse().unwrap();
    let born = "2026-11-30T10:00:00Z";
    let labels = json!({
        "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": kind, "topology.kubernetes.io/zone": "z1",
        "karpenter.sh/capacity-type": "on-demand", "karpenter.sh/nodepool": "p",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"});
    let room = json!({"cpu": format!("{}m", cpus * 1000 - 100), "memory": format!("{}Mi", cpus * 2048 - 100),
        "pods": (cpus * 5).to_string()});
    let yes = |kinds: &[&str]| -> Vec<Value> {
        let one = |k: &&str| json!({"type": k, "status": "True", "reason": k, "message": "", "lastTransitionTime": born, "observedGeneration": 1});
        kinds.iter().map(one).collect()
    };
    let uid = format!("claim-uid-{name}");
    let owner = json!([{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": format!("claim-{name}"), "uid": uid,
        "blockOwnerDeletion": true}]);
    let node = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": labels, "creationTimestamp": born, "finalizers": ["karpenter.sh/termination"],
            "ownerReferences": owner},
        "spec": {"providerID": format!("lab:///{name}")},
        "status": {"allocatable": room, "capacity": room, "conditions": yes(&["Ready"])}});
    let claim = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": format!("claim-{name}"), "uid": uid, "labels": labels, "creationTimestamp": born,
            "finalizers": ["karpenter.sh/termination"]},
        "spec": {"requirements": [], "expireAfter": "Never",
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
        "status": {"providerID": format!("lab:///{name}"), "nodeName": name, "allocatable": room, "capacity": room,
            "conditions": yes(&["Launched", "Registered", "Initialized", "Ready"])}});
    [node, claim]
}

pub fn daemon_set(name: &str, cpu: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "default", "uid": format!("ds-{name}")},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "16Mi"}}}]}}}})
}
