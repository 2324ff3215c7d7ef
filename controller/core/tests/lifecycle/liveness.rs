//! LIF-029 to LIF-036, LIF-078.

use millwright_core::control::ask::{Ask, Refusal};
use serde_json::{Value, json};

use crate::objects::{claim, class, launched, node, pool, with};
use crate::provider::id;
use crate::stage::Stage;

fn down() -> Refusal {
    Refusal::Create { reason: "QuotaExceeded".to_owned(), message: "no more".to_owned() }
}

#[test]
fn lif_029_a_launch_has_five_minutes() {
    let mut stage = Stage::new();
    stage.provider.refusals.extend(std::iter::repeat_n(down(), 100));
    stage.put(claim("c"));
    stage.settle();
    stage.skip(299);
    assert!(stage.has("NodeClaim", "c"));
    stage.skip(1);
    stage.pass(1);
    assert!(!stage.has("NodeClaim", "c"));
    assert_eq!(stage.counted("nodeclaims_disrupted_total", ("reason", "launch_timeout")), 1);
}

#[test]
fn lif_030_a_registration_has_fifteen_minutes() {
    let mut stage = launched(json!({}));
    stage.skip(14 * 60);
    assert!(stage.has("NodeClaim", "c"));
    stage.put(node("n", "c"));
    stage.settle();
    stage.skip(60 * 60);
    assert!(stage.has("NodeClaim", "c"), "registered at 14 minutes");
    let mut stage = launched(json!({}));
    stage.skip(15 * 60);
    stage.pass(6);
    assert!(!stage.has("NodeClaim", "c"));
    assert_eq!(stage.counted("nodeclaims_disrupted_total", ("reason", "registration_timeout")), 1);
    assert!(stage.provider.machines.is_empty());
}

#[test]
fn lif_031_the_time_runs_from_the_transition() {
    let mut stage = Stage::new();
    stage.provider.refusals.extend(std::iter::repeat_n(down(), 100));
    let unknown = |kind: &str| json!({"type": kind, "status": "Unknown", "reason": "X", "lastTransitionTime": "2026-12-01T09:59:00Z"});
    stage.put(with(
        claim("c"),
        json!({
            "metadata": {"creationTimestamp": "2026-12-01T09:00:00Z", "finalizers": ["karpenter.sh/termination"]},
            "status": {"conditions": [unknown("Launched"), unknown("Registered")]},
        }),
    ));
    stage.settle();
    stage.skip(200);
    assert!(stage.has("NodeClaim", "c"));
    stage.skip(40);
    stage.pass(1);
    assert!(!stage.has("NodeClaim", "c"));
}

/// A pool with its class, and one claim after another that fares like this.
struct Run(Stage, u32);

impl Run {
    fn new(status: Value) -> Self {
        let mut stage = Stage::new();
        stage.put(with(class(), json!({"metadata": {"generation": 1}})));
        stage.put(with(pool(), json!({"status": status})));
        stage.settle();
        Self(stage, 0)
    }

    fn owned(&mut self, uid: &str) -> (String, Value) {
        self.1 += 1;
        let name = format!("c{}", self.1);
        let owner = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "p", "uid": uid});
        (name.clone(), with(claim(&name), json!({"metadata": {"ownerReferences": [owner]}})))
    }

    fn fails(&mut self, uid: &str) {
        let (_, claim) = self.owned(uid);
        self.0.put(claim);
        self.0.settle();
        self.0.skip(15 * 60);
        self.0.pass(6);
    }

    fn succeeds(&mut self) {
        let (name, claim) = self.owned("pool-uid");
        self.0.put(claim);
        self.0.settle();
        self.0.put(node(&format!("n-{name}"), &name));
        self.0.settle();
        self.0.pass(1);
    }

    fn says(&self) -> (String, String) {
        self.0.condition("NodePool", "p", "NodeRegistrationHealthy")
    }
}

fn text(status: &str, reason: &str) -> (String, String) {
    (status.to_owned(), reason.to_owned())
}

#[test]
fn lif_032_two_failures_make_a_pool_unhealthy() {
    let mut run = Run::new(json!({}));
    assert_eq!(run.says(), text("Unknown", "AwaitingReconciliation"));
    run.fails("pool-uid");
    assert_eq!(run.says().0, "Unknown");
    run.fails("pool-uid");
    assert_eq!(run.says(), text("False", "RegistrationFailed"));
    let mut run = Run::new(json!({}));
    run.0.provider.refusals.extend(std::iter::repeat_n(down(), 1000));
    for _ in 0..2 {
        let (_, claim) = run.owned("pool-uid");
        run.0.put(claim);
        run.0.settle();
        run.0.pass(310);
    }
    assert_eq!(run.says(), text("False", "QuotaExceeded"));
    assert_eq!(run.0.condition("NodePool", "p", "Ready").0, "True", "informational only");
}

#[test]
fn lif_033_lif_034_successes_push_failures_out() {
    let mut run = Run::new(json!({}));
    run.succeeds();
    assert_eq!(run.says().0, "True", "a fresh pool");
    let mut run = Run::new(json!({}));
    run.fails("pool-uid");
    run.fails("pool-uid");
    run.succeeds();
    assert_eq!(run.says().0, "False");
    run.succeeds();
    assert_eq!(run.says().0, "False");
    run.succeeds();
    assert_eq!(run.says().0, "True");
}

#[test]
fn lif_035_claims_of_another_pool_do_not_count() {
    let mut run = Run::new(json!({}));
    run.fails("another");
    run.fails("another");
    assert_eq!(run.says().0, "Unknown");
    run.0.server.lose("NodePool", "p");
    run.fails("pool-uid");
}

#[test]
fn lif_036_another_generation_begins_anew_and_a_restart_does_not() {
    for (kind, name) in [("NodePool", "p"), ("EC2NodeClass", "d")] {
        let mut run = Run::new(json!({}));
        run.succeeds();
        run.0.server.merge(kind, name, &json!({"metadata": {"generation": 2}}));
        run.0.settle();
        assert_eq!(run.says().0, "Unknown", "{kind}");
        run.fails("pool-uid");
        assert_eq!(run.says().0, "Unknown", "the ring was emptied");
    }
    let mut run = Run::new(json!({}));
    run.fails("pool-uid");
    run.fails("pool-uid");
    run.0.restart();
    run.succeeds();
    assert_eq!(run.says().0, "False", "one success is not enough");
    run.fails("pool-uid");
    assert_eq!(run.says().0, "False");
    assert_eq!(run.0.object("NodePool", "p")["status"]["nodeClassObservedGeneration"], json!(1));
}

#[test]
fn lif_078_claims_expire_by_their_own_age() {
    let mut stage = launched(json!({"spec": {"expireAfter": "720h"}}));
    stage.put(with(node("n", "c"), json!({"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}})));
    stage.settle();
    stage.skip(719 * 3600);
    assert!(!stage.is_deleting("NodeClaim", "c"));
    stage.skip(3600);
    stage.pass(2);
    assert_eq!(stage.counted("nodeclaims_disrupted_total", ("reason", "expired")), 1);
    assert_eq!(stage.asked(|a| matches!(a, Ask::Delete { target, .. } if target.name == "c")), 1);
    let mut stage = launched(json!({"spec": {"expireAfter": "Never"}}));
    stage.put(node("n", "c"));
    stage.settle();
    stage.skip(20_000 * 3600);
    assert!(stage.has("NodeClaim", "c") && !stage.is_deleting("NodeClaim", "c"));
    assert_eq!(stage.object("NodeClaim", "c")["status"]["providerID"], json!(id("c")));
}
