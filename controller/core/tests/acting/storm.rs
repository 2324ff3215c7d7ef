//! Random clusters under random trouble: what must hold at every moment, and
//! that calm brings everything to rest.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use millwright_core::control::ask::{Ask, Kind, Refusal};
use serde_json::json;

use super::objects;
use super::room::{Refuse, Room};
use crate::dice::Dice;

fn trouble(seed: u64, percent: u64) -> Refuse {
    let mut r = Dice(seed);
    Box::new(move |ask| {
        // An answer about a machine is never wrong, only late.
        let late = !matches!(ask, Ask::Event(_));
        (late && r.chance(percent)).then(|| match r.below(2) {
            0 if matches!(ask, Ask::Patch { .. } | Ask::Bind { .. }) => Refusal::Conflict,
            _ => Refusal::Unavailable { message: "throttled".to_owned() },
        })
    })
}

/// What must hold whatever happens.
fn holds(room: &mut Room, seed: u64) {
    let world = room.world();
    let mut used: BTreeMap<&str, i64> = BTreeMap::new();
    for pod in world.pods.iter().filter(|p| !p.is_terminal()) {
        if let Some(node) = &pod.node_name {
            *used.entry(node).or_default() += pod.requests.get("cpu");
        }
    }
    for node in &world.nodes {
        let used = used.get(node.meta.name.as_str()).copied().unwrap_or(0);
        assert!(used <= node.allocatable.get("cpu"), "seed {seed}: {} holds {used}\n{}", node.meta.name, room.story());
        let until = node.meta.annotations.get("millwright.dev/hold-until");
        if let Some(until) = until.and_then(|u| u.parse::<jiff::Timestamp>().ok()) {
            let over = room.now.duration_since(until);
            assert!(
                over < SignedDuration::from_secs(45),
                "seed {seed}: {} is held too long\n{}",
                node.meta.name,
                room.story()
            );
        }
    }
    let claims: BTreeSet<&str> =
        world.node_claims.iter().map(|c| c.provider_id.as_str()).filter(|p| !p.is_empty()).collect();
    let all = world.node_claims.iter().filter(|c| !c.provider_id.is_empty()).count();
    assert_eq!(claims.len(), all, "seed {seed}: a machine of two claims");
}

fn storm(seed: u64) {
    let mut r = Dice(seed);
    let mut room = Room::new(Room::settings());
    let budget = ["1", "50%", "100%"][r.below(3) as usize];
    room.add(objects::pool("p", json!({"spec": {"disruption": {"budgets": [{"nodes": budget}]}}})));
    if r.chance(50) {
        room.add(objects::daemon_set("agent", "100m"));
    }
    for app in 0..1 + r.below(3) {
        let cpu = ["400m", "900m", "1300m", "2500m"][r.below(4) as usize];
        room.deploy(&format!("app{app}"), 1 + r.below(5) as usize, cpu, json!({}));
    }
    room.refuse = trouble(seed, 4);
    for _ in 0..480 {
        room.step();
        holds(&mut room, seed);
        if r.chance(2) {
            let apps: Vec<String> = room.workloads.keys().cloned().collect();
            let app = &apps[r.below(apps.len() as u64) as usize];
            room.workloads.get_mut(app).unwrap().replicas = r.below(7) as usize;
        }
        if r.chance(1) {
            room.restart();
        }
        if r.chance(1) {
            let pods: Vec<String> = room.names("Pod").into_iter().filter(|p| p.starts_with("app")).collect();
            if let Some(pod) = pods.get(r.below(pods.len().max(1) as u64) as usize) {
                room.drop_object(&("Pod".to_owned(), "default".to_owned(), pod.clone()));
            }
        }
    }
    room.refuse = Box::new(|_| None);
    for _ in 0..1600 {
        room.step();
        holds(&mut room, seed);
    }
    let before = acts(&room);
    for _ in 0..240 {
        room.step();
    }
    for pod in room.all("Pod") {
        assert_eq!(pod["status"]["phase"], "Running", "seed {seed}\n{}", room.story());
    }
    for node in room.all("Node") {
        let taints = node["spec"]["taints"].as_array().map_or(0, Vec::len);
        assert!(node["spec"]["unschedulable"].is_null() && taints == 0, "seed {seed}: {node}\n{}", room.story());
    }
    assert_eq!(before, acts(&room), "seed {seed}: it rests\n{}", room.story());
    assert_eq!(room.machines.len(), room.all("NodeClaim").len(), "seed {seed}\n{}", room.story());
}

/// Requests that change something.
fn acts(room: &Room) -> usize {
    let act = |ask: &Ask| match ask {
        Ask::Event(_) | Ask::Instances | Ask::Describe { .. } | Ask::Refresh { .. } => false,
        Ask::Patch { target, .. } => target.kind != Kind::NodePool,
        _ => true,
    };
    room.log.iter().filter(|(_, ask, _)| act(ask)).count()
}

#[test]
fn random_trouble_ends_in_rest() {
    let seeds: Vec<u64> = std::env::var("SEEDS")
        .map_or_else(|_| (1..=3).collect(), |text| text.split(',').map(|s| s.parse().unwrap()).collect());
    for seed in seeds {
        storm(seed);
    }
}
