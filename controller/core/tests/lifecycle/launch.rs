//! LIF-001 to LIF-009, LIF-106, LIF-118.

use std::collections::BTreeMap;

use millwright_core::control::ask::{Ask, Refusal};
use serde_json::json;

use crate::objects::{FINALIZER, claim, class, launched, node, pod, pool, with};
use crate::provider::id;
use crate::stage::Stage;

fn refused(refusal: Refusal) -> Stage {
    let mut stage = Stage::new();
    stage.provider.refusals.push_back(refusal);
    stage.put(claim("c"));
    stage.settle();
    stage
}

#[test]
fn lif_001_a_claim_is_bought_for_once() {
    let mut stage = launched(json!({}));
    let object = stage.object("NodeClaim", "c");
    assert_eq!(object["metadata"]["finalizers"], json!([FINALIZER]));
    assert_eq!(object["status"]["providerID"], json!(id("c")));
    assert_eq!(object["status"]["imageID"], json!("ami-1"));
    assert_eq!(object["status"]["capacity"]["cpu"], json!("4"));
    assert_eq!(object["metadata"]["annotations"]["provider/note"], json!("sold"));
    stage.pass(30);
    assert_eq!(stage.launches(), 1);
    let Some((_, Ask::Launch { object, .. }, _)) = stage.log.iter().find(|(_, a, _)| matches!(a, Ask::Launch { .. }))
    else {
        panic!("no launch")
    };
    assert_eq!(object["spec"]["resources"]["requests"]["memory"], json!("1Gi"));
    assert_eq!(object["spec"]["requirements"][0]["values"], json!(["on-demand"]));
}

#[test]
fn lif_002_claims_of_other_providers_are_left_alone() {
    let mut stage = Stage::new();
    stage.put(with(claim("c"), json!({"spec": {"nodeClassRef": {"kind": "KWOKNodeClass"}}})));
    stage.settle();
    let object = stage.object("NodeClaim", "c");
    assert!(object["metadata"]["finalizers"].is_null() && object["status"].is_null(), "{object}");
    assert_eq!(stage.launches(), 0);
}

#[test]
fn lif_003_labels_of_the_claim_win_over_the_providers() {
    let mut stage = Stage::new();
    stage.provider.labels = BTreeMap::from([("zone".to_owned(), "a".to_owned()), ("type".to_owned(), "t4".to_owned())]);
    stage.put(with(claim("c"), json!({"metadata": {"labels": {"zone": "b"}}})));
    stage.settle();
    let labels = &stage.object("NodeClaim", "c")["metadata"]["labels"];
    assert_eq!((&labels["zone"], &labels["type"]), (&json!("b"), &json!("t4")));
}

#[test]
fn lif_004_a_lost_status_does_not_buy_again() {
    let mut stage = Stage::new();
    stage.server.lost_status = 2;
    stage.put(claim("c"));
    stage.settle();
    stage.claim_says("Launched", "absent", "");
    stage.pass(5);
    stage.claim_says("Launched", "True", "Launched");
    assert_eq!(stage.launches(), 1);
}

#[test]
fn lif_004_after_a_restart_the_same_machine_is_found() {
    let mut stage = Stage::new();
    stage.server.lost_status = 1;
    stage.put(claim("c"));
    stage.settle();
    stage.restart();
    stage.settle();
    stage.claim_says("Launched", "True", "Launched");
    assert_eq!((stage.launches(), stage.provider.machines.len()), (2, 1));
}

#[test]
fn lif_005_lif_006_claims_without_hope_are_deleted() {
    for (refusal, reason, events) in [
        (Refusal::InsufficientCapacity { message: "sold out".to_owned() }, "insufficient_capacity", 1),
        (Refusal::NodeClassNotReady { message: "no subnets".to_owned() }, "nodeclass_not_ready", 0),
    ] {
        let mut stage = refused(refusal);
        stage.pass(3);
        assert!(!stage.has("NodeClaim", "c"), "{reason}");
        assert_eq!(stage.counted("nodeclaims_disrupted_total", ("reason", reason)), 1);
        assert_eq!(stage.counted("nodeclaims_disrupted_total", ("termination_mode", "graceful")), 1);
        assert_eq!(stage.events("InsufficientCapacityError").len(), events, "{reason}");
        assert_eq!((stage.launches(), stage.terminations()), (1, 0));
    }
}

#[test]
fn lif_007_the_providers_reason_is_shown_and_the_launch_repeated() {
    let mut stage = refused(Refusal::Create { reason: "QuotaExceeded".to_owned(), message: "m".to_owned() });
    stage.blink();
    stage.claim_says("Launched", "Unknown", "QuotaExceeded");
    stage.pass(3);
    stage.claim_says("Launched", "True", "Launched");
    assert_eq!(stage.launches(), 2);
}

#[test]
fn lif_007_failures_wait_longer_each_time() {
    let mut stage = Stage::new();
    for n in 0..100 {
        let message = format!("request {n}");
        stage.provider.refusals.push_back(Refusal::Create { reason: "QuotaExceeded".to_owned(), message });
    }
    stage.put(claim("c"));
    stage.settle();
    stage.pass(290);
    assert!((8..=12).contains(&stage.launches()), "{}", stage.launches());
}

#[test]
fn lif_008_long_messages_are_cut() {
    for (length, want) in [(2000, 1024), (1024, 1024), (500, 500)] {
        let mut stage = refused(Refusal::Unavailable { message: "x".repeat(length) });
        stage.blink();
        stage.claim_says("Launched", "Unknown", "LaunchFailed");
        let list = stage.object("NodeClaim", "c")["status"]["conditions"].clone();
        let launched = list.as_array().unwrap().iter().find(|c| c["type"] == "Launched").unwrap();
        let message = launched["message"].as_str().unwrap();
        assert_eq!((message.len(), message.ends_with("...")), (want, length > 1024));
    }
}

#[test]
fn lif_009_a_new_generation_is_observed() {
    let mut stage = launched(json!({}));
    stage.put(node("n", "c"));
    stage.settle();
    stage.server.merge("NodeClaim", "c", &json!({"metadata": {"generation": 7}}));
    stage.settle();
    let list = stage.object("NodeClaim", "c")["status"]["conditions"].clone();
    for kind in ["Launched", "Registered", "Initialized", "Ready"] {
        let one = list.as_array().unwrap().iter().find(|c| c["type"] == kind).unwrap();
        assert_eq!((&one["observedGeneration"], &one["status"]), (&json!(7), &json!("True")), "{kind}");
    }
    assert_eq!(stage.launches(), 1);
}

#[test]
fn lif_106_pods_learn_that_their_machine_is_not_to_be_had() {
    let mut stage = Stage::new();
    stage.put(pod("bound", "n"));
    let mut planned = vec!["a/bound".to_owned(), "a/gone".to_owned()];
    for i in 0..30 {
        let name = format!("p{i:02}");
        stage.put(with(pod(&name, ""), json!({"spec": {"nodeName": null}, "status": {"phase": "Pending"}})));
        planned.push(format!("a/{name}"));
    }
    stage.shared.planned.insert("c".to_owned(), planned);
    stage.provider.refusals.push_back(Refusal::InsufficientCapacity { message: "sold out".to_owned() });
    stage.put(claim("c"));
    let told =
        |stage: &Stage| stage.events("InsufficientCapacityError").iter().filter(|e| e.about.namespace == "a").count();
    stage.settle();
    assert_eq!(told(&stage), 10, "a burst");
    stage.skip(1);
    assert_eq!(told(&stage), 15, "five a second");
    stage.skip(1);
    stage.skip(1);
    stage.skip(1);
    assert_eq!(told(&stage), 30);
    let events = stage.events("InsufficientCapacityError");
    assert!(events.iter().all(|e| e.about.name != "bound" && e.message.contains("NodeClaim c")));
}

#[test]
fn lif_118_errors_of_the_provider_are_counted_by_pool() {
    let mut stage = refused(Refusal::Unavailable { message: "what".to_owned() });
    stage.pass(1);
    assert_eq!(stage.counted("cloudprovider_errors_total", ("nodepool", "p")), 1);
    assert_eq!(stage.counted("cloudprovider_errors_total", ("error", "unknown")), 1);
    let mut stage = Stage::new();
    stage.put(class());
    stage.put(pool());
    stage.provider.list_fails = true;
    stage.settle();
    stage.pass(1);
    assert_eq!(stage.counted("cloudprovider_errors_total", ("nodepool", "")), 1);
    assert_eq!(stage.counted("cloudprovider_errors_total", ("method", "List")), 1);
}
