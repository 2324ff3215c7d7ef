//! LIF-010 to LIF-021, LIF-119's transition.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use millwright_core::control::ask::Ask;
use millwright_core::control::brain::Hold;
use millwright_core::control::lifecycle::{Hook, Lifecycle, Verdict};
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::node::Node;
use serde_json::{Value, json};

use crate::objects::{FINALIZER, claim, launched, node, with};
use crate::stage::Stage;

fn keys(taints: &Value) -> Vec<String> {
    taints.as_array().unwrap().iter().map(|t| t["key"].as_str().unwrap().to_owned()).collect()
}

/// A launched claim, registered with this node.
fn joined(spec: Value, joining: Value) -> Stage {
    let mut stage = launched(spec);
    stage.put(joining);
    stage.settle();
    stage
}

#[test]
fn lif_010_a_node_is_let_in() {
    let stage = joined(json!({}), node("n", "c"));
    let object = stage.object("Node", "n");
    assert_eq!(object["spec"]["taints"], json!([]));
    assert_eq!(object["metadata"]["labels"]["karpenter.sh/registered"], json!("true"));
    assert_eq!(object["metadata"]["finalizers"], json!([FINALIZER]));
    let owner = &object["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["name"]), (&json!("NodeClaim"), &json!("c")));
    assert_eq!(owner["blockOwnerDeletion"], json!(true));
    assert_eq!(stage.object("NodeClaim", "c")["status"]["nodeName"], json!("n"));
    stage.claim_says("Registered", "True", "Registered");
    assert_eq!(stage.counted("nodes_created_total", ("nodepool", "p")), 1);
    assert_eq!(stage.events("UnregisteredTaintMissing").len(), 0);
}

#[test]
fn lif_011_no_node_or_two() {
    let mut stage = launched(json!({}));
    stage.claim_says("Registered", "Unknown", "NodeNotFound");
    stage.put(node("n", "c"));
    stage.put(node("m", "c"));
    stage.settle();
    stage.claim_says("Registered", "False", "MultipleNodesFound");
    stage.server.lose("Node", "m");
    stage.skip(14 * 60);
    stage.claim_says("Registered", "False", "MultipleNodesFound");
    stage.skip(60);
    stage.pass(6);
    assert!(!stage.has("NodeClaim", "c"));
    assert!(stage.has("Node", "n"), "a node that never registered is left to the cluster");
}

#[test]
fn lif_012_a_node_without_the_taint_registers_with_a_warning() {
    let stage = joined(json!({}), with(node("n", "c"), json!({"spec": {"taints": null}})));
    stage.claim_says("Registered", "True", "Registered");
    assert_eq!(stage.events("UnregisteredTaintMissing").len(), 1);
}

fn tainted() -> Value {
    json!({
        "metadata": {"labels": {"team": "claim", "own": "1"}, "annotations": {"note": "x"}},
        "spec": {
            "taints": [{"key": "t", "effect": "NoSchedule", "value": "v"}],
            "startupTaints": [{"key": "s", "effect": "NoExecute"}],
        },
    })
}

#[test]
fn lif_013_what_the_claim_says_goes_to_the_node() {
    let joining = with(
        node("n", "c"),
        json!({
            "metadata": {"labels": {"team": "node"}, "annotations": {"kept": "y"}},
            "spec": {"taints": [
                {"key": "karpenter.sh/unregistered", "effect": "NoExecute"},
                {"key": "mine", "effect": "NoExecute", "timeAdded": "2026-12-01T09:00:00Z"},
                {"key": "t", "effect": "NoSchedule", "value": "other"},
            ]},
        }),
    );
    let stage = joined(tainted(), joining);
    let object = stage.object("Node", "n");
    let metadata = &object["metadata"];
    assert_eq!((&metadata["labels"]["team"], &metadata["labels"]["own"]), (&json!("claim"), &json!("1")));
    assert_eq!((&metadata["annotations"]["note"], &metadata["annotations"]["kept"]), (&json!("x"), &json!("y")));
    assert_eq!(
        object["spec"]["taints"],
        json!([
            {"key": "mine", "effect": "NoExecute", "timeAdded": "2026-12-01T09:00:00Z"},
            {"key": "t", "effect": "NoSchedule", "value": "other"},
            {"key": "s", "effect": "NoExecute"},
        ]),
        "what is there stays as it is"
    );
}

#[test]
fn lif_014_taints_are_not_copied_if_the_node_says_so() {
    for (value, want) in [("true", vec![]), ("yes", vec!["t".to_owned(), "s".to_owned()])] {
        let label = json!({"metadata": {"labels": {"karpenter.sh/do-not-sync-taints": value}}});
        let stage = joined(tainted(), with(node("n", "c"), label));
        assert_eq!(keys(&stage.object("Node", "n")["spec"]["taints"]), want, "{value}");
        assert_eq!(stage.object("Node", "n")["metadata"]["labels"]["own"], json!("1"));
    }
}

#[test]
fn lif_015_a_startup_taint_that_was_removed_stays_removed() {
    let mut stage = joined(tainted(), node("n", "c"));
    stage.claim_says("Initialized", "Unknown", "StartupTaintsExist");
    stage.server.merge("Node", "n", &json!({"spec": {"taints": [{"key": "t", "effect": "NoSchedule", "value": "v"}]}}));
    stage.server.merge("Node", "n", &json!({"metadata": {"labels": {"team": "edited"}}}));
    stage.pass(2);
    assert_eq!(keys(&stage.object("Node", "n")["spec"]["taints"]), ["t"]);
    assert_eq!(stage.object("Node", "n")["metadata"]["labels"]["team"], json!("edited"));
    stage.claim_says("Initialized", "True", "Initialized");
}

#[test]
fn lif_016_an_owner_is_not_entered_twice() {
    let mut stage = launched(json!({}));
    let uid = stage.object("NodeClaim", "c")["metadata"]["uid"].clone();
    let other = json!({"apiVersion": "v1", "kind": "X", "name": "x", "uid": "x", "controller": true});
    let own = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "c", "uid": uid});
    stage.put(with(node("n", "c"), json!({"metadata": {"ownerReferences": [other, own]}})));
    stage.settle();
    stage.claim_says("Registered", "True", "Registered");
    assert_eq!(stage.object("Node", "n")["metadata"]["ownerReferences"], json!([other, own]));
    let stage = joined(json!({}), with(node("n", "c"), json!({"metadata": {"ownerReferences": [other]}})));
    let owners = stage.object("Node", "n")["metadata"]["ownerReferences"].as_array().unwrap().clone();
    assert_eq!((owners.len(), &owners[0]), (2, &other), "owners of others stay whole");
}

/// A hook whose verdict the test changes.
#[derive(Clone)]
struct Told(&'static str, Arc<Mutex<Verdict>>);

impl Hook for Told {
    fn name(&self) -> &str {
        self.0
    }
    fn judge(&mut self, _claim: &NodeClaim, _node: &Node) -> Verdict {
        self.1.lock().unwrap().clone()
    }
}

fn hooked(verdicts: [Verdict; 2]) -> (Stage, [Told; 2]) {
    let [one, two] = verdicts;
    let told = [Told("one", Arc::new(Mutex::new(one))), Told("two", Arc::new(Mutex::new(two)))];
    let hooks: Vec<Box<dyn Hook + Send>> = vec![Box::new(told[0].clone()), Box::new(told[1].clone())];
    let mut stage = Stage::with(Lifecycle::with_hooks(hooks));
    stage.put(with(claim("c"), json!({"metadata": {"labels": {"own": "1"}}})));
    stage.settle();
    stage.put(node("n", "c"));
    stage.settle();
    (stage, told)
}

fn message(stage: &Stage) -> String {
    let list = stage.object("NodeClaim", "c")["status"]["conditions"].clone();
    let one = list.as_array().unwrap().iter().find(|c| c["type"] == "Registered").unwrap().clone();
    one["message"].as_str().unwrap().to_owned()
}

fn passed(labels: &[(&str, &str)]) -> Verdict {
    Verdict::Passed(labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>())
}

#[test]
fn lif_017_a_pending_hook_keeps_the_node_out() {
    let (mut stage, told) = hooked([passed(&[]), Verdict::Pending(SignedDuration::from_secs(5))]);
    stage.claim_says("Registered", "Unknown", "RegistrationHookPending");
    assert_eq!(message(&stage), "two");
    let object = stage.object("Node", "n");
    assert_eq!(object["metadata"]["labels"]["own"], json!("1"));
    assert_eq!(keys(&object["spec"]["taints"]), ["karpenter.sh/unregistered"]);
    *told[1].1.lock().unwrap() = passed(&[]);
    stage.pass(1);
    stage.claim_says("Registered", "True", "Registered");
}

#[test]
fn lif_018_all_pending_hooks_are_named_and_the_first_is_asked_again() {
    let wait = |s| Verdict::Pending(SignedDuration::from_secs(s));
    let (stage, _) = hooked([wait(5), wait(20)]);
    assert_eq!(message(&stage), "one, two");
    assert_eq!(stage.wake, Some(stage.now + SignedDuration::from_secs(5)));
}

#[test]
fn lif_019_a_hook_that_fails_keeps_the_node_out() {
    let (stage, _) = hooked([Verdict::Failed("no answer".to_owned()), passed(&[])]);
    stage.claim_says("Registered", "Unknown", "RegistrationHookPending");
    assert_eq!(stage.events("RegistrationHookFailed")[0].message, "one: no answer");
}

#[test]
fn lif_020_labels_of_a_hook_reach_claim_and_node() {
    let (stage, _) = hooked([passed(&[("rack", "7")]), passed(&[])]);
    stage.claim_says("Registered", "True", "Registered");
    for kind in [("NodeClaim", "c"), ("Node", "n")] {
        assert_eq!(stage.object(kind.0, kind.1)["metadata"]["labels"]["rack"], json!("7"), "{kind:?}");
    }
}

#[test]
fn lif_021_a_conflict_is_tried_again() {
    let mut stage = launched(json!({}));
    stage.server.conflicts.insert("Node", 2);
    stage.put(node("n", "c"));
    stage.settle();
    stage.pass(1);
    stage.claim_says("Registered", "True", "Registered");
}

#[test]
fn lif_021_somebody_elses_write_in_between_is_not_lost() {
    let mut stage = launched(json!({}));
    stage.put(node("n", "c"));
    stage.settle();
    let patches = stage.log.iter().filter_map(|(_, ask, _)| match ask {
        Ask::Patch { target, body, .. } if target.name == "n" => Some(body),
        _ => None,
    });
    let lists: Vec<_> =
        patches.filter(|b| !b["spec"]["taints"].is_null() || b["metadata"]["finalizers"].is_array()).collect();
    assert!(!lists.is_empty() && lists.iter().all(|b| b["metadata"]["resourceVersion"].is_string()), "{lists:?}");
}

#[test]
fn a_node_that_is_waited_for_is_held_in_the_same_patch() {
    let mut stage = launched(json!({}));
    let until = stage.now + SignedDuration::from_secs(60);
    stage.shared.holds.insert("c".to_owned(), Hold { reason: "landing".to_owned(), until });
    stage.put(node("n", "c"));
    stage.settle();
    let object = stage.object("Node", "n");
    assert_eq!(object["spec"]["unschedulable"], json!(true));
    assert_eq!(object["metadata"]["annotations"]["millwright.dev/hold"], json!("landing"));
    assert_eq!(object["metadata"]["annotations"]["millwright.dev/hold-until"], json!("2026-12-01T10:01:00Z"));
    assert_eq!(object["spec"]["taints"], json!([]), "the taint of a cordon is the node controller's to write");
    let swaps = stage.asked(|a| {
        matches!(a, Ask::Patch { target, body, .. }
        if target.name == "n" && body["spec"]["unschedulable"] == true && body["spec"]["taints"].is_array())
    });
    assert_eq!(swaps, 1);
}

#[test]
fn a_cordon_of_somebody_else_stays_what_it_is() {
    let mut stage = launched(json!({}));
    stage.shared.holds.insert("c".to_owned(), Hold { reason: "landing".to_owned(), until: stage.now });
    let cordon = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    let unregistered = json!({"key": "karpenter.sh/unregistered", "effect": "NoExecute"});
    stage.put(with(node("n", "c"), json!({"spec": {"unschedulable": true, "taints": [unregistered, cordon]}})));
    stage.settle();
    let object = stage.object("Node", "n");
    assert!(object["metadata"]["annotations"]["millwright.dev/hold"].is_null(), "{object}");
    assert_eq!(object["spec"]["taints"], json!([cordon]));
    stage.claim_says("Registered", "True", "Registered");
}
