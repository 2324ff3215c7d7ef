//! The rules of landing (DESIGN §5), one test each.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Ask, Kind, Refusal, Reply};
use millwright_core::control::settings::{Placement, Settings};
use millwright_models::rules::State;
use serde_json::{Value, json};

use super::objects;
use super::room::Room;

fn room() -> Room {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room
}

/// The scheduler has given up on them.
fn of(room: &Room, app: &str) -> Vec<Value> {
    room.all("Pod").into_iter().filter(|p| p["metadata"]["labels"]["app"] == app).cloned().collect()
}

fn run(room: &Room, app: &str) -> bool {
    let pods = of(room, app);
    !pods.is_empty() && pods.iter().all(|p| p["status"]["phase"] == "Running")
}

fn held(room: &Room) -> Vec<String> {
    let all = room.all("Node").into_iter().filter(|n| n["metadata"]["annotations"]["millwright.dev/hold"].is_string());
    all.map(|n| n["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

fn is_cordoned(room: &Room, node: &str) -> bool {
    room.get("Node", "", node).is_some_and(|n| n["spec"]["unschedulable"] == true)
}

/// Whether a request begins or widens a hold.
fn is_hold(ask: &Ask) -> bool {
    matches!(ask, Ask::Patch { body, .. } if body["metadata"]["annotations"]["millwright.dev/hold-until"].is_string())
}

fn binds(room: &Room) -> Vec<(Timestamp, String, String, Reply)> {
    let all = room.log.iter().filter_map(|(at, ask, reply)| match ask {
        Ask::Bind { pod, node, .. } => Some((*at, pod.name.clone(), node.clone(), reply.clone())),
        _ => None,
    });
    all.collect()
}

/// No node has more on it than fits.
fn nothing_is_overcommitted(room: &mut Room) {
    let world = room.world();
    let bare = millwright_models::world::World { pods: Vec::new(), ..(*world).clone() };
    let mut used: BTreeMap<&str, i64> = BTreeMap::new();
    for pod in world.pods.iter().filter(|p| !p.is_terminal()) {
        if let Some(node) = &pod.node_name {
            *used.entry(node).or_default() += pod.requests.get("cpu");
        }
    }
    for node in &bare.nodes {
        let used = used.get(node.meta.name.as_str()).copied().unwrap_or(0);
        assert!(used <= node.allocatable.get("cpu"), "{} holds {used}\n{}", node.meta.name, room.story());
    }
    assert!(State::of(&bare).is_ok());
}

#[test]
fn a_new_node_is_cordoned_as_it_registers_and_pods_are_bound_once_it_is_initialized() {
    let mut room = room();
    room.deploy("web", 3, "1300m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    let node = held(&room)[0].clone();
    assert!(is_cordoned(&room, &node));
    let until: Timestamp = room.get("Node", "", &node).unwrap()["metadata"]["annotations"]["millwright.dev/hold-until"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(until > room.now);
    assert!(binds(&room).is_empty(), "it is not ready");
    room.until("all run", 20.0, |r| run(r, "web"));
    let ready = room.log.iter().find_map(|(at, ask, _)| match ask {
        Ask::Patch { body, .. } if body["metadata"]["labels"]["karpenter.sh/initialized"] == "true" => Some(*at),
        _ => None,
    });
    assert!(binds(&room).iter().all(|(at, ..)| *at >= ready.unwrap()));
    room.run(2.0);
    assert!(held(&room).is_empty() && !is_cordoned(&room, &node), "{}", room.story());
    nothing_is_overcommitted(&mut room);
}

#[test]
fn strangers_get_no_room_that_is_planned_and_daemons_come_first() {
    let mut room = room();
    room.add(objects::daemon_set("agent", "300m"));
    room.deploy("web", 6, "1200m", json!({}));
    room.until("a claim", 10.0, |r| !r.all("NodeClaim").is_empty());
    room.deploy("stranger", 8, "100m", json!({"spec": {"priority": 100}}));
    room.until("all run", 60.0, |r| run(r, "web") && run(r, "stranger"));
    room.run(5.0);
    assert_eq!(room.count("placements_total", &[("outcome", "as_planned")]), room.count("placements_total", &[]));
    for node in room.names("Node") {
        assert_eq!(room.node_of(&format!("agent-{node}")), node);
    }
    nothing_is_overcommitted(&mut room);
}

#[test]
fn a_daemon_that_never_comes_ends_by_the_timer() {
    let mut room = room();
    room.add(objects::daemon_set("agent", "300m"));
    room.lazy.push("agent".to_owned());
    room.deploy("web", 3, "1200m", json!({}));
    room.until("all run", 30.0, |r| run(r, "web"));
    let bound = room.now;
    room.run(50.0);
    assert_eq!(held(&room).len(), 1, "it waits for its daemon");
    room.run(15.0);
    assert!(held(&room).is_empty(), "{}", room.story());
    assert!(room.now.duration_since(bound) < SignedDuration::from_secs(70));
    assert_eq!(room.count("holds_ended_total", &[("cause", "timer")]), 1);
    assert!(!is_cordoned(&room, &room.names("Node")[0].clone()));
}

#[test]
fn a_timer_lifts_the_hold_after_a_restart_too() {
    let mut room = room();
    room.add(objects::daemon_set("agent", "300m"));
    room.lazy.push("agent".to_owned());
    room.deploy("web", 3, "1200m", json!({}));
    room.until("all run", 30.0, |r| run(r, "web"));
    room.run(20.0);
    room.restart();
    room.run(30.0);
    assert_eq!(held(&room).len(), 1);
    room.run(15.0);
    assert!(held(&room).is_empty());
}

#[test]
fn a_node_that_was_open_is_listed_afresh_half_a_second_after_it_was_closed() {
    let mut room = room();
    room.node("a", "t4");
    room.scheduler = false;
    room.deploy("web", 3, "1200m", objects::unschedulable());
    room.until("the hold", 10.0, |r| held(r) == ["a"]);
    let begun = room.log.iter().find(|(_, a, _)| is_hold(a)).unwrap().0;
    // The scheduler had assumed a pod there: its binding shows only now.
    room.add(objects::pod("early", "early-0", "1500m", objects::on("a")));
    room.until("a binding", 10.0, |r| !binds(r).is_empty());
    let listed = room.log.iter().find(|(_, a, _)| matches!(a, Ask::Refresh { .. })).unwrap().0;
    assert!(listed.duration_since(begun) >= SignedDuration::from_millis(500));
    room.run(3.0);
    assert!(binds(&room).iter().all(|(at, ..)| *at >= listed));
    assert_eq!(binds(&room).len(), 2, "the third has no room any more");
    assert!(held(&room).is_empty());
    nothing_is_overcommitted(&mut room);
}

#[test]
fn a_conflict_frees_the_slot_for_a_successor() {
    let mut room = room();
    room.deploy("web", 3, "1200m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    // Somebody takes one of the planned pods elsewhere; its ReplicaSet makes another.
    room.node("other", "t2");
    let taken = room.names("Pod")[0].clone();
    room.edit("Pod", "default", &taken, json!({"spec": {"nodeName": "other"}, "status": {"phase": "Running"}}));
    room.workloads.get_mut("web").unwrap().replicas = 4;
    room.until("all run", 20.0, |r| run(r, "web") && of(r, "web").len() == 4);
    room.run(3.0);
    assert_eq!(room.node_of(&taken), "other");
    assert_eq!(room.all("NodeClaim").len(), 2, "the successor needed no node of its own: {}", room.story());
    assert_eq!(room.count("placements_total", &[("outcome", "successor")]), 1);
}

#[test]
fn a_refused_binding_leaves_the_pod_alone_and_lets_the_node_go() {
    let mut room = room();
    room.deploy("web", 3, "1200m", json!({}));
    room.refuse = Box::new(|ask| {
        let bind = matches!(ask, Ask::Bind { pod, .. } if pod.name == "web-1");
        bind.then(|| Refusal::Invalid { message: "no".to_owned() })
    });
    room.until("all run", 40.0, |r| run(r, "web"));
    assert_eq!(binds(&room).iter().filter(|(_, pod, ..)| pod == "web-1").count(), 1);
    assert_eq!(room.count("bindings_total", &[("code", "422")]), 1);
    room.run(3.0);
    assert!(held(&room).is_empty());
}

#[test]
fn a_pod_that_the_kubelet_refuses_frees_its_slot_with_back_off() {
    let mut room = room();
    room.boot = SignedDuration::from_secs(1);
    room.add(objects::daemon_set("agent", "100m"));
    room.lazy.push("agent".to_owned());
    room.deploy("web", 3, "1200m", json!({}));
    room.until("bindings", 20.0, |r| binds(r).len() == 3);
    room.edit("Pod", "default", "web-0", json!({"status": {"phase": "Failed", "reason": "OutOfcpu"}}));
    room.scheduler = false;
    room.run(20.0);
    let again = binds(&room);
    assert!(again.iter().all(|(_, pod, ..)| pod != "web-3"), "{again:?}");
    assert_eq!(of(&room, "web").len(), 4, "a successor waits");
    assert_eq!(room.count("admission_failures_total", &[]), 1);
}

#[test]
fn strangers_that_tolerate_everything_count() {
    let mut room = room();
    room.deploy("web", 3, "1300m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    let node = held(&room)[0].clone();
    room.add(objects::pod("rude", "rude-0", "200m", objects::on(&node)));
    room.run(20.0);
    let there = of(&room, "web").iter().filter(|p| p["spec"]["nodeName"] == *node).count();
    assert_eq!(there, 2, "{}", room.story());
    nothing_is_overcommitted(&mut room);
    room.until("the third elsewhere", 40.0, |r| run(r, "web"));
}

#[test]
fn terminating_pods_count_until_they_are_gone() {
    let mut room = room();
    room.node("a", "t4");
    room.scheduler = false;
    room.add(objects::pod("old", "old-0", "1300m", objects::on("a")));
    room.deploy("web", 2, "1300m", objects::unschedulable());
    room.until("the hold", 10.0, |r| held(r) == ["a"]);
    let end = (room.now + SignedDuration::from_secs(600)).to_string();
    room.edit("Pod", "default", "old-0", json!({"metadata": {"deletionTimestamp": end}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1400m", "memory": "64Mi"}}}]}}));
    room.run(5.0);
    assert_eq!(binds(&room).len(), 1, "{}", room.story());
    nothing_is_overcommitted(&mut room);
}

#[test]
fn a_cordon_that_is_not_ours_is_never_touched() {
    let mut room = room();
    room.node("a", "t4");
    room.edit("Node", "", "a", json!({"spec": {"unschedulable": true}}));
    room.deploy("web", 2, "900m", json!({}));
    room.until("all run", 40.0, |r| run(r, "web"));
    room.run(60.0);
    assert!(is_cordoned(&room, "a") || room.get("Node", "", "a").is_none());
    let touched = room.asked(|a| matches!(a, Ask::Patch { target, body, .. } if target.name == "a" && !body["spec"]["unschedulable"].is_null()));
    assert!(touched.is_empty());
    let uncordon = room.asked(|a| matches!(a, Ask::Patch { target, body, .. } if target.name == "a" && body["spec"].as_object().is_some_and(|s| s.contains_key("unschedulable"))));
    assert!(uncordon.is_empty());
}

#[test]
fn a_drain_that_is_not_ours_ends_the_hold_and_leaves_the_cordon() {
    let mut room = room();
    room.add(objects::daemon_set("agent", "100m"));
    room.lazy.push("agent".to_owned());
    room.deploy("web", 3, "1200m", json!({}));
    room.until("all run", 30.0, |r| run(r, "web"));
    let node = held(&room)[0].clone();
    room.evict("web-0");
    room.step();
    assert!(held(&room).is_empty(), "{}", room.story());
    assert!(is_cordoned(&room, &node));
    room.run(10.0);
    assert!(is_cordoned(&room, &node), "{}", room.story());
    assert_eq!(room.count("holds_ended_total", &[("cause", "drain")]), 1);
}

#[test]
fn a_person_who_uncordons_ends_the_hold() {
    let mut room = room();
    room.deploy("web", 3, "1200m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    let node = held(&room)[0].clone();
    room.edit("Node", "", &node, json!({"spec": {"unschedulable": null}}));
    room.step();
    assert!(held(&room).is_empty());
    room.until("the scheduler places them", 20.0, |r| run(r, "web"));
    assert!(binds(&room).is_empty() && !is_cordoned(&room, &node));
}

#[test]
fn a_person_who_cordons_after_the_hold_is_obeyed() {
    let mut room = room();
    room.deploy("web", 3, "1200m", json!({}));
    room.until("all run", 30.0, |r| run(r, "web"));
    room.run(3.0);
    let node = room.names("Node")[0].clone();
    room.edit("Node", "", &node, json!({"spec": {"unschedulable": true}}));
    room.restart();
    room.run(10.0);
    assert!(is_cordoned(&room, &node));
}

#[test]
fn planned_pods_that_vanish_free_their_slots() {
    let mut room = room();
    room.deploy("web", 3, "1200m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    room.workloads.get_mut("web").unwrap().replicas = 1;
    room.run(10.0);
    assert!(run(&room, "web") && held(&room).is_empty(), "{}", room.story());
    assert_eq!(room.count("placements_total", &[("outcome", "vanished")]), 2);
}

#[test]
fn a_planned_pod_that_grew_is_not_squeezed_in() {
    let mut room = room();
    room.deploy("web", 3, "1300m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    room.scheduler = false;
    room.edit(
        "Pod",
        "default",
        "web-0",
        json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2", "memory": "64Mi"}}}]}}),
    );
    room.run(6.0);
    assert_eq!(binds(&room).len(), 2, "{}", room.story());
    assert!(held(&room).is_empty(), "nobody else is awaited");
    assert_eq!(room.count("placements_total", &[("outcome", "waiting")]), 1);
    room.until("it gets another node", 40.0, |r| run(r, "web"));
    nothing_is_overcommitted(&mut room);
}

#[test]
fn a_planned_pod_that_is_bound_elsewhere_is_let_go() {
    let mut room = room();
    room.deploy("web", 3, "1300m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    room.node("other", "t2");
    room.edit("Pod", "default", "web-0", json!({"spec": {"nodeName": "other"}, "status": {"phase": "Running"}}));
    room.run(6.0);
    assert_eq!(binds(&room).len(), 2);
    assert!(held(&room).is_empty());
    assert_eq!(room.count("placements_total", &[("outcome", "elsewhere")]), 1);
}

#[test]
fn a_node_smaller_than_planned_takes_what_fits() {
    let mut room = room();
    room.deploy("web", 3, "1300m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    let node = held(&room)[0].clone();
    room.edit("Node", "", &node, json!({"status": {"allocatable": {"cpu": "3"}, "capacity": {"cpu": "3"}}}));
    room.until("all run", 60.0, |r| run(r, "web"));
    assert_eq!(of(&room, "web").iter().filter(|p| p["spec"]["nodeName"] == *node).count(), 2);
    nothing_is_overcommitted(&mut room);
}

#[test]
fn a_controller_that_dies_between_bind_and_uncordon_is_followed_by_one_that_uncordons() {
    let mut room = room();
    room.deploy("web", 3, "1200m", json!({}));
    room.refuse = Box::new(|ask| {
        let uncordon = matches!(ask, Ask::Patch { target, body, .. } if target.kind == Kind::Node && body["spec"].as_object().is_some_and(|s| s.contains_key("unschedulable") && s["unschedulable"].is_null()));
        uncordon.then(|| Refusal::Unavailable { message: "down".to_owned() })
    });
    room.until("all run", 30.0, |r| run(r, "web"));
    assert_eq!(held(&room).len(), 1);
    room.restart();
    room.refuse = Box::new(|_| None);
    room.run(2.0);
    assert!(held(&room).is_empty(), "{}", room.story());
    assert!(!is_cordoned(&room, &room.names("Node")[0].clone()));
    assert_eq!(binds(&room).len(), 3, "nothing is bound twice");
}

#[test]
fn two_leaders_at_a_time_overcommit_nothing() {
    let mut room = room();
    let second = millwright_core::control::brain::Brain::new(Settings { seed: 7, ..Room::settings() });
    room.brains.push(second);
    room.deploy("web", 6, "1300m", json!({}));
    room.until("all run", 60.0, |r| run(r, "web"));
    room.run(5.0);
    nothing_is_overcommitted(&mut room);
    assert!(held(&room).is_empty());
    let bound = binds(&room).into_iter().filter(|(.., reply)| *reply == Reply::Done).count();
    assert_eq!(bound, 6, "each pod once");
}

#[test]
fn slots_are_matched_by_owner_where_pods_are_made_anew() {
    let mut room = room();
    room.deploy("web", 3, "1300m", json!({}));
    room.until("a held node", 20.0, |r| !held(r).is_empty());
    for pod in room.names("Pod") {
        room.drop_object(&("Pod".to_owned(), "default".to_owned(), pod));
    }
    room.until("all run", 20.0, |r| run(r, "web"));
    room.run(3.0);
    assert_eq!(room.all("Node").len(), 1, "{}", room.story());
    assert_eq!(room.count("placements_total", &[("outcome", "successor")]), 3);
}

#[test]
fn only_pods_of_the_named_schedulers_and_none_that_opted_out() {
    let mut room = room();
    room.deploy("other", 1, "1200m", json!({"spec": {"schedulerName": "batch"}}));
    room.deploy("own", 1, "1200m", json!({"metadata": {"annotations": {"millwright.dev/placement": "none"}}}));
    room.deploy(
        "gang",
        1,
        "1200m",
        json!({"metadata": {"labels": {"app": "gang", "scheduling.x-k8s.io/pod-group": "g"}}}),
    );
    room.until("all run", 40.0, |r| run(r, "other") && run(r, "own") && run(r, "gang"));
    assert!(binds(&room).is_empty());
    assert!(room.asked(is_hold).is_empty(), "a node for such pods alone is not held");
    assert_eq!(room.all("Node").len(), 1);
}

#[test]
fn a_pool_may_opt_out() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({"metadata": {"annotations": {"millwright.dev/placement": "none"}}})));
    room.deploy("web", 2, "1200m", json!({}));
    room.until("all run", 40.0, |r| run(r, "web"));
    assert!(binds(&room).is_empty());
}

#[test]
fn gated_pods_are_never_planned() {
    let mut room = room();
    room.deploy("gated", 2, "1200m", json!({"spec": {"schedulingGates": [{"name": "wait"}]}}));
    room.run(15.0);
    assert!(room.all("NodeClaim").is_empty());
}

#[test]
fn pods_that_only_the_scheduler_can_place_are_nominated_before_the_cordon_falls() {
    let mut room = room();
    room.add(json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
        "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}));
    room.add(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
        "spec": {"storageClassName": "late"}, "status": {"phase": "Pending"}}));
    room.deploy(
        "db",
        1,
        "1200m",
        json!({"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}),
    );
    room.deploy("web", 2, "1200m", json!({}));
    room.until("all run", 40.0, |r| run(r, "web") && run(r, "db"));
    assert!(binds(&room).iter().all(|(_, pod, ..)| pod.starts_with("web")));
    let at = |which: &dyn Fn(&Value) -> bool| {
        room.log.iter().position(|(_, a, _)| matches!(a, Ask::Patch { body, .. } if which(body)))
    };
    let nominated = at(&|b| b["status"]["nominatedNodeName"].is_string()).expect("a nomination");
    let uncordoned = at(&|b| b["metadata"]["annotations"]["millwright.dev/landed"] == "true").expect("an uncordon");
    assert!(nominated < uncordoned);
}

#[test]
fn nominate_mode_nominates_and_holds_nothing() {
    let mut room = Room::new(Settings { placement: Placement::Nominate, ..Room::settings() });
    room.add(objects::pool("p", json!({})));
    room.deploy("web", 3, "1200m", json!({}));
    room.until("all run", 40.0, |r| run(r, "web"));
    let nominations =
        room.asked(|a| matches!(a, Ask::Patch { body, .. } if body["status"]["nominatedNodeName"].is_string()));
    assert_eq!(nominations.len(), 3);
    assert!(binds(&room).is_empty());
    assert!(room.asked(is_hold).is_empty());
}

#[test]
fn none_mode_leaves_everything_to_the_scheduler() {
    let mut room = Room::new(Settings { placement: Placement::None, ..Room::settings() });
    room.add(objects::pool("p", json!({})));
    room.deploy("web", 3, "1200m", json!({}));
    room.until("all run", 40.0, |r| run(r, "web"));
    room.run(20.0);
    assert!(binds(&room).is_empty());
    assert!(room.asked(|a| matches!(a, Ask::Patch { target, .. } if target.kind == Kind::Pod)).is_empty());
    assert_eq!(room.all("NodeClaim").len(), 1);
}
