//! The life of one node, from its registration to its release.

use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};

use super::cluster::Planned;
use super::{PODS, Way};
use crate::api::{Api, ApiError, Patch};
use crate::objects;

const UNREGISTERED: &str = "karpenter.sh/unregistered";
const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// For what the controllers do by themselves.
const LONG: Duration = Duration::from_secs(20);

/// Registers a node, lets it boot, and lands its pods if that is the way.
pub async fn live(api: &Api, way: Way, planned: &Planned, pods: &[String]) -> Result<(), ApiError> {
    tokio::time::sleep(Duration::from_millis(planned.registers)).await;
    api.post("/api/v1/nodes", &object(planned, way)).await?;
    tokio::time::sleep(Duration::from_millis(planned.boots)).await;
    let path = format!("/api/v1/nodes/{}", planned.name);
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    api.patch(&format!("{path}/status"), Patch::Strategic, &ready).await?;
    if way == Way::Landed {
        hold(api, &path).await?;
        until(api, &path, |node| taints(node).iter().all(|t| t["key"] != NOT_READY)).await?;
        await_daemon(api, &planned.name).await?;
        for pod in pods {
            bind(api, pod, &planned.name).await?;
        }
        api.patch(&path, Patch::Merge, &json!({"spec": {"unschedulable": null}})).await?;
    }
    Ok(())
}

fn object(planned: &Planned, way: Way) -> Value {
    let taints = if way == Way::Landed { json!([{"key": UNREGISTERED, "effect": "NoExecute"}]) } else { json!([]) };
    let room = json!({"cpu": format!("{}m", planned.cpu), "memory": format!("{}Mi", planned.memory), "pods": 110});
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": planned.name, "labels": {"kubernetes.io/hostname": planned.name}},
        "spec": {"taints": taints},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "False"}]}})
}

/// Swaps the registration taint for a cordon, in one write.
async fn hold(api: &Api, path: &str) -> Result<(), ApiError> {
    loop {
        let node = api.get(path).await?;
        let mut kept = taints(&node).to_vec();
        kept.retain(|t| t["key"] != UNREGISTERED);
        let patch = json!({
            "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
            "spec": {"unschedulable": true, "taints": kept},
        });
        match api.patch(path, Patch::Merge, &patch).await {
            // The controllers write taints too.
            Err(e) if e.is(StatusCode::CONFLICT) => {}
            other => return other.map(drop),
        }
    }
}

fn taints(node: &Value) -> &[Value] {
    node["spec"]["taints"].as_array().map_or(&[], Vec::as_slice)
}

/// Waits until an object is as it should be; after long enough goes on anyway.
async fn until(api: &Api, path: &str, holds: impl Fn(&Value) -> bool) -> Result<(), ApiError> {
    let start = Instant::now();
    while start.elapsed() < LONG && !holds(&api.get(path).await?) {
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    Ok(())
}

/// Waits for the pod of the DaemonSet, which tolerates a cordon.
async fn await_daemon(api: &Api, node: &str) -> Result<(), ApiError> {
    until(api, &format!("{PODS}?labelSelector=daemon%3Dagent&fieldSelector=spec.nodeName%3D{node}"), |list| {
        list["items"].as_array().is_some_and(|items| !items.is_empty())
    })
    .await
}

async fn bind(api: &Api, pod: &str, node: &str) -> Result<(), ApiError> {
    let path = format!("{PODS}/{pod}");
    let found = api.get(&path).await?;
    let binding = json!({"apiVersion": "v1", "kind": "Binding",
        "metadata": {"name": objects::name(&found), "uid": found["metadata"]["uid"]},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node}});
    match api.post(&format!("{path}/binding"), &binding).await {
        // Somebody was faster: the score will tell.
        Err(e) if e.is(StatusCode::CONFLICT) => Ok(()),
        other => other.map(drop),
    }
}
