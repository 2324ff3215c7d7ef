//! ReplicaSets and StatefulSets: pods are made and deleted until their number
//! is right.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

/// Compares every set with its pods.
pub fn run(stage: &mut Stage) {
    let now = stage.now();
    for kind in [Kind::ReplicaSet, Kind::StatefulSet] {
        let sets: Vec<(Key, Arc<Value>)> = stage.server.all(kind).map(|(k, o)| (k.clone(), o.clone())).collect();
        for (key, set) in sets {
            let wanted = json::get(&set, &["spec", "replicas"]).and_then(Value::as_i64).unwrap_or(1);
            let wanted = usize::try_from(wanted).unwrap_or(0);
            let pods = owned(stage, &set);
            if kind == Kind::ReplicaSet {
                replica_set(stage, &key, &set, wanted, pods, now);
            } else {
                stateful_set(stage, &key, &set, wanted, pods, now);
            }
        }
    }
}

fn owned(stage: &Stage, set: &Value) -> Vec<(Key, Arc<Value>)> {
    let of_set = |pod: &Value| json::controller(pod).is_some_and(|o| json::text(o, &["uid"]) == json::uid(set));
    stage.server.all(Kind::Pod).filter(|(_, p)| of_set(p)).map(|(k, p)| (k.clone(), p.clone())).collect()
}

fn replica_set(
    stage: &mut Stage,
    key: &Key,
    set: &Value,
    wanted: usize,
    mut pods: Vec<(Key, Arc<Value>)>,
    now: Timestamp,
) {
    pods.retain(|(_, p)| !json::has_ended(p) && !json::is_deleting(p));
    for _ in pods.len()..wanted {
        let meta = json!({"generateName": format!("{}-", key.name)});
        // Fails only for what the generator of worlds made wrong.
        drop(stage.server.create(pod(set, meta), now));
    }
    // Those that run least go first.
    pods.sort_by_key(|(_, p)| {
        let bound = !json::text(p, &["spec", "nodeName"]).is_empty();
        let since = std::cmp::Reverse(json::text(p, &["metadata", "creationTimestamp"]).to_owned());
        (bound, json::is_true(p, "Ready"), since)
    });
    let extra = pods.len().saturating_sub(wanted);
    for (pod, object) in pods.into_iter().take(extra) {
        drop(stage.server.delete(&pod, json::uid(&object), None, now));
    }
}

fn stateful_set(
    stage: &mut Stage,
    key: &Key,
    set: &Value,
    wanted: usize,
    pods: Vec<(Key, Arc<Value>)>,
    now: Timestamp,
) {
    let names: Vec<String> = (0..wanted).map(|i| format!("{}-{i}", key.name)).collect();
    for (pod, object) in &pods {
        let is_extra = !names.contains(&pod.name);
        if (is_extra && !json::is_deleting(object)) || json::has_ended(object) {
            drop(stage.server.delete(pod, json::uid(object), None, now));
        }
    }
    for name in names {
        // The old pod keeps the name until it is gone.
        if stage.server.get(&Key::pod(&key.namespace, &name)).is_none() {
            drop(stage.server.create(pod(set, json!({"name": name})), now));
        }
    }
}

/// A pod of a workload's template.
pub fn pod(owner: &Value, mut meta: Value) -> Value {
    let template = &owner["spec"]["template"];
    for field in ["labels", "annotations"] {
        if let Some(map) = json::get(template, &["metadata", field]) {
            meta[field] = map.clone();
        }
    }
    meta["namespace"] = owner["metadata"]["namespace"].clone();
    meta["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    }]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]})
}
