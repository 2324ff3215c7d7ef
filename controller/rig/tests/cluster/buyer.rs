//! From a pending pod to a running one, with a brain that knows just enough.

use millwright_core::control::ask::{Ask, Event, Kind, Reply, Target};
use millwright_core::control::brain::{Piece, Shared};
use millwright_core::control::desk::{Desk, Part, Sent};
use millwright_core::control::view::View;
use serde_json::{Value, json};

use super::support::{CLAIMS, PODS, get, on_stage, pod};

const PART: Part = Part::Lifecycle;
const UNREGISTERED: &str = "karpenter.sh/unregistered";

/// Buys one machine while pods wait and there is none.
#[derive(Default)]
pub struct Buyer;

fn claim() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "c-1", "labels": {"karpenter.sh/nodepool": "default"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large", "m5.xlarge"]},
            ],
            "resources": {"requests": {"cpu": "500m"}},
        },
    })
}

impl Piece for Buyer {
    fn look(&mut self, view: &View<'_>, _: &mut Shared, desk: &mut Desk) {
        let world = view.world;
        let waits = world.pods.iter().any(|p| p.node_name.is_none());
        if waits && world.node_claims.is_empty() && !world.node_pools.is_empty() {
            desk.ask(PART, Ask::Create { target: Target::claim("c-1"), object: claim() });
        }
        for found in world.node_claims.iter().filter(|c| c.provider_id.is_empty()) {
            let mut object = claim();
            object["metadata"]["uid"] = json!(found.meta.uid);
            let (claim, uid) = (found.meta.name.clone(), found.meta.uid.clone());
            desk.ask(PART, Ask::Launch { claim, uid, object });
        }
        for node in &world.nodes {
            let is_ready = node.conditions.iter().any(|c| c.kind == "Ready" && c.status == "True");
            if !is_ready || node.taints.iter().all(|t| t.key != UNREGISTERED) {
                continue;
            }
            let left: Vec<Value> = node
                .written_taints()
                .filter(|t| t.key != UNREGISTERED)
                .map(|t| json!({"key": t.key, "value": t.value, "effect": t.effect}))
                .collect();
            let body = json!({"metadata": {"resourceVersion": node.meta.resource_version}, "spec": {"taints": left}});
            desk.ask(PART, Ask::Patch { target: Target::node(&node.meta.name), status: false, body });
        }
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, _: &mut Shared, desk: &mut Desk) {
        if let (Ask::Launch { claim, uid, .. }, Reply::Launched(instance)) = (&sent.ask, reply) {
            let status = json!({"providerID": instance.provider_id, "capacity": instance.capacity});
            let target = Target::claim(claim);
            desk.ask(PART, Ask::Patch { target: target.clone(), status: true, body: json!({"status": status}) });
            let message = format!("launched {}", instance.provider_id);
            desk.event(PART, Event { about: target, uid: uid.clone(), warning: false, reason: "Launched", message });
            desk.count("nodeclaims_created_total", &[("nodepool", "default")]);
        }
    }
}

#[test]
fn a_pending_pod_gets_a_machine_and_runs() {
    on_stage("buying", true, |stage| async move {
        stage.pool().await;
        stage.admin.post(PODS, &pod("p1")).await.unwrap();
        let kubelets = stage.kubelets().await;
        let controller = stage.controller(Buyer).await;
        let runs = |all: &[Value]| all.iter().all(|p| p["status"]["phase"] == "Running");
        let pods = stage.until("the pod runs", PODS, runs).await;
        assert_eq!(pods[0]["spec"]["nodeName"], "kwok-c-1");

        let nodes = stage.admin.list("/api/v1/nodes").await.unwrap();
        let labels = &nodes[0]["metadata"]["labels"];
        assert_eq!(labels["node.kubernetes.io/instance-type"], "m5.large", "the cheaper of the two");
        assert_eq!(labels["karpenter.sh/nodepool"], "default");
        let claims = stage.admin.list(CLAIMS).await.unwrap();
        assert_eq!(claims[0]["status"]["providerID"], nodes[0]["spec"]["providerID"]);
        let events = |all: &[Value]| {
            let mut launched = all.iter().filter(|e| e["reason"] == "Launched");
            launched.any(|e| {
                e["involvedObject"]["kind"] == Kind::NodeClaim.name() && e["source"]["component"] == "karpenter"
            })
        };
        stage.until("the event is told", "/api/v1/namespaces/default/events", events).await;

        assert_eq!(get(controller.ports[1], "/readyz").await, (200, "ok".to_owned()));
        let (_, metrics) = get(controller.ports[0], "/metrics").await;
        for series in [
            r#"karpenter_nodeclaims_created_total{nodepool="default"} 1"#,
            r#"karpenter_cloudprovider_duration_seconds_count{controller="",method="Create",provider="kwok"} 1"#,
        ] {
            assert!(metrics.lines().any(|l| l == series), "{series} is not in\n{metrics}");
        }
        let ready = |all: &[Value]| {
            let conditions = all[0]["status"]["conditions"].as_array();
            conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
        };
        stage.until("the node class is ready", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses", ready).await;

        controller.stop().await;
        let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/karpenter-leader-election";
        let lease = stage.admin.get(lease).await.unwrap();
        assert_eq!(lease["spec"]["holderIdentity"].as_str().unwrap_or_default(), "", "the lease is given back");
        kubelets.abort();
    });
}
