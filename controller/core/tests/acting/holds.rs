//! Holds of nodes that were open before: by a taint, so that a cordon is the
//! word of people alone.

use millwright_core::control::ask::{Ask, Kind};
use serde_json::{Value, json};

use super::objects;
use super::room::Room;

/// The taint that holds.
const HOLD: &str = "millwright.dev/hold";

/// The scheduler has given up on them.
/// A node with room for what waits.
fn room() -> Room {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({"spec": {"disruption": {"consolidateAfter": "Never"}}})));
    room.node("a", "t4");
    room.scheduler = false;
    room.deploy("web", 2, "900m", objects::unschedulable());
    room
}

fn node<'r>(room: &'r Room, name: &str) -> &'r Value {
    room.get("Node", "", name).unwrap()
}

fn has_taint(room: &Room, name: &str) -> bool {
    node(room, name)["spec"]["taints"].as_array().into_iter().flatten().any(|t| t["key"] == HOLD)
}

fn is_held(room: &Room, name: &str) -> bool {
    node(room, name)["metadata"]["annotations"][HOLD].is_string()
}

fn is_cordoned(room: &Room, name: &str) -> bool {
    node(room, name)["spec"]["unschedulable"] == true
}

fn all_run(room: &Room) -> bool {
    room.all("Pod").iter().all(|p| p["status"]["phase"] == "Running")
}

/// Writes of a cordon, or of its end.
fn cordons(room: &Room) -> usize {
    let writes = |a: &Ask| match a {
        Ask::Patch { target, body, .. } => {
            target.kind == Kind::Node && body["spec"].as_object().is_some_and(|s| s.contains_key("unschedulable"))
        }
        _ => false,
    };
    room.asked(writes).len()
}

#[test]
fn a_node_that_was_open_is_held_by_a_taint_and_never_cordoned() {
    let mut room = room();
    room.until("the taint", 20.0, |r| has_taint(r, "a"));
    assert!(is_held(&room, "a") && !is_cordoned(&room, "a"));
    room.until("all run", 20.0, all_run);
    room.run(3.0);
    assert!(!has_taint(&room, "a") && !is_held(&room, "a"), "{}", room.story());
    assert!(room.all("Pod").iter().all(|p| p["spec"]["nodeName"] == "a"), "{}", room.story());
    assert_eq!(cordons(&room), 0);
}

#[test]
fn who_cordons_a_held_node_is_obeyed_at_once_and_for_good() {
    let mut room = room();
    room.until("the taint", 20.0, |r| has_taint(r, "a"));
    room.edit("Node", "", "a", json!({"spec": {"unschedulable": true}}));
    room.step();
    assert!(!is_held(&room, "a") && !has_taint(&room, "a"), "{}", room.story());
    room.until("a place elsewhere", 60.0, all_run);
    room.run(120.0);
    assert!(is_cordoned(&room, "a"), "{}", room.story());
    assert!(room.all("Pod").iter().all(|p| p["spec"]["nodeName"] != "a"), "{}", room.story());
    let on_a = |a: &Ask| matches!(a, Ask::Patch { target, body, .. } if target.name == "a" && !body["spec"]["unschedulable"].is_null());
    assert!(room.asked(on_a).is_empty());
    assert_eq!(room.count("holds_ended_total", &[("cause", "cordon")]), 1);
}

#[test]
fn a_cordon_under_a_hold_outlives_a_restart() {
    let mut room = room();
    room.until("the taint", 20.0, |r| has_taint(r, "a"));
    room.edit("Node", "", "a", json!({"spec": {"unschedulable": true}}));
    room.restart();
    room.run(120.0);
    assert!(is_cordoned(&room, "a") && !is_held(&room, "a"), "{}", room.story());
}

#[test]
fn who_takes_the_taint_away_opens_the_node() {
    let mut room = room();
    room.until("the taint", 20.0, |r| has_taint(r, "a"));
    room.edit("Node", "", "a", json!({"spec": {"taints": []}}));
    room.scheduler = true;
    room.step();
    assert!(!is_held(&room, "a"), "{}", room.story());
    room.until("the scheduler places them", 20.0, all_run);
    assert!(!has_taint(&room, "a"));
}

#[test]
fn other_taints_survive_a_hold() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({"spec": {"disruption": {"consolidateAfter": "Never"}}})));
    room.node("a", "t4");
    room.scheduler = false;
    let tolerant = json!({"spec": {"tolerations": [{"key": "team", "operator": "Exists"}]}});
    let mut patch = objects::unschedulable();
    objects::merge(&mut patch, &tolerant);
    room.deploy("web", 2, "900m", patch);
    let team = json!({"key": "team", "value": "blue", "effect": "NoSchedule"});
    room.edit("Node", "", "a", json!({"spec": {"taints": [team]}}));
    room.until("the taint", 20.0, |r| has_taint(r, "a"));
    assert_eq!(node(&room, "a")["spec"]["taints"].as_array().unwrap().len(), 2);
    room.until("all run", 20.0, all_run);
    room.run(3.0);
    let left = &node(&room, "a")["spec"]["taints"];
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left[0]["key"], "team");
}

#[test]
fn pods_of_daemon_sets_that_are_still_to_come_ask_for_a_cordon() {
    let mut room = room();
    room.add(objects::daemon_set("agent", "100m"));
    room.lazy.push("agent".to_owned());
    room.until("a hold", 20.0, |r| is_held(r, "a"));
    assert!(is_cordoned(&room, "a") && !has_taint(&room, "a"));
    room.until("the end of the hold", 120.0, |r| !is_held(r, "a"));
    assert!(!is_cordoned(&room, "a"), "{}", room.story());
}

#[test]
fn nothing_is_held_or_bought_for_pods_that_a_budget_keeps_on_a_node_that_goes() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({"spec": {"disruption": {"consolidateAfter": "Never"}}})));
    room.node("a", "t4");
    room.node("b", "t4");
    room.running("web", "web-a", "900m", "a");
    let budget = |allowed: u32| {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1}, "status": {"disruptionsAllowed": allowed}})
    };
    room.add(budget(0));
    room.refuse = Box::new(|ask| {
        let message = "it would violate the budget".to_owned();
        matches!(ask, Ask::Evict { .. }).then_some(millwright_core::control::ask::Refusal::Budget { message })
    });
    let now = room.now.to_string();
    room.edit("NodeClaim", "", "claim-a", json!({"metadata": {"deletionTimestamp": now}}));
    room.run(300.0);
    let holds = |a: &Ask| matches!(a, Ask::Patch { body, .. } if body["metadata"]["annotations"]["millwright.dev/hold-until"].is_string());
    let creates = |a: &Ask| matches!(a, Ask::Create { target, .. } if target.kind == Kind::NodeClaim);
    assert!(room.asked(holds).is_empty() && room.asked(creates).is_empty(), "{}", room.story());
    room.edit("PodDisruptionBudget", "default", "web", json!({"status": {"disruptionsAllowed": 1}}));
    room.refuse = Box::new(|_| None);
    room.until("the move", 60.0, |r| r.get("Node", "", "a").is_none() && all_run(r));
    assert!(room.asked(creates).is_empty());
}
