//! Snapshots of a real API server.

use millwright_client::capture::capture;
use millwright_client::server::Server;
use millwright_models::reader::{Document, ReadOptions, read};
use millwright_models::redact::redact;
use millwright_models::world::World;
use serde_json::{Value, json};

use super::support::{PODS, on_stage, pod};

/// More than one page of pods.
const MANY: usize = 620;

fn world(objects: &[Value]) -> World {
    let text = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    read(&[Document { file: "snapshot".to_owned(), text }], &ReadOptions { default_pools: false }).unwrap()
}

fn count(objects: &[Value], kind: &str) -> usize {
    objects.iter().filter(|o| o["kind"] == kind).count()
}

#[test]
fn a_snapshot_holds_the_cluster_and_names_what_may_not_be_read() {
    on_stage("capture", true, |stage| async move {
        stage.pool().await;
        let node = json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "secret-node", "labels": {"acme.example/tier": "gold"}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}, "images": [{"names": ["registry/acme"]}]},
        });
        stage.admin.post("/api/v1/nodes", &node).await.unwrap();
        for n in 0..MANY {
            stage.admin.post(PODS, &pod(&format!("acme-{n:03}"))).await.unwrap();
        }
        let all = capture(&Server::new(stage.client().await)).await.unwrap();
        assert_eq!(all.warnings, Vec::<String>::new());
        assert_eq!(count(&all.objects, "Pod"), MANY, "page by page");
        for (kind, there) in [("Node", 1), ("NodePool", 1), ("EC2NodeClass", 1), ("PriorityClass", 2)] {
            assert_eq!(count(&all.objects, kind), there, "{kind}");
        }
        let own = world(&all.objects);
        let hidden = redact(&all.objects);
        let redacted = world(&hidden);
        assert_eq!((own.pods.len(), own.nodes.len()), (redacted.pods.len(), redacted.nodes.len()));
        let sum = |w: &World| w.pods.iter().map(|p| p.requests.get("cpu")).sum::<i64>();
        assert_eq!(sum(&own), sum(&redacted));
        let text = Value::Array(hidden).to_string();
        assert!(!text.contains("acme") && !text.contains("secret-node") && !text.contains("registry"));

        // A user who may read pods and nodes, and nothing else.
        let rules = json!([{"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["list"]}]);
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "reader"}, "rules": rules});
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "reader"}, "subjects": [{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"kind": "ClusterRole", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}});
        let root = "/apis/rbac.authorization.k8s.io/v1";
        stage.admin.post(&format!("{root}/clusterroles"), &role).await.unwrap();
        stage.admin.post(&format!("{root}/clusterrolebindings"), &binding).await.unwrap();
        let jane = Server::new(stage.client_as("jane").await);
        // Rights take a moment to be known.
        let mut part = capture(&jane).await;
        for _ in 0..100 {
            if part.is_ok() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            part = capture(&jane).await;
        }
        let part = part.unwrap();
        assert_eq!((count(&part.objects, "Pod"), part.objects.len()), (MANY, MANY + 1));
        assert!(part.warnings.iter().any(|w| w.starts_with("nodepools may not be listed")), "{:?}", part.warnings);
        assert!(part.warnings.len() > 10, "each kind is named: {:?}", part.warnings);
        let nobody = capture(&Server::new(stage.client_as("nobody").await)).await.unwrap_err();
        assert_eq!((nobody.code, nobody.what.starts_with("GET /api/v1/pods")), (403, true), "{nobody}");
    });
}
