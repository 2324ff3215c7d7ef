//! A controller that dies and comes back buys nothing twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use millwright_core::control::ask::{Ask, Reply};
use millwright_core::control::brain::{Piece, Shared};
use millwright_core::control::desk::{Desk, Part, Sent};
use millwright_core::control::view::View;
use serde_json::{Value, json};

use super::support::{CLAIMS, on_stage};

/// Launches every claim there is and never writes that it did.
struct Forgetful {
    launched: Arc<AtomicUsize>,
    told: Arc<AtomicUsize>,
}

impl Piece for Forgetful {
    fn look(&mut self, view: &View<'_>, _: &mut Shared, desk: &mut Desk) {
        for claim in &view.world.node_claims {
            if self.told.load(Ordering::Relaxed) < 3 {
                let (name, uid) = (claim.meta.name.clone(), claim.meta.uid.clone());
                let object = json!({
                    "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": name, "uid": uid},
                    "spec": {
                        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                        "requirements": [],
                    },
                });
                desk.ask(Part::Lifecycle, Ask::Launch { claim: name, uid, object });
            }
        }
        desk.wake(view.now + jiff::SignedDuration::from_millis(200));
    }

    fn answer(&mut self, _: &Sent, reply: &Reply, _: &mut Shared, _: &mut Desk) {
        self.told.fetch_add(1, Ordering::Relaxed);
        if matches!(reply, Reply::Launched(_)) {
            self.launched.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_claim_is_one_machine_however_often_it_is_launched() {
    on_stage("crash", true, |stage| async move {
        stage.pool().await;
        let claim = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "c-1"},
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [],
            },
        });
        stage.make(CLAIMS, &claim).await;
        for round in 0..2 {
            let (launched, told) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let controller = stage.controller(Forgetful { launched: launched.clone(), told: told.clone() }).await;
            while told.load(Ordering::Relaxed) < 3 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            assert_eq!(launched.load(Ordering::Relaxed), 3, "round {round}: each answer is the same machine");
            let nodes = stage.admin.list("/api/v1/nodes").await.unwrap();
            assert_eq!(nodes.len(), 1, "round {round}");
            if round == 0 {
                controller.kill().await;
            } else {
                controller.stop().await;
            }
        }
        let claims: Vec<Value> = stage.admin.list(CLAIMS).await.unwrap();
        assert_eq!(claims.len(), 1);
    });
}
