//! LIF-070 to LIF-075.

use jiff::SignedDuration;
use serde_json::json;

use crate::objects::{claim, launched, node, ready};
use crate::provider::id;
use crate::stage::Stage;

#[test]
fn lif_070_a_registered_claim_without_a_machine_goes_unless_its_kubelet_lives() {
    for (status, kept) in [("True", true), ("False", false), ("Unknown", false)] {
        let mut stage = ready(json!({}));
        stage.server.merge("Node", "n", &json!({"status": {"conditions": [{"type": "Ready", "status": status}]}}));
        stage.provider.machines.clear();
        stage.pass(125);
        assert_eq!(stage.has("NodeClaim", "c"), kept, "Ready={status}");
        let counted = stage.counted("nodeclaims_disrupted_total", ("reason", "garbage_collected"));
        assert_eq!(counted, usize::from(!kept));
    }
    let mut stage = ready(json!({}));
    stage.server.lose("Node", "n");
    stage.pass(125);
    assert!(stage.has("NodeClaim", "c"), "the machine is there");
    stage.provider.machines.clear();
    stage.pass(125);
    assert!(!stage.has("NodeClaim", "c"));
}

#[test]
fn lif_071_one_that_has_not_registered_is_left_to_its_timeout() {
    let mut stage = launched(json!({}));
    stage.provider.machines.clear();
    stage.pass(300);
    assert!(stage.has("NodeClaim", "c"));
}

#[test]
fn lif_072_all_that_are_lost_go_in_one_pass() {
    let mut stage = Stage::new();
    for i in 0..20 {
        stage.put(claim(&format!("c{i}")));
    }
    stage.settle();
    for i in 0..20 {
        stage.put(node(&format!("n{i}"), &format!("c{i}")));
    }
    stage.settle();
    for i in 0..20 {
        stage.server.lose("Node", &format!("n{i}"));
    }
    stage.provider.machines.clear();
    stage.skip(119);
    assert_eq!(stage.server.names("NodeClaim").len(), 20);
    stage.skip(1);
    stage.skip(10);
    assert!(stage.server.names("NodeClaim").iter().all(|n| stage.is_deleting("NodeClaim", n)));
}

#[test]
fn lif_073_a_machine_of_nobody_is_ended_after_half_a_minute() {
    for (age, kept) in [(29, true), (31, false)] {
        let mut stage = Stage::new();
        stage.provider.add("ghost", stage.now - SignedDuration::from_secs(age));
        stage.put(node("n", "ghost"));
        stage.settle();
        assert_eq!(stage.provider.machines.contains_key(&id("ghost")), kept, "{age}");
        assert_eq!(stage.has("Node", "n"), kept);
        stage.pass(11);
        assert!(!stage.has("Node", "n"));
    }
}

#[test]
fn lif_073_the_machine_of_a_claim_that_is_being_launched_is_kept() {
    let mut stage = Stage::new();
    stage.server.lost_status = 1_000;
    stage.provider.add("c", stage.now - SignedDuration::from_secs(200));
    stage.put(claim("c"));
    stage.settle();
    stage.pass(60);
    assert!(stage.provider.machines.contains_key(&id("c")));
}

#[test]
fn lif_073_a_claim_that_cannot_be_read_may_own_any_machine() {
    for unread in [true, false] {
        let mut stage = Stage::new();
        stage.unreadable = true;
        stage.provider.add("odd", stage.now - SignedDuration::from_secs(200));
        let mut odd = claim("odd");
        odd["metadata"]["resourceVersion"] = json!("1");
        odd["spec"]["expireAfter"] = json!("soon");
        if unread {
            stage.server.live.apply(&odd).unwrap_err();
        }
        stage.pass(30);
        assert_eq!(stage.provider.machines.contains_key(&id("odd")), unread);
    }
}

#[test]
fn lif_074_without_a_list_nothing_is_deleted() {
    let mut stage = ready(json!({}));
    stage.server.lose("Node", "n");
    stage.provider.machines.clear();
    stage.provider.list_fails = true;
    stage.pass(300);
    assert!(stage.has("NodeClaim", "c"));
}

#[test]
fn lif_072_the_first_looks_are_early() {
    let mut stage = Stage::new();
    let lists = |stage: &Stage| stage.asked(|a| matches!(a, millwright_core::control::ask::Ask::Instances));
    stage.pass(195);
    assert_eq!(lists(&stage), 20);
    stage.pass(240);
    assert_eq!(lists(&stage), 23);
}
