//! Waves: many nodes at once, into the room of others.

use millwright_core::control::ask::{Ask, Kind, Reply};
use serde_json::json;

use super::objects;
use super::room::Room;

fn creates(room: &Room) -> usize {
    room.asked(|a| matches!(a, Ask::Create { target, .. } if target.kind == Kind::NodeClaim)).len()
}

fn all_run(room: &Room) -> bool {
    room.all("Pod").iter().all(|p| p["status"]["phase"] == "Running" && p["metadata"]["deletionTimestamp"].is_null())
}

fn is_quiet(room: &Room) -> bool {
    let marks = |n: &&serde_json::Value| {
        n["spec"]["unschedulable"] == true || n["spec"]["taints"].as_array().is_some_and(|t| !t.is_empty())
    };
    !room.all("Node").iter().any(|n| marks(&n))
}

/// Three nodes of four CPUs, filled so that two hold everything to the brim.
fn three() -> Room {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    for name in ["a", "b", "c"] {
        room.node(name, "t4");
    }
    room.running("web", "web-a", "1300m", "a");
    room.running("web", "web-b", "1300m", "a");
    room.running("web", "web-c", "1300m", "b");
    room.running("web", "web-d", "1300m", "b");
    room.running("api", "api-a", "1300m", "c");
    room.running("api", "api-b", "1300m", "c");
    room
}

#[test]
fn a_wave_lands_in_the_slots_that_were_planned() {
    let mut room = three();
    room.until("two nodes", 120.0, |r| r.all("Node").len() == 2 && all_run(r));
    room.run(5.0);
    assert_eq!(creates(&room), 0, "{}", room.story());
    assert!(is_quiet(&room), "{}", room.story());
    let placed = |o: &str| room.count("placements_total", &[("outcome", o)]);
    assert_eq!((placed("successor"), placed("as_planned")), (2, 0), "{}", room.story());
    assert_eq!(room.count("placements_total", &[]), 2);
}

#[test]
fn strangers_get_nothing_of_the_room_of_a_wave() {
    let mut room = three();
    room.until("evictions", 120.0, |r| !r.asked(|a| matches!(a, Ask::Evict { .. })).is_empty());
    room.deploy("stranger", 3, "900m", json!({"spec": {"priority": 1000}}));
    room.until("the moved pods run", 30.0, |r| {
        r.all("Pod").iter().all(|p| p["metadata"]["labels"]["app"] == "stranger" || p["status"]["phase"] == "Running")
    });
    let bound: Vec<_> = room.asked(|a| matches!(a, Ask::Bind { .. }));
    assert!(bound.iter().all(|(.., reply)| **reply == Reply::Done) && bound.len() == 2, "{}", room.story());
}

#[test]
fn a_quiet_cluster_reaches_a_fixed_point() {
    let mut room = three();
    room.until("two nodes", 120.0, |r| r.all("Node").len() == 2 && all_run(r));
    room.run(30.0);
    let before = room.log.iter().filter(|(_, a, _)| !matches!(a, Ask::Event(_) | Ask::Instances)).count();
    room.run(120.0);
    let after = room.log.iter().filter(|(_, a, _)| !matches!(a, Ask::Event(_) | Ask::Instances)).count();
    assert_eq!(before, after, "{}", room.story());
}

#[test]
fn a_budget_lets_so_many_nodes_go_at_a_time() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({"spec": {"disruption": {"budgets": [{"nodes": "1"}]}}})));
    for name in ["a", "b", "c", "d"] {
        room.node(name, "t4");
    }
    let mut most = 0;
    for _ in 0..800 {
        room.step();
        let leaving = room
            .all("Node")
            .iter()
            .filter(|n| {
                n["spec"]["taints"].as_array().is_some_and(|t| t.iter().any(|t| t["key"] == "karpenter.sh/disrupted"))
            })
            .count();
        most = most.max(leaving);
    }
    assert_eq!(most, 1);
    assert!(room.all("Node").is_empty(), "one after the other: {}", room.story());
}

#[test]
fn many_nodes_become_fewer_new_ones() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    for name in ["a", "b", "c"] {
        room.node(name, "t16");
        room.running("web", &format!("web-{name}"), "3500m", name);
    }
    let price = |room: &mut Room| -> i64 {
        let (world, catalog) = (room.world(), room.catalog.clone());
        world.nodes.iter().filter_map(|n| millwright_models::catalog::price_of(&catalog, &n.meta.labels)).sum()
    };
    let before = price(&mut room);
    room.run(240.0);
    assert!(all_run(&room) && is_quiet(&room), "{}", room.story());
    let after = price(&mut room);
    assert!(after < before, "{after} {before}");
    assert_eq!(after, 600_000, "three of the smallest that hold one each: {}", room.story());
}

#[test]
fn a_controller_that_dies_in_a_wave_leaves_no_hold_behind() {
    let mut room = three();
    room.until("a hold", 120.0, |r| {
        r.all("Node").iter().any(|n| n["metadata"]["annotations"]["millwright.dev/hold"].is_string())
    });
    room.restart();
    room.run(200.0);
    assert!(all_run(&room) && is_quiet(&room), "{}", room.story());
    assert_eq!(room.all("Node").len(), 2);
}

#[test]
fn a_budget_of_pods_slows_the_wave_and_is_kept() {
    let mut room = three();
    room.add(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {}}, "status": {"disruptionsAllowed": 0}}));
    room.run(60.0);
    assert_eq!(room.all("Node").len(), 3);
    assert!(room.asked(|a| matches!(a, Ask::Evict { .. })).is_empty());
}
