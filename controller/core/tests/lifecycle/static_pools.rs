//! LIF-086 to LIF-091, LIF-117.

use millwright_core::control::ask::{Ask, Refusal};
use serde_json::{Value, json};

use crate::objects::{class, daemon, node, pod, pool, with};
use crate::stage::Stage;

fn scene(replicas: i64, extra: Value) -> Stage {
    let mut stage = Stage::new();
    stage.settings.lower.gates.static_capacity = true;
    stage.put(class());
    stage.put(with(with(pool(), json!({"spec": {"replicas": replicas}})), extra));
    stage.settle();
    stage
}

fn claims(stage: &Stage) -> Vec<String> {
    let all = stage.server.names("NodeClaim");
    all.into_iter().filter(|n| !stage.is_deleting("NodeClaim", n)).collect()
}

#[test]
fn lif_086_a_static_pool_gets_what_it_asks_for() {
    let mut stage = scene(3, json!({"spec": {"template": {"metadata": {"labels": {"team": "a"}}}}}));
    let names = claims(&stage);
    assert_eq!(names.len(), 3);
    stage.pass(70);
    assert_eq!(claims(&stage), names);
    let object = stage.object("NodeClaim", &names[0]);
    assert_eq!(object["metadata"]["labels"]["team"], json!("a"));
    assert_eq!(object["metadata"]["ownerReferences"][0]["uid"], json!("pool-uid"));
    assert_eq!(object["spec"]["nodeClassRef"]["name"], json!("d"));
    assert!(object["metadata"]["annotations"]["karpenter.sh/nodepool-hash"].is_string());
    assert_eq!(stage.counted("nodeclaims_created_total", ("reason", "provisioned")), 3);
    let name = names[1].clone();
    stage.delete("NodeClaim", &name);
    stage.pass(7);
    assert_eq!(claims(&stage).len(), 3, "a lost one is made anew");
}

#[test]
fn lif_087_limits_hold() {
    let mut stage = scene(5, json!({"spec": {"limits": {"nodes": "4"}}}));
    assert_eq!(claims(&stage).len(), 4);
    stage.pass(70);
    assert_eq!(claims(&stage).len(), 4);
}

#[test]
fn lif_088_pools_that_may_not_grow() {
    let gone = json!({"metadata": {"deletionTimestamp": "2026-12-01T09:00:00Z", "finalizers": ["x"]}});
    assert!(claims(&scene(3, gone)).is_empty());
    let mut stage = Stage::new();
    stage.settings.lower.gates.static_capacity = true;
    stage.put(with(pool(), json!({"spec": {"replicas": 3}})));
    stage.pass(2);
    assert!(claims(&stage).is_empty(), "no class, not ready");
    stage.put(class());
    stage.pass(2);
    assert_eq!(claims(&stage).len(), 3);
    let mut stage = Stage::new();
    stage.put(class());
    stage.put(with(pool(), json!({"spec": {"replicas": 3}})));
    stage.pass(2);
    assert!(claims(&stage).is_empty(), "the gate is shut");
}

#[test]
fn lif_089_never_more_than_the_limit() {
    let mut stage = scene(10, json!({"spec": {"limits": {"nodes": "5"}}}));
    let mut most = 0;
    for _ in 0..20 {
        stage.look();
        let (all, mine) = (stage.server.names("NodeClaim"), claims(&stage));
        most = most.max(all.len());
        if let Some(name) = mine.first() {
            stage.server.delete("NodeClaim", name, stage.now);
        }
        stage.pass(1);
    }
    assert_eq!(most, 5);
}

#[test]
fn lif_090_which_claims_go_first() {
    let mut stage = scene(8, json!({}));
    let names = claims(&stage);
    let node_of = |name: &str| format!("n-{name}");
    // Two never come up; two have daemons only; the others have pods.
    for name in &names[2..] {
        stage.put(node(&node_of(name), name));
    }
    let [daemons, low, high, held] = [[2, 3], [4, 5], [6, 6], [7, 7]].map(|pair| pair.map(|i: usize| names[i].clone()));
    for name in &daemons {
        stage.put(daemon(&format!("ds-{name}"), &node_of(name)));
    }
    for name in &low {
        stage.put(pod(&format!("low-{name}"), &node_of(name)));
    }
    stage.put(with(pod("high", &node_of(&high[0])), json!({"spec": {"priority": 100_000_000}})));
    let shield = json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}});
    stage.put(with(pod("held", &node_of(&held[0])), shield));
    stage.settle();
    for name in &names[..2] {
        stage.server.merge("NodeClaim", name, &json!({"status": {"providerID": null}}));
    }
    let mut shrink = |replicas: i64| {
        stage.server.merge("NodePool", "p", &json!({"spec": {"replicas": replicas}}));
        stage.settle();
        claims(&stage)
    };
    assert_eq!(shrink(6), names[2..].to_vec());
    assert_eq!(shrink(4), names[4..].to_vec());
    assert_eq!(shrink(2), names[6..].to_vec());
    assert_eq!(shrink(1), names[7..].to_vec());
    assert!(shrink(0).is_empty());
}

#[test]
fn lif_091_lif_117_a_creation_that_fails_is_given_back() {
    let mut stage = scene(0, json!({"spec": {"limits": {"nodes": "3"}}}));
    // Somebody takes a name between the look and the creation.
    stage.server.merge("NodePool", "p", &json!({"spec": {"replicas": 3}}));
    stage.refuse_creations = 2;
    stage.settle();
    assert_eq!(claims(&stage).len(), 1);
    let conflicts = stage.log.iter().filter(|(_, ask, reply)| {
        matches!((ask, reply), (Ask::Create { .. }, millwright_core::control::ask::Reply::Refused(Refusal::Conflict)))
    });
    assert_eq!(conflicts.count(), 2);
    stage.pass(5);
    assert_eq!(claims(&stage).len(), 3);
}
