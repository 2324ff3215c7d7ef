//! What a PodDisruptionBudget refuses comes back as that, and soon.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use millwright_core::control::ask::{Ask, Refusal, Reply, Target};
use millwright_core::control::brain::{Piece, Shared};
use millwright_core::control::desk::{Desk, Part, Sent};
use millwright_core::control::view::View;
use millwright_models::kube::pod::Phase;
use millwright_rig::api::Patch;
use serde_json::json;

use super::support::{PODS, on_stage, pod};

/// Evicts every running pod, and keeps the first answer.
struct Evictor(Arc<Mutex<Option<Reply>>>);

impl Piece for Evictor {
    fn look(&mut self, view: &View<'_>, _: &mut Shared, desk: &mut Desk) {
        for pod in view.world.pods.iter().filter(|p| p.phase == Phase::Running) {
            let (target, uid) = (Target::pod(&pod.namespace, &pod.name), pod.uid.clone());
            desk.ask(Part::Lifecycle, Ask::Evict { pod: target, uid });
        }
    }

    fn answer(&mut self, _: &Sent, reply: &Reply, _: &mut Shared, _: &mut Desk) {
        self.0.lock().unwrap().get_or_insert_with(|| reply.clone());
    }
}

#[test]
fn a_refused_eviction_is_an_answer_and_not_tried_again_unseen() {
    on_stage("budgets", true, |stage| async move {
        let node = json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                "conditions": [{"type": "Ready", "status": "True"}]},
        });
        stage.admin.post("/api/v1/nodes", &node).await.unwrap();
        let mut held = pod("held");
        held["metadata"]["labels"] = json!({"app": "held"});
        held["spec"]["nodeName"] = json!("n1");
        stage.admin.post(PODS, &held).await.unwrap();
        let budget = json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "held"}}},
        });
        let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
        stage.admin.post(budgets, &budget).await.unwrap();
        let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        let status = format!("{PODS}/held/status");
        stage.admin.patch(&status, Patch::Strategic, &ready).await.unwrap();
        stage.until("the budget is counted", budgets, |all| all[0]["status"]["observedGeneration"] == 1).await;
        let answer = Arc::new(Mutex::new(None));
        let controller = stage.controller(Evictor(answer.clone())).await;
        let start = Instant::now();
        let answered = || answer.lock().unwrap().clone();
        while answered().is_none() {
            assert!(start.elapsed() < Duration::from_secs(25), "no answer");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let answer = answered().unwrap();
        assert!(matches!(&answer, Reply::Refused(Refusal::Budget { .. })), "{answer:?}");
        controller.stop().await;
    });
}
