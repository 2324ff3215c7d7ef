//! A control plane comes up, schedules, and leaves nothing behind.
#![allow(clippy::unwrap_used, clippy::expect_used)] // without a control plane there is nothing to test

use std::path::Path;

use millwright_rig::api::Api;
use millwright_rig::plane::{Plane, Programs};
use millwright_rig::room::Room;
use millwright_rig::say;
use serde_json::json;

/// Processes whose command line mentions `text`.
fn processes(text: &str) -> Vec<String> {
    let all =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
    all.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| line.contains(text)).collect()
}

#[test]
fn a_plane_schedules_a_pod_and_leaves_nothing_behind() {
    let programs = match Programs::locate() {
        Ok(programs) => programs,
        Err(missing) => return say(&format!("SKIPPED control plane: {missing}")),
    };
    let mut plane = Plane::start(&programs).unwrap();
    let folder = plane.kubeconfig().parent().unwrap().to_owned();
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    assert!(plane.is_alive());
    // The script and the three that are told where their files are.
    assert!(processes(&name).len() >= 4, "{:#?}", processes(&name));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let node = runtime.block_on(async {
        let client = plane.client().await.unwrap();
        let version = client.apiserver_version().await.unwrap();
        say(&format!("control plane {}", version.git_version));
        schedule(&Room::new(Api::new(client))).await
    });
    assert_eq!(node, "n1");
    drop(plane);
    assert_eq!(processes(&name), Vec::<String>::new());
    assert!(!Path::new(&folder).exists());
}

/// Where the scheduler puts a pod for which there is one node.
async fn schedule(room: &Room) -> String {
    let allocatable = json!({"cpu": 2, "memory": "4Gi", "pods": 10});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {
        "capacity": allocatable, "allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": 1}}}]}});
    let pods = "/api/v1/namespaces/default/pods";
    room.make_all(vec![("/api/v1/nodes".to_owned(), node), (pods.to_owned(), pod)]).await.unwrap();
    let bound = room.until(pods, "the pod is bound", |pods| !pods[0]["spec"]["nodeName"].is_null()).await.unwrap();
    room.clear().await.unwrap();
    assert!(room.api.list("/api/v1/nodes").await.unwrap().is_empty());
    bound[0]["spec"]["nodeName"].as_str().unwrap().to_owned()
}
