//! LIF-037 to LIF-047, LIF-061, LIF-108.

use jiff::SignedDuration;
use millwright_core::control::ask::{Ask, Refusal};
use serde_json::json;

use crate::objects::{FINALIZER, claim, class, launched, node, pod, pool, ready, with};
use crate::provider::id;
use crate::stage::Stage;

const DEADLINE: &str = "karpenter.sh/nodeclaim-termination-timestamp";

#[test]
fn lif_037_a_whole_life() {
    let mut stage = ready(json!({}));
    stage.put(pod("web", "n"));
    stage.settle();
    stage.provider.ends_after = SignedDuration::from_secs(8);
    stage.delete("NodeClaim", "c");
    assert!(stage.is_deleting("Node", "n"));
    assert_eq!(stage.evicted(), ["web"]);
    assert_eq!(stage.terminations(), 0, "the node is drained first");
    stage.pass(5);
    assert!(stage.has("Node", "n") && stage.has("NodeClaim", "c"));
    stage.claim_says("Drained", "True", "Drained");
    stage.claim_says("VolumesDetached", "True", "VolumesDetached");
    stage.claim_says("InstanceTerminating", "True", "InstanceTerminating");
    stage.claim_says("Ready", "True", "Ready");
    stage.pass(20);
    assert!(!stage.has("Node", "n") && !stage.has("NodeClaim", "c"));
    assert!(stage.provider.machines.is_empty());
    for name in ["nodeclaims_terminated_total", "nodes_terminated_total", "nodes_drained_total"] {
        assert_eq!(stage.counted(name, ("nodepool", "p")), 1, "{name}");
    }
    let told: Vec<_> = stage.log.iter().filter(|(_, a, _)| matches!(a, Ask::Terminate { .. })).map(|l| l.0).collect();
    assert!(told.windows(2).all(|w| w[1].duration_since(w[0]).as_secs() >= 5), "{told:?}");
}

/// From the claim to the end of its machine; the controller may die on the
/// way. Tells how many writes it took.
fn life(dies_after: Option<usize>) -> usize {
    let mut stage = Stage::new();
    stage.dies_after = dies_after;
    stage.provider.ends_after = SignedDuration::from_secs(3);
    stage.put(class());
    stage.put(pool());
    stage.put(with(
        claim("c"),
        json!({"spec": {
        "terminationGracePeriod": "1h", "startupTaints": [{"key": "s", "effect": "NoSchedule"}]}}),
    ));
    stage.pass(6);
    stage.put(node("n", "c"));
    stage.pass(3);
    assert_eq!(stage.object("Node", "n")["spec"]["taints"], json!([{"key": "s", "effect": "NoSchedule"}]));
    stage.server.merge("Node", "n", &json!({"spec": {"taints": []}}));
    stage.pass(3);
    stage.claim_says("Ready", "True", "Ready");
    assert_eq!(stage.object("Node", "n")["spec"]["taints"], json!([]), "the startup taint does not come back");
    stage.put(pod("web", "n"));
    stage.pass(1);
    stage.server.delete("NodeClaim", "c", stage.now);
    stage.pass(30);
    assert!(!stage.has("Node", "n") && !stage.has("NodeClaim", "c"), "killed at write {dies_after:?}");
    assert!(stage.provider.machines.is_empty());
    assert_eq!(stage.provider.sold, 1, "killed at write {dies_after:?}");
    assert!(stage.dies_after.is_none(), "it lives through {dies_after:?} writes");
    stage.asked(|a| !matches!(a, Ask::Event(_)))
}

#[test]
fn lif_037_the_controller_may_die_at_any_write() {
    let writes = life(None);
    assert!((20..80).contains(&writes), "{writes}");
    for n in 1..=writes {
        life(Some(n));
    }
}

#[test]
fn lif_038_a_machine_that_takes_its_time_is_asked_every_five_seconds() {
    let mut stage = launched(json!({}));
    stage.provider.ends_after = SignedDuration::from_secs(9);
    stage.delete("NodeClaim", "c");
    stage.claim_says("InstanceTerminating", "True", "InstanceTerminating");
    stage.claim_says("Ready", "Unknown", "ReconcilingDependents");
    assert_eq!(stage.terminations(), 1);
    stage.pass(4);
    assert_eq!(stage.terminations(), 1);
    stage.pass(1);
    assert_eq!(stage.terminations(), 2);
    stage.pass(5);
    assert_eq!(stage.terminations(), 3);
    assert!(!stage.has("NodeClaim", "c"));
}

#[test]
fn lif_039_errors_of_the_provider_keep_the_finalizer() {
    let mut stage = launched(json!({}));
    let refusal = Refusal::Unavailable { message: "throttled".to_owned() };
    stage.provider.terminate_refusals.extend([refusal.clone(), refusal]);
    stage.delete("NodeClaim", "c");
    assert!(stage.has("NodeClaim", "c"));
    stage.pass(10);
    assert!(!stage.has("NodeClaim", "c"));
    assert!(stage.terminations() >= 3);
}

#[test]
fn lif_040_what_was_never_launched_has_no_machine_to_end() {
    let mut stage = Stage::new();
    stage.provider.refusals.push_back(Refusal::Unavailable { message: "down".to_owned() });
    stage.put(claim("c"));
    stage.put(with(node("stranger", "x"), json!({"spec": {"providerID": null}})));
    stage.settle();
    stage.delete("NodeClaim", "c");
    stage.pass(2);
    assert!(!stage.has("NodeClaim", "c") && !stage.is_deleting("Node", "stranger"));
    assert_eq!(stage.terminations(), 0);
}

#[test]
fn lif_041_a_node_that_never_registered_is_left_to_the_cluster() {
    let mut stage = launched(json!({}));
    stage.delete("NodeClaim", "c");
    stage.put(node("n", "c"));
    stage.pass(6);
    assert!(!stage.has("NodeClaim", "c") && stage.has("Node", "n"));
    assert!(stage.provider.machines.is_empty());
}

#[test]
fn lif_042_all_nodes_of_the_machine_go_first() {
    let mut stage = ready(json!({}));
    stage.put(with(node("m", "c"), json!({"metadata": {"finalizers": ["example.com/wait"]}})));
    stage.delete("NodeClaim", "c");
    stage.pass(10);
    assert!(!stage.has("Node", "n") && stage.is_deleting("Node", "m"));
    stage.pass(10);
    assert!(stage.has("NodeClaim", "c"));
    stage.server.merge("Node", "m", &json!({"metadata": {"finalizers": null}}));
    stage.server.lose("Node", "m");
    stage.pass(6);
    assert!(!stage.has("NodeClaim", "c"));
}

#[test]
fn lif_043_lif_108_the_deadline_of_the_drain() {
    let note = |value: &str| json!({"metadata": {"annotations": {DEADLINE: value}}});
    for (extra, want) in [
        (json!({"spec": {"terminationGracePeriod": "10m"}}), Some("2026-12-01T10:10:00Z")),
        (
            with(json!({"spec": {"terminationGracePeriod": "1h"}}), note("2026-12-01T10:05:00Z")),
            Some("2026-12-01T10:05:00Z"),
        ),
        (json!({}), None),
    ] {
        let mut stage = ready(extra);
        stage.put(with(pod("web", "n"), json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}})));
        stage.settle();
        stage.delete("NodeClaim", "c");
        let held = &stage.object("NodeClaim", "c")["metadata"]["annotations"][DEADLINE];
        assert_eq!(held.as_str(), want);
        let told = stage.events("TerminationGracePeriodExpiring");
        assert_eq!(told.iter().any(|e| e.about.name == "n"), want.is_some());
        assert!(told.iter().all(|e| e.message.ends_with(want.unwrap_or("never"))), "{told:?}");
    }
}

#[test]
fn lif_044_a_deleted_node_takes_its_claim_along() {
    let mut stage = ready(json!({}));
    let taint = json!({"key": "mine", "effect": "NoSchedule", "timeAdded": "2026-12-01T09:00:00Z"});
    stage.server.merge("Node", "n", &json!({"spec": {"taints": [taint], "unschedulable": true}}));
    stage.put(with(pod("web", "n"), json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}})));
    stage.settle();
    stage.delete("Node", "n");
    assert!(stage.is_deleting("NodeClaim", "c"));
    let object = stage.object("Node", "n");
    assert_eq!(object["spec"]["taints"], json!([taint, {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]));
    let label = "node.kubernetes.io/exclude-from-external-load-balancers";
    assert_eq!(object["metadata"]["labels"][label], json!("karpenter"));
}

/// A node of ours that no claim knows.
fn orphan() -> serde_json::Value {
    with(
        node("n", "none"),
        json!({
            "metadata": {"finalizers": [FINALIZER], "labels": {"karpenter.k8s.aws/ec2nodeclass": "d"}},
            "spec": {"taints": []},
        }),
    )
}

#[test]
fn lif_045_nodes_without_one_claim_are_drained_and_let_go() {
    for duplicates in [false, true] {
        let mut stage = Stage::new();
        stage.put(orphan());
        if duplicates {
            for name in ["c", "d"] {
                stage.put(with(
                    claim(name),
                    json!({
                        "metadata": {"finalizers": [FINALIZER]},
                        "status": {"providerID": id("none"), "conditions": [
                            {"type": "Launched", "status": "True"}, {"type": "Registered", "status": "True"}]},
                    }),
                ));
            }
        }
        stage.provider.add("none", stage.now);
        stage.put(pod("web", "n"));
        stage.settle();
        stage.delete("Node", "n");
        stage.pass(2);
        assert_eq!(stage.evicted(), ["web"]);
        assert!(!stage.has("Node", "n"));
        assert_eq!(stage.terminations(), 0, "duplicates: {duplicates}");
        assert!(!duplicates || !stage.is_deleting("NodeClaim", "c"));
    }
}

#[test]
fn lif_046_a_dead_node_without_a_machine_goes_at_once() {
    for (status, drained) in [("False", false), ("Unknown", false), ("True", true)] {
        let mut stage = ready(json!({}));
        stage.put(pod("web", "n"));
        stage.server.merge("Node", "n", &json!({"status": {"conditions": [{"type": "Ready", "status": status}]}}));
        stage.settle();
        stage.provider.machines.clear();
        stage.delete("Node", "n");
        assert_eq!(!stage.evicted().is_empty(), drained, "Ready={status}");
        assert_eq!(stage.has("Node", "n"), drained);
        stage.pass(8);
        assert!(!stage.has("NodeClaim", "c"));
    }
}

#[test]
fn lif_047_nodes_of_others_are_left_alone() {
    let mut stage = Stage::new();
    let label = json!({"metadata": {"labels": {"karpenter.k8s.aws/ec2nodeclass": null}}});
    stage.put(with(orphan(), label));
    stage.put(pod("web", "n"));
    stage.delete("Node", "n");
    stage.pass(10);
    assert!(stage.has("Node", "n") && stage.evicted().is_empty());
}

#[test]
fn lif_061_ten_nodes_go_side_by_side() {
    let mut stage = Stage::new();
    let names: Vec<String> = (0..10).map(|i| format!("c{i}")).collect();
    for name in &names {
        stage.put(claim(name));
    }
    stage.settle();
    for name in &names {
        stage.put(node(&format!("n-{name}"), name));
        for i in 0..5 {
            stage.put(pod(&format!("p-{name}-{i}"), &format!("n-{name}")));
        }
    }
    stage.settle();
    for name in &names {
        stage.server.delete("NodeClaim", name, stage.now);
    }
    stage.pass(12);
    assert!(stage.server.names("NodeClaim").is_empty() && stage.server.names("Node").is_empty());
    assert!(stage.provider.machines.is_empty());
    assert_eq!(stage.evicted().len(), 50);
}

#[test]
fn lif_037_it_wakes_in_time_by_itself() {
    let mut stage = ready(json!({"spec": {"terminationGracePeriod": "1h"}}));
    let shield = json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}});
    stage.put(with(with(pod("web", "n"), shield), json!({"spec": {"terminationGracePeriodSeconds": 600}})));
    stage.settle();
    stage.provider.ends_after = SignedDuration::from_secs(8);
    stage.delete("NodeClaim", "c");
    stage.sleep(49 * 60);
    assert!(stage.forced().is_empty());
    stage.sleep(2 * 60);
    assert_eq!(stage.forced().len(), 1);
    stage.sleep(11 * 60);
    assert!(!stage.has("NodeClaim", "c") && !stage.has("Node", "n"));
}

#[test]
fn lif_116_a_claim_that_reboots_terminates_like_any_other() {
    let mut stage = ready(json!({}));
    let mut list = stage.object("NodeClaim", "c")["status"]["conditions"].as_array().unwrap().clone();
    list.push(json!({"type": "Rebooting", "status": "True", "reason": "RebootIssued"}));
    stage.server.merge("NodeClaim", "c", &json!({"status": {"conditions": list}}));
    stage.put(pod("web", "n"));
    stage.settle();
    stage.delete("NodeClaim", "c");
    stage.pass(12);
    assert_eq!(stage.evicted(), ["web"]);
    assert!(!stage.has("NodeClaim", "c"));
}

#[test]
fn a_pod_that_cannot_be_read_is_waited_for_until_the_deadline() {
    let mut stage = ready(json!({"spec": {"terminationGracePeriod": "2m"}}));
    stage.unreadable = true;
    let mut odd = pod("odd", "n");
    odd["metadata"]["resourceVersion"] = json!("1");
    odd["spec"]["containers"] = json!("none");
    stage.server.live.apply(&odd).unwrap_err();
    stage.settle();
    stage.delete("NodeClaim", "c");
    stage.pass(110);
    assert!(stage.has("Node", "n") && stage.terminations() == 0);
    stage.pass(20);
    assert!(!stage.has("Node", "n"));
}
