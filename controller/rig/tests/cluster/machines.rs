//! The provider and the kubelets by themselves.

use std::sync::Arc;

use millwright_core::control::ask::Refusal;
use millwright_kwok::provider::Kwok;
use millwright_models::catalog::{self, Gates};
use millwright_models::world::World;
use millwright_rig::api::Patch;
use millwright_runtime::provider::{Order, Provider};
use serde_json::{Value, json};

use super::support::{PODS, on_stage, pod};

fn order(uid: &str, cpu: i64) -> Order {
    let object = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "c-1", "uid": uid},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["c5.large", "m5.large"]}],
            "resources": {"requests": {"cpu": cpu}},
        },
    });
    Order {
        claim: "c-1".to_owned(),
        uid: uid.to_owned(),
        object,
        world: Arc::new(World::default()),
        catalog: Arc::new(catalog::embedded("us-east-1").unwrap()),
        gates: Gates::default(),
    }
}

#[test]
fn a_machine_lives_from_launch_to_the_end_of_its_node() {
    on_stage("machines", false, |stage| async move {
        let kwok = Kwok::new(stage.api().await);
        assert!(matches!(kwok.launch(order("u1", 64)).await, Err(Refusal::InsufficientCapacity { .. })));
        let machine = kwok.launch(order("u1", 1)).await.unwrap();
        assert_eq!(machine.labels["node.kubernetes.io/instance-type"], "c5.large");
        assert_eq!(kwok.launch(order("u1", 1)).await.unwrap().provider_id, machine.provider_id);
        assert!(matches!(kwok.launch(order("u2", 1)).await, Err(Refusal::Create { .. })), "the name is another's");
        assert_eq!(kwok.instances().await.unwrap().len(), 1);
        let found = kwok.describe(&machine.provider_id).await.unwrap();
        assert_eq!((found.claim.as_str(), &found.labels), ("c-1", &machine.labels));

        // A node that is nobody's machine is not touched.
        let other = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "other"}});
        stage.admin.post("/api/v1/nodes", &other).await.unwrap();
        assert_eq!(kwok.terminate("kwok://z/other").await, Err(Refusal::NotFound));

        // The node outlives its machine as long as a finalizer is on it.
        let path = "/api/v1/nodes/kwok-c-1";
        let held = json!({"metadata": {"finalizers": ["karpenter.sh/termination"]}});
        stage.admin.patch(path, Patch::Merge, &held).await.unwrap();
        assert_eq!(kwok.terminate(&machine.provider_id).await, Ok(()));
        assert_eq!(kwok.terminate(&machine.provider_id).await, Err(Refusal::NotFound));
        assert_eq!(kwok.describe(&machine.provider_id).await, Err(Refusal::NotFound));
        assert!(kwok.instances().await.unwrap().is_empty());
        let node = stage.admin.get(path).await.unwrap();
        assert!(!node["metadata"]["deletionTimestamp"].is_null());
        let free = json!({"metadata": {"finalizers": null}});
        stage.admin.patch(path, Patch::Merge, &free).await.unwrap();
        stage.until("the node is gone", "/api/v1/nodes", |all| all.len() == 1).await;
    });
}

#[test]
fn machines_boot_pods_run_and_leaving_pods_end() {
    on_stage("kubelets", false, |stage| async move {
        let kubelets = stage.kubelets().await;
        let kwok = Kwok::new(stage.api().await);
        kwok.launch(order("u1", 1)).await.unwrap();
        let is_ready = |node: &Value| {
            let conditions = node["status"]["conditions"].as_array();
            conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
        };
        stage.until("the machine boots", "/api/v1/nodes", |all| all.iter().all(is_ready)).await;
        let daemon = json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"containers": [{"name": "c", "image": "none"}]}}},
        });
        stage.admin.post("/apis/apps/v1/namespaces/default/daemonsets", &daemon).await.unwrap();
        stage.admin.post(PODS, &pod("p1")).await.unwrap();
        let free = json!({"spec": {"taints": null}});
        stage.admin.patch("/api/v1/nodes/kwok-c-1", Patch::Merge, &free).await.unwrap();
        let all_run = |all: &[Value]| all.len() == 2 && all.iter().all(|p| p["status"]["phase"] == "Running");
        let pods = stage.until("both pods run", PODS, all_run).await;
        let is_ready = |p: &Value| {
            p["status"]["conditions"].as_array().unwrap().iter().any(|c| c["type"] == "Ready" && c["status"] == "True")
        };
        assert!(pods.iter().all(is_ready));
        stage.admin.leave(&format!("{PODS}/p1")).await.unwrap();
        stage.until("the pod ends", PODS, |all| all.iter().all(|p| p["metadata"]["name"] != "p1")).await;
        kubelets.abort();
    });
}
