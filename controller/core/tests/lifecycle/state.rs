//! LIF-099 to LIF-104: the state that decisions are made on.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::SignedDuration;
use millwright_core::nodes::{Memory, state_nodes};
use millwright_core::provision::gate::{Gate, Sight};
use millwright_core::provision::{Options, plan};
use millwright_models::catalog::Catalog;
use millwright_solver::engine;
use serde_json::{Value, json};

use crate::objects::{claim, launched, node, pod, ready, with};
use crate::provider::id;
use crate::stage::Stage;

fn gate(stage: &mut Stage, gate: &mut Gate, api_nodes: BTreeSet<&str>) -> bool {
    let (world, _) = stage.server.live.world();
    let sight = Sight {
        claims: world.node_claims.iter().map(|c| (c.meta.name.as_str(), c.provider_id.as_str())).collect(),
        nodes: world.nodes.iter().map(|n| n.meta.name.as_str()).collect(),
        api_claims: world.node_claims.iter().map(|c| c.meta.name.as_str()).collect(),
        api_nodes,
    };
    gate.look(&sight).is_ok()
}

#[test]
fn lif_075_lif_099_an_unlaunched_claim_keeps_the_gate_shut() {
    let mut stage = Stage::new();
    let mut shut = Gate::default();
    stage.put(claim("c"));
    assert!(!gate(&mut stage, &mut shut, BTreeSet::new()));
    stage.settle();
    assert!(gate(&mut stage, &mut shut, BTreeSet::new()), "launched");
    stage.put(claim("d"));
    assert!(!gate(&mut stage, &mut shut, BTreeSet::new()));
    stage.server.lose("NodeClaim", "d");
    assert!(gate(&mut stage, &mut shut, BTreeSet::new()), "gone");
}

#[test]
fn lif_100_nodes_that_are_not_seen_count_at_the_start_only() {
    let mut stage = ready(json!({}));
    let mut shut = Gate::default();
    assert!(!gate(&mut stage, &mut shut, ["n", "m"].into()));
    assert!(gate(&mut stage, &mut shut, ["n"].into()));
    assert!(gate(&mut stage, &mut shut, ["n", "m"].into()));
}

#[test]
fn lif_101_lif_103_a_node_and_its_claim_are_one() {
    let mut stage = launched(json!({}));
    stage.put(with(node("c", "c"), json!({"spec": {"providerID": null}})));
    let count = |stage: &mut Stage| {
        let world = stage.server.live.world().0;
        state_nodes(&world).len()
    };
    assert_eq!(count(&mut stage), 2, "nothing tells yet that they belong together");
    stage.server.merge("Node", "c", &json!({"spec": {"providerID": id("c")}}));
    assert_eq!(count(&mut stage), 1);
    stage.settle();
    assert_eq!(count(&mut stage), 1);
}

/// Whether the scheduler puts a pending pod on node `n`.
fn takes_pods(stage: &mut Stage) -> bool {
    let pending = json!({"spec": {"nodeName": null}, "status": {"phase": "Pending"}});
    stage.put(with(pod("waits", ""), pending));
    let world = stage.server.live.world().0;
    let options = Options {
        lower: stage.settings.lower.clone(),
        engine: engine::Options { iterations: Some(1), ..engine::Options::default() },
        now: stage.now.to_string(),
        baseline: false,
    };
    let catalog = Catalog::new("r".to_owned(), "test".to_owned(), Vec::new());
    let decision = plan(&world, &catalog, &options, &|| Duration::ZERO).unwrap();
    !decision.existing.is_empty()
}

#[test]
fn lif_102_lif_112_taints_that_go_by_themselves_are_seen_once_a_node_is_initialized() {
    let taint = |key: &str, effect: &str| json!({"key": key, "effect": effect});
    let startup = json!({"spec": {"startupTaints": [taint("s", "NoSchedule")]}});
    for (key, effect) in [
        ("node.kubernetes.io/not-ready", "NoSchedule"),
        ("s", "NoSchedule"),
        ("readiness.k8s.io/net", "NoSchedule"),
        ("karpenter.sh/rebooting", "NoSchedule"),
    ] {
        let spec = json!({"spec": {"taints": [taint(key, effect)]}});
        let mut stage = launched(startup.clone());
        stage.put(node("n", "c"));
        stage.settle();
        stage.server.merge("Node", "n", &spec);
        assert!(takes_pods(&mut stage), "{key}: not initialized");
        let mut stage = ready(json!({}));
        stage.server.merge("Node", "n", &spec);
        assert!(!takes_pods(&mut stage), "{key}: initialized");
        let mut list = stage.object("NodeClaim", "c")["status"]["conditions"].as_array().unwrap().clone();
        list.push(json!({"type": "Rebooting", "status": "True", "reason": "RebootIssued"}));
        stage.server.merge("NodeClaim", "c", &json!({"spec": startup["spec"], "status": {"conditions": list}}));
        assert!(takes_pods(&mut stage), "{key}: rebooting");
        let mut stage = Stage::new();
        stage.put(with(node("n", "none"), spec));
        assert!(!takes_pods(&mut stage), "{key}: a stranger");
    }
}

#[test]
fn lif_104_a_nomination_lasts_twenty_seconds_and_a_mark_stays() {
    let mut stage = ready(json!({}));
    let mut memory = Memory::default();
    memory.nominated.insert(id("c"), stage.now);
    memory.marked.insert(id("c"));
    stage.server.merge("NodeClaim", "c", &json!({"metadata": {"annotations": {"x": "y"}}}));
    let world = stage.server.live.world().0;
    let nodes = state_nodes(&world);
    let after = |s: i64| stage.now + SignedDuration::from_secs(s);
    assert!(nodes[0].is_nominated(&memory, after(19)) && !nodes[0].is_nominated(&memory, after(20)));
    assert!(nodes[0].is_marked(&memory));
}

#[test]
fn lif_105_a_claim_goes_on_with_its_life_under_another_leader() {
    for after in 0..12 {
        let mut stage = Stage::new();
        stage.put(claim("c"));
        for step in 0..12 {
            if step == after {
                stage.restart();
            }
            if step == 6 {
                stage.put(node("n", "c"));
            }
            stage.look();
        }
        stage.pass(2);
        stage.claim_says("Ready", "True", "Ready");
        assert_eq!(stage.provider.machines.len(), 1, "restart at {after}");
        let taints: &Value = &stage.object("Node", "n")["spec"]["taints"];
        assert_eq!(taints, &json!([]));
    }
}
