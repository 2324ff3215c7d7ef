//! DaemonSets: a pod on every node that its tolerations and selectors admit.
//! Cordons do not count.

use std::collections::BTreeMap;
use std::sync::Arc;

use millwright_models::kube::node::{Taint, untolerated};
use millwright_models::kube::pod::Toleration;
use serde_json::{Value, json};

use super::replicas;
use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

/// What the controller lets all its pods tolerate.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// Compares every set with the nodes.
pub fn run(stage: &mut Stage) {
    let now = stage.now();
    let sets: Vec<Arc<Value>> = stage.server.all(Kind::DaemonSet).map(|(_, o)| o.clone()).collect();
    if sets.is_empty() {
        return;
    }
    let nodes: Vec<(String, Vec<Taint>)> =
        stage.server.all(Kind::Node).map(|(k, o)| (k.name.clone(), taints(o))).collect();
    for set in sets {
        let tolerations = tolerations(&set);
        let tolerated: Vec<Toleration> = serde_json::from_value(tolerations.clone()).unwrap_or_default();
        let mut pods: BTreeMap<String, Vec<(Key, Arc<Value>)>> = BTreeMap::new();
        for (key, pod) in stage.server.all(Kind::Pod) {
            if json::controller(pod).is_some_and(|o| json::text(o, &["uid"]) == json::uid(&set)) {
                pods.entry(place(pod).to_owned()).or_default().push((key.clone(), pod.clone()));
            }
        }
        for (node, taints) in &nodes {
            let here = pods.remove(node).unwrap_or_default();
            let hard = |t: &&Taint| matches!(t.effect.as_str(), "NoSchedule" | "NoExecute");
            let all: Vec<Taint> = taints.iter().filter(hard).cloned().collect();
            let execute: Vec<Taint> = all.iter().filter(|t| t.effect == "NoExecute").cloned().collect();
            let should_run = untolerated(&all, &tolerated).is_none();
            let may_stay = untolerated(&execute, &tolerated).is_none();
            for (key, pod) in &here {
                if json::has_ended(pod) || (!may_stay && !json::is_deleting(pod)) {
                    drop(stage.server.delete(key, json::uid(pod), None, now));
                }
            }
            if should_run && here.is_empty() {
                let mut pod = replicas::pod(&set, json!({"generateName": format!("{}-", json::name(&set))}));
                pod["spec"]["tolerations"] = tolerations.clone();
                pod["spec"]["affinity"] = pinned(node);
                drop(stage.server.create(pod, now));
            }
        }
        // Pods whose node is gone before they were bound.
        for (key, pod) in pods.into_values().flatten() {
            if json::text(&pod, &["spec", "nodeName"]).is_empty() {
                drop(stage.server.delete(&key, json::uid(&pod), None, now));
            }
        }
    }
}

pub fn taints(node: &Value) -> Vec<Taint> {
    serde_json::from_value(node["spec"].get("taints").cloned().unwrap_or_else(|| json!([]))).unwrap_or_default()
}

fn tolerations(set: &Value) -> Value {
    let mut all = json::list(set, &["spec", "template", "spec", "tolerations"]).to_vec();
    all.extend(TOLERATED.map(|(key, effect)| json!({"key": key, "operator": "Exists", "effect": effect})));
    Value::Array(all)
}

fn pinned(node: &str) -> Value {
    let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchFields": [field]}],
    }}})
}

/// The node a DaemonSet's pod is for.
fn place(pod: &Value) -> &str {
    let bound = json::text(pod, &["spec", "nodeName"]);
    if !bound.is_empty() {
        return bound;
    }
    let required = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = json::get(pod, &required).map(|r| json::list(r, &["nodeSelectorTerms"])).unwrap_or_default();
    let field = terms.first().map(|t| json::list(t, &["matchFields"])).unwrap_or_default().first();
    field.and_then(|f| json::list(f, &["values"]).first()).and_then(Value::as_str).unwrap_or_default()
}
