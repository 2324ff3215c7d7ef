//! The queue of commands: DIS-122 to DIS-133, LIF-105.

use jiff::SignedDuration;
use millwright_core::control::ask::{Ask, Kind, Refusal, Reply};
use millwright_core::control::disruption::deadline;
use serde_json::{Value, json};

use super::objects;
use super::room::Room;

fn is_taint(ask: &Ask, node: &str) -> bool {
    let Ask::Patch { target, body, .. } = ask else { return false };
    let taints = body["spec"]["taints"].as_array();
    target.kind == Kind::Node
        && (node.is_empty() || target.name == node)
        && taints.is_some_and(|t| t.iter().any(|t| t["key"] == "karpenter.sh/disrupted"))
}

fn is_reason(ask: &Ask) -> bool {
    let Ask::Patch { body, .. } = ask else { return false };
    let all = body["status"]["conditions"].as_array();
    all.is_some_and(|c| c.iter().any(|c| c["type"] == "DisruptionReason"))
}

fn is_create(ask: &Ask) -> bool {
    matches!(ask, Ask::Create { target, .. } if target.kind == Kind::NodeClaim)
}

fn is_delete(ask: &Ask) -> bool {
    matches!(ask, Ask::Delete { target, .. } if target.kind == Kind::NodeClaim)
}

fn first(room: &Room, which: impl Fn(&Ask) -> bool) -> Option<usize> {
    room.log.iter().position(|(_, ask, _)| which(ask))
}

fn has_reason(room: &Room, claim: &str) -> bool {
    let claim = room.get("NodeClaim", "", claim);
    let of = |c: &&Value| {
        c["status"]["conditions"].as_array().into_iter().flatten().any(|c| c["type"] == "DisruptionReason")
    };
    claim.as_ref().is_some_and(of)
}

/// A node whose pool has moved on; its pod needs a node of its own.
fn drifted(name: &str) -> Room {
    let mut room = Room::new(Room::settings());
    let annotations = json!({"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"});
    room.add(objects::pool(
        "p",
        json!({"metadata": {"annotations": annotations}, "spec": {"disruption": {"consolidateAfter": "Never"}}}),
    ));
    room.node(name, "t4");
    let old = json!({"metadata": {"annotations": {"karpenter.sh/nodepool-hash": "2", "karpenter.sh/nodepool-hash-version": "v3"}}});
    room.edit("NodeClaim", "", &format!("claim-{name}"), old);
    room.running("web", "web-a", "3", name);
    room
}

#[test]
fn dis_122_taint_and_reason_come_before_the_replacement_and_deletion_after_it() {
    let mut room = Room::wasteful();
    room.until("the end of the node", 120.0, |r| r.get("Node", "", "big").is_none());
    let (taint, reason) = (first(&room, |a| is_taint(a, "big")).unwrap(), first(&room, is_reason).unwrap());
    let (create, delete) = (first(&room, is_create).unwrap(), first(&room, is_delete).unwrap());
    assert!(taint < reason && reason < create && create < delete, "{taint} {reason} {create} {delete}");
    let ready = first(&room, |a| {
        matches!(a, Ask::Patch { target, body, .. } if target.kind == Kind::NodeClaim
        && body["status"]["conditions"].as_array().is_some_and(|c| c.iter().any(|c| c["type"] == "Initialized" && c["status"] == "True"))
        && target.name.starts_with("p-"))
    });
    assert!(ready.unwrap() < delete);
    assert!(room.all("Pod").iter().all(|p| p["status"]["phase"] == "Running"), "{}", room.story());
    room.run(30.0);
    assert_eq!(room.all("Node").len(), 1);
    let counted = |name: &str| {
        room.count(name, &[("decision", "replace"), ("reason", "underutilized"), ("consolidation_type", "single")])
    };
    assert_eq!(counted("voluntary_disruption_decisions_total"), 1);
    assert_eq!(
        room.count(
            "nodeclaims_disrupted_total",
            &[
                ("reason", "underutilized"),
                ("nodepool", "p"),
                ("capacity_type", "on-demand"),
                ("consolidation_policy", "when_empty_or_underutilized"),
                ("termination_mode", "graceful")
            ]
        ),
        1
    );
    assert_eq!(room.count("pods_disruption_initiated_total", &[]), 1);
    assert_eq!(room.count("nodeclaims_created_total", &[("reason", "underutilized")]), 1);
    for reason in ["DisruptionLaunching", "DisruptionWaitingReadiness", "DisruptionTerminating"] {
        assert!(room.events.iter().any(|e| e.reason == reason), "{reason}");
    }
}

#[test]
fn dis_123_a_replacement_that_is_deleted_rolls_the_command_back() {
    let mut room = Room::wasteful();
    room.boot = SignedDuration::from_secs(600);
    room.until("a replacement", 60.0, |r| r.all("NodeClaim").len() == 2);
    room.run(2.0);
    assert!(room.is_tainted("big") && has_reason(&room, "claim-big"));
    let name = room.names("NodeClaim").into_iter().find(|n| n.starts_with("p-")).unwrap();
    room.drop_object(&("NodeClaim".to_owned(), String::new(), name));
    room.run(2.0);
    assert!(!room.is_tainted("big") && !has_reason(&room, "claim-big"), "{}", room.story());
    assert_eq!(room.count("voluntary_disruption_queue_failures_total", &[]), 1);
    assert!(room.asked(is_delete).is_empty());
}

#[test]
fn dis_124_a_replacement_that_does_not_show_yet_is_waited_for() {
    let mut room = Room::wasteful();
    room.blind = true;
    room.until("the request", 60.0, |r| !r.asked(is_create).is_empty());
    room.run(3.0);
    assert!(room.is_tainted("big"), "{}", room.story());
    assert_eq!(room.asked(is_create).len(), 1);
    room.blind = false;
    let claim = room.all("NodeClaim").into_iter().find(|c| c["metadata"]["name"].as_str().unwrap().starts_with("p-"));
    let claim = claim.unwrap().clone();
    room.put(claim);
    room.until("the end of the node", 60.0, |r| r.get("Node", "", "big").is_none());
    assert_eq!(room.count("voluntary_disruption_queue_failures_total", &[]), 0);
}

#[test]
fn dis_125_a_replacement_that_is_not_ready_in_time_rolls_the_command_back() {
    let mut room = Room::wasteful();
    room.settings.registration_timeout = SignedDuration::from_mins(30);
    room.restart();
    room.boot = SignedDuration::from_mins(25);
    room.until("a replacement", 60.0, |r| r.all("NodeClaim").len() == 2);
    room.now += SignedDuration::from_mins(9);
    room.run(2.0);
    assert!(room.is_tainted("big"));
    room.now += SignedDuration::from_mins(2);
    room.run(2.0);
    assert!(!room.is_tainted("big") && !has_reason(&room, "claim-big"), "{}", room.story());
    assert!(room.asked(is_delete).is_empty());
    assert_eq!(room.all("NodeClaim").len(), 2, "what was launched stays");
}

#[test]
fn dis_126_the_deadline_grows_with_the_queue() {
    let minutes = |n| deadline(n).as_secs();
    assert_eq!((minutes(3), minutes(4000)), (600, 600));
    assert_eq!((minutes(10_000), minutes(40_000), minutes(80_000)), (800, 3200, 3600));
}

#[test]
fn dis_127_every_replacement_has_to_be_ready() {
    let mut room = drifted("old");
    // Two pods that no single type of the pool holds together.
    room.edit(
        "NodePool",
        "",
        "p",
        json!({"spec": {"template": {"spec": {"requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["t1", "t2"]}]}}}}),
    );
    room.workloads.clear();
    room.drop_object(&("Pod".to_owned(), "default".to_owned(), "web-a".to_owned()));
    room.running("web", "web-b", "1700m", "old");
    room.running("web", "web-c", "1700m", "old");
    room.until("two replacements", 60.0, |r| r.all("NodeClaim").len() == 3);
    let slow = room.names("NodeClaim").into_iter().rfind(|n| n.starts_with("p-")).unwrap();
    room.unready.push(slow.clone());
    room.run(40.0);
    assert!(room.asked(is_delete).is_empty(), "one is not ready");
    assert!(
        room.all("Node").iter().filter(|n| n["metadata"]["annotations"]["millwright.dev/hold"].is_string()).count()
            >= 1
    );
    room.unready.clear();
    room.until("the end of the node", 60.0, |r| r.get("Node", "", "old").is_none());
    room.until("all run", 20.0, |r| r.all("Pod").iter().all(|p| p["status"]["phase"] == "Running"));
}

#[test]
fn dis_128_a_node_that_cannot_be_tainted_is_left_out_of_a_deletion() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.node("a", "t4");
    room.node("b", "t4");
    room.refuse = Box::new(|ask| is_taint(ask, "b").then(|| Refusal::Invalid { message: "no".to_owned() }));
    room.until("the end of a", 60.0, |r| r.get("Node", "", "a").is_none());
    assert!(room.get("Node", "", "b").is_some());
}

#[test]
fn dis_128_a_replacement_is_not_bought_where_the_taint_fails() {
    let mut room = Room::wasteful();
    room.refuse = Box::new(|ask| is_taint(ask, "big").then(|| Refusal::Invalid { message: "no".to_owned() }));
    room.run(60.0);
    assert!(room.asked(is_create).is_empty());
    assert!(!room.is_tainted("big") && !has_reason(&room, "claim-big"));
}

#[test]
fn dis_129_a_pool_over_its_limit_buys_no_replacement() {
    let mut room = drifted("old");
    room.edit("NodePool", "", "p", json!({"spec": {"limits": {"cpu": "2"}}}));
    room.run(40.0);
    assert!(room.asked(is_create).is_empty(), "{}", room.story());
    assert!(!room.is_tainted("old") && !has_reason(&room, "claim-old"));
}

#[test]
fn dis_130_marks_without_a_command_are_taken_away() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({"spec": {"disruption": {"consolidateAfter": "Never"}}})));
    room.node("a", "t4");
    room.running("web", "web-a", "3", "a");
    room.edit(
        "Node",
        "",
        "a",
        json!({"spec": {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]}}),
    );
    room.run(1.0);
    assert!(!room.is_tainted("a"));
}

#[test]
fn lif_105_a_new_leader_cleans_up_in_the_middle_of_a_replacement() {
    let mut room = Room::wasteful();
    room.until("a replacement", 60.0, |r| r.all("NodeClaim").len() == 2);
    room.run(1.0);
    assert!(room.is_tainted("big"));
    room.restart();
    room.step();
    assert!(!room.is_tainted("big") && !has_reason(&room, "claim-big"), "{}", room.story());
    room.run(12.0);
    assert_eq!(room.all("Node").len(), 2, "the replacement goes on");
    room.until("one node in the end", 240.0, |r| r.all("Node").len() == 1 && r.get("Node", "", "big").is_none());
    assert!(room.all("Pod").iter().all(|p| p["status"]["phase"] == "Running"));
}

#[test]
fn dis_131_pods_of_a_node_that_is_being_replaced_get_no_second_node() {
    let mut room = Room::wasteful();
    room.boot = SignedDuration::from_secs(30);
    room.until("a replacement", 60.0, |r| r.all("NodeClaim").len() == 2);
    room.run(25.0);
    assert_eq!(room.asked(is_create).len(), 1, "{}", room.story());
    room.until("the end of the node", 90.0, |r| r.get("Node", "", "big").is_none());
    room.run(20.0);
    assert_eq!(room.asked(is_create).len(), 1, "{}", room.story());
}

#[test]
fn dis_132_a_node_is_not_consolidated_before_its_pods_have_come() {
    let mut room = Room::wasteful();
    room.until("the end of the node", 120.0, |r| r.get("Node", "", "big").is_none());
    room.run(60.0);
    assert_eq!(room.all("Node").len(), 1);
    assert_eq!(room.count("voluntary_disruption_decisions_total", &[]), 1, "{}", room.story());
}

#[test]
fn dis_133_counts_of_an_empty_deletion() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.node("a", "t4");
    room.node("b", "t4");
    room.until("the end of both", 90.0, |r| r.all("Node").is_empty());
    let labels = [("decision", "delete"), ("reason", "empty"), ("consolidation_type", "empty")];
    assert_eq!(room.count("voluntary_disruption_decisions_total", &labels), 1);
    assert_eq!(room.count("voluntary_disruption_decisions_by_nodepool_total", &labels), 1);
    assert_eq!(room.count("nodeclaims_disrupted_total", &[("reason", "empty")]), 2);
}

#[test]
fn a_drifted_node_is_replaced_at_once_under_its_budget() {
    let mut room = drifted("old");
    room.until("the end of the node", 60.0, |r| r.get("Node", "", "old").is_none());
    room.until("all run", 10.0, |r| r.all("Pod").iter().all(|p| p["status"]["phase"] == "Running"));
    assert_eq!(
        room.count("voluntary_disruption_decisions_total", &[("reason", "drifted"), ("consolidation_type", "")]),
        1
    );
    let mut shut = drifted("old");
    shut.edit(
        "NodePool",
        "",
        "p",
        json!({"spec": {"disruption": {"budgets": [{"nodes": "0", "reasons": ["Drifted"]}]}}}),
    );
    shut.run(40.0);
    assert!(shut.asked(|a| is_taint(a, "")).is_empty());
    let claim = shut.get("NodeClaim", "", "claim-old").unwrap();
    let drift = claim["status"]["conditions"].as_array().unwrap().iter().find(|c| c["type"] == "Drifted").unwrap();
    assert_eq!(drift["reason"], "NodePoolDrifted");
}

#[test]
fn a_static_pool_replaces_its_drifted_nodes_one_for_one() {
    let mut room = Room::new(Room::settings());
    let annotations = json!({"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"});
    room.add(objects::pool("p", json!({"metadata": {"annotations": annotations}, "spec": {"replicas": 1}})));
    room.node("old", "t4");
    let old = json!({"metadata": {"annotations": {"karpenter.sh/nodepool-hash": "2", "karpenter.sh/nodepool-hash-version": "v3"}}});
    room.edit("NodeClaim", "", "claim-old", old);
    room.until("the end of the node", 90.0, |r| r.get("Node", "", "old").is_none());
    room.run(90.0);
    assert_eq!(room.all("Node").len(), 1, "{}", room.story());
    assert_eq!(room.asked(is_create).iter().filter(|(.., r)| matches!(r, Reply::Object(_))).count(), 1);
}

#[test]
fn what_changes_during_the_wait_drops_the_command() {
    let mut room = Room::wasteful();
    room.run(5.0);
    room.edit("Node", "", "big", json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}));
    room.run(60.0);
    assert!(room.asked(is_create).is_empty() && room.asked(|a| is_taint(a, "")).is_empty());
    assert_eq!(room.count("voluntary_disruption_failed_validations_total", &[("consolidation_type", "single")]), 1);
    assert!(room.events.iter().any(|e| e.reason == "ConsolidationRejected"));
}

#[test]
fn a_claim_to_stay_just_before_the_deletion_rolls_back() {
    let mut room = Room::wasteful();
    room.boot = SignedDuration::from_secs(20);
    room.until("a replacement", 60.0, |r| r.all("NodeClaim").len() == 2);
    room.edit("Pod", "default", "web-a", json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}));
    room.run(60.0);
    assert!(room.get("Node", "", "big").is_some() && !room.is_tainted("big"), "{}", room.story());
    assert_eq!(room.node_of("web-a"), "big");
}
