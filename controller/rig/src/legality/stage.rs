//! A scene set up on a plane: everything is there but the pods that wait have
//! still to be let in.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::Scene;
use crate::api::Patch;
use crate::objects::{self, namespace};
use crate::room::{Room, RoomError};

/// The storage class of claims that nobody has written.
pub const LATE: &str = "rig-late";

/// Sets up `scene` in a clear room. Returns the pods that wait and that the
/// API server refuses, with its words.
pub async fn set(room: &Room, scene: &Scene) -> Result<Vec<(usize, String)>, RoomError> {
    namespaces(room, scene).await?;
    classes(room, scene).await?;
    storage(room, scene).await?;
    room.make_all(at("/api/v1/nodes", scene.nodes.iter().cloned())).await?;
    running(room, scene).await?;
    room.until("/api/v1/nodes", "taints of new nodes are gone", |nodes| nodes.iter().all(is_settled)).await?;
    daemons(room, scene).await?;
    let waiting = scene.waiting.iter().map(|w| (pods(&w.namespace), w.object.clone())).collect();
    let made = room.make(waiting).await?;
    let refused = made.into_iter().enumerate().filter_map(|(i, made)| Some((i, made.err()?.to_string())));
    Ok(refused.collect())
}

async fn namespaces(room: &Room, scene: &Scene) -> Result<(), RoomError> {
    for name in &scene.namespaces {
        let written = scene.documents.find("Namespace", "default", name);
        let labels = written.and_then(|n| serde_json::from_value(n["metadata"]["labels"].clone()).ok());
        room.namespace(name, &labels.unwrap_or_default()).await?;
    }
    Ok(())
}

/// Classes of priority and runtime, default requests.
async fn classes(room: &Room, scene: &Scene) -> Result<(), RoomError> {
    let documents = &scene.documents;
    let templates = documents.of("DaemonSet").map(|d| &d["spec"]["template"]["spec"]);
    let workloads = ["Deployment", "StatefulSet", "ReplicaSet", "Job", "ReplicationController"];
    let others = workloads.iter().flat_map(|k| documents.of(k)).map(|w| &w["spec"]["template"]["spec"]);
    let specs = documents.of("Pod").map(|p| &p["spec"]).chain(templates).chain(others);
    let priorities = objects::priority_classes(documents.of("PriorityClass"), specs);
    room.make_all(at("/apis/scheduling.k8s.io/v1/priorityclasses", priorities.into_iter())).await?;
    let runtimes = documents.of("RuntimeClass").map(|class| {
        let mut class = objects::afresh(class);
        if class["handler"].is_null() {
            class["handler"] = json!("none");
        }
        class
    });
    room.make_all(at("/apis/node.k8s.io/v1/runtimeclasses", runtimes)).await?;
    let ranges = documents.of("LimitRange").map(objects::afresh);
    room.make_all(ranges.map(|r| (format!("/api/v1/namespaces/{}/limitranges", namespace(&r)), r)).collect()).await?;
    Ok(())
}

/// Storage classes, claims, volumes bound to them, limits.
async fn storage(room: &Room, scene: &Scene) -> Result<(), RoomError> {
    let late = json!({"metadata": {"name": LATE}, "volumeBindingMode": "WaitForFirstConsumer"});
    let classes = scene.documents.of("StorageClass").chain([&late]).map(|class| {
        let mut class = objects::storage_class(class);
        class["apiVersion"] = json!("storage.k8s.io/v1");
        class["kind"] = json!("StorageClass");
        class
    });
    room.make_all(at("/apis/storage.k8s.io/v1/storageclasses", classes)).await?;
    let mut bound = 0;
    let mut volumes = Vec::new();
    for volume in scene.documents.of("PersistentVolume") {
        let claim = scene.claims.iter().find(|c| c["spec"]["volumeName"] == volume["metadata"]["name"]);
        bound += usize::from(claim.is_some());
        volumes.push(objects::volume(volume, claim));
    }
    // Volumes first: a claim looks for its volume when it comes, then only
    // every quarter of a minute.
    room.make_all(at("/api/v1/persistentvolumes", volumes.into_iter())).await?;
    room.make_all(scene.claims.iter().map(|c| (claims(namespace(c)), c.clone())).collect()).await?;
    room.make_all(at("/apis/storage.k8s.io/v1/csinodes", scene.volume_limits.iter().cloned())).await?;
    if bound > 0 {
        let all = |claims: &[Value]| claims.iter().filter(|c| c["status"]["phase"] == "Bound").count() >= bound;
        room.until("/api/v1/persistentvolumeclaims", "claims are bound to their volumes", all).await?;
    }
    Ok(())
}

/// Pods that run.
async fn running(room: &Room, scene: &Scene) -> Result<(), RoomError> {
    let mut wanted = Vec::new();
    for pod in &scene.running {
        let mut object = pod.object.clone();
        let set = pod.daemon_set.as_ref().and_then(|n| scene.documents.find("DaemonSet", namespace(&object), n));
        // A set adopts the pods that its selector finds.
        for (key, value) in set.and_then(|s| selected(s).as_object()).into_iter().flatten() {
            object["metadata"]["labels"][key] = value.clone();
        }
        wanted.push((pods(namespace(&object)), object));
    }
    room.make_all(wanted).await?;
    for pod in &scene.running {
        let path = format!("{}/{}", pods(namespace(&pod.object)), objects::name(&pod.object));
        let mut status = json!({});
        for field in ["phase", "containerStatuses", "initContainerStatuses", "resize"] {
            if let Some(value) = pod.status.get(field).filter(|v| **v != "Pending" && !v.is_null()) {
                status[field] = value.clone();
            }
        }
        if status != json!({}) {
            room.api.patch(&format!("{path}/status"), Patch::Merge, &json!({"status": status})).await?;
        }
        if pod.terminating {
            room.api.leave(&path).await?;
        }
    }
    Ok(())
}

/// The labels that a DaemonSet's pods have.
fn selected(set: &Value) -> &Value {
    let labels = &set["spec"]["selector"]["matchLabels"];
    if labels.is_null() { &set["spec"]["template"]["metadata"]["labels"] } else { labels }
}

/// DaemonSets, and the pods that they make now.
async fn daemons(room: &Room, scene: &Scene) -> Result<(), RoomError> {
    let mut wanted = Vec::new();
    for set in scene.documents.of("DaemonSet") {
        let mut set = objects::afresh(set);
        objects::settle_spec(&mut set["spec"]["template"]["spec"]);
        set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
        let labels = &set["spec"]["template"]["metadata"]["labels"];
        if labels.as_object().is_none_or(serde_json::Map::is_empty) {
            set["spec"]["template"]["metadata"] = json!({"labels": {"rig-set": objects::name(&set)}});
        }
        if set["spec"]["selector"].is_null() {
            set["spec"]["selector"] = json!({"matchLabels": set["spec"]["template"]["metadata"]["labels"]});
        }
        wanted.push((format!("/apis/apps/v1/namespaces/{}/daemonsets", namespace(&set)), set));
    }
    if wanted.is_empty() {
        return Ok(());
    }
    room.make_all(wanted).await?;
    let seen = |sets: &[Value]| sets.iter().all(|s| s["status"]["observedGeneration"].as_i64() >= Some(1));
    room.until("/apis/apps/v1/daemonsets", "DaemonSets are looked at", seen).await?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let settled = |pods: &[Value]| pods.iter().all(|p| !p["spec"]["nodeName"].is_null() || is_unschedulable(p));
    room.until("/api/v1/pods", "the pods of DaemonSets have come", settled).await?;
    Ok(())
}

/// What the scheduler said of a pod that it cannot place.
pub fn unschedulable(pod: &Value) -> Option<&str> {
    let conditions = pod["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|c| c["type"] == "PodScheduled" && c["reason"] == "Unschedulable")?;
    found["message"].as_str()
}

fn is_unschedulable(pod: &Value) -> bool {
    unschedulable(pod).is_some()
}

/// Whether the controllers have made up their minds on a node's taints: every
/// new node is tainted until it is seen to be Ready.
fn is_settled(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    let ready = conditions.and_then(|all| all.iter().find(|c| c["type"] == "Ready"));
    if ready.is_some_and(|c| c["status"] != "True") {
        return true;
    }
    let taints = node["spec"]["taints"].as_array();
    taints.is_none_or(|all| all.iter().all(|t| t["key"] != "node.kubernetes.io/not-ready"))
}

fn at(path: &str, all: impl Iterator<Item = Value>) -> Vec<(String, Value)> {
    all.map(|object| (path.to_owned(), object)).collect()
}

pub fn pods(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/pods")
}

fn claims(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims")
}
