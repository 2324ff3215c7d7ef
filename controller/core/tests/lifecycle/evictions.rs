//! LIF-062 to LIF-066, LIF-109 to LIF-111.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Ask, Refusal, Reply, Target};
use millwright_core::control::desk::{Desk, Part};
use millwright_core::control::settings::Settings;
use millwright_core::control::termination::{Bound, Queue};
use millwright_core::control::view::View;
use millwright_models::catalog::Catalog;
use millwright_models::kube::pod::Pod;
use millwright_models::reader::live::Live;
use millwright_models::world::World;
use serde_json::json;

use crate::objects::{node, pod, ready, with};
use crate::stage::start;

#[test]
fn lif_062_what_is_gone_or_another_is_dropped_without_a_word() {
    for refusal in [Refusal::NotFound, Refusal::Conflict] {
        let mut stage = ready(json!({}));
        stage.put(pod("web", "n"));
        let code = if refusal == Refusal::NotFound { "404" } else { "409" };
        stage.server.budgets.insert("a/web".to_owned(), refusal);
        stage.settle();
        stage.delete("NodeClaim", "c");
        stage.server.lose("Pod", "web");
        stage.pass(10);
        assert!(!stage.has("Node", "n"));
        assert_eq!(stage.counted("pods_eviction_requests_total", ("code", code)), 1);
        assert!(stage.events("Evicted").is_empty());
        assert!(stage.events("FailedDraining").iter().all(|e| !e.message.contains("a/web")));
    }
}

#[test]
fn lif_063_two_budgets_are_told_of_and_tried_again() {
    let mut stage = ready(json!({}));
    stage.put(pod("web", "n"));
    stage.server.budgets.insert("a/web".to_owned(), Refusal::Budgets { message: "two".to_owned() });
    stage.settle();
    stage.delete("NodeClaim", "c");
    stage.pass(20);
    let events = stage.events("FailedDraining");
    assert!(events.iter().any(|e| e.message.contains("more than one PDB")), "{events:?}");
    assert!(stage.counted("pods_eviction_requests_total", ("code", "500")) >= 3);
    stage.server.budgets.clear();
    stage.pass(40);
    assert!(!stage.has("Node", "n"));
}

/// A queue on its own.
struct Bench {
    queue: Queue,
    desk: Desk,
    world: World,
    now: Timestamp,
}

impl Bench {
    fn new(grace: i64, annotations: serde_json::Value) -> Self {
        let mut live = Live::default();
        live.apply(&node("n", "c")).unwrap();
        let spec = json!({"spec": {"terminationGracePeriodSeconds": grace}});
        let pod = with(with(pod("web", "n"), spec), json!({"metadata": {"uid": "u", "annotations": annotations}}));
        live.apply(&pod).unwrap();
        Self { queue: Queue::default(), desk: Desk::default(), world: (*live.world().0).clone(), now: start() }
    }

    fn pod(&self) -> Pod {
        self.world.pods[0].clone()
    }

    fn add(&mut self, bound: Option<Bound>) {
        let pod = self.pod();
        self.queue.add(&pod, bound, "n", "Drifted");
    }

    fn bound(&self) -> Option<Option<Bound>> {
        self.queue.bound("u")
    }

    /// What is asked for now.
    fn work(&mut self) -> Vec<Ask> {
        let catalog = Arc::new(Catalog::new("r".to_owned(), "t".to_owned(), Vec::new()));
        let settings = Settings::default();
        let view = View::new(&self.world, &catalog, &settings, Arc::default(), self.now);
        let pod = self.world.pods[0].clone();
        self.desk.open(self.now);
        self.queue.begin(&view);
        self.queue.tell(&view, &mut self.desk);
        self.queue.work(&pod, &view, Part::Termination, &mut self.desk);
        self.desk.close().requests.into_iter().map(|r| r.ask).collect()
    }
}

fn after(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

#[test]
fn lif_064_the_earlier_deadline_counts() {
    let mut bench = Bench::new(30, json!({}));
    bench.add(None);
    assert!(matches!(bench.work()[..], [Ask::Evict { .. }]));
    bench.add(Some(Bound::deadline(after(20))));
    bench.add(Some(Bound::deadline(after(500))));
    bench.add(None);
    assert_eq!(bench.bound(), Some(Some(Bound::deadline(after(20)))));
    bench.desk = Desk::default();
    assert!(matches!(bench.work()[0], Ask::Delete { grace_seconds: Some(20), .. }));
}

#[test]
fn lif_065_a_pod_of_the_same_name_is_another_one() {
    let mut bench = Bench::new(30, json!({"karpenter.sh/do-not-disrupt": "true"}));
    bench.add(Some(Bound::deadline(after(0))));
    let mut again = bench.pod();
    again.uid = "v".to_owned();
    bench.world.pods[0] = again;
    assert!(bench.work().is_empty());
    assert_eq!(bench.bound(), None);
}

#[test]
fn lif_066_why_pods_go() {
    for (conditions, reason) in [(true, "Underutilized"), (false, "Forceful Termination")] {
        let mut stage = ready(json!({}));
        stage.put(pod("web", "n"));
        if conditions {
            let mut list = stage.object("NodeClaim", "c")["status"]["conditions"].as_array().unwrap().clone();
            list.push(json!({"type": "DisruptionReason", "status": "True", "reason": reason, "message": reason}));
            stage.server.merge("NodeClaim", "c", &json!({"status": {"conditions": list}}));
        }
        stage.settle();
        stage.delete("NodeClaim", "c");
        assert_eq!(stage.counted("pods_drained_total", ("reason", reason)), 1);
        assert_eq!(stage.counted("pods_eviction_requests_total", ("code", "200")), 1);
        assert_eq!(stage.events("Evicted")[0].message, format!("Evicted pod: {reason}"));
    }
}

#[test]
fn lif_109_a_timeout_never_deletes() {
    for annotations in [json!({}), json!({"karpenter.sh/do-not-disrupt": "true"})] {
        let mut bench = Bench::new(30, annotations.clone());
        bench.add(Some(Bound::timeout(after(60))));
        assert_eq!(bench.work().len(), usize::from(annotations == json!({})));
        bench.desk = Desk::default();
        bench.now = after(60);
        assert!(bench.work().is_empty());
        assert_eq!(bench.bound(), None, "dropped");
    }
}

#[test]
fn lif_110_a_deadline_wins_over_a_timeout() {
    let (timeout, deadline) = (Some(Bound::timeout(after(60))), Some(Bound::deadline(after(600))));
    for (first, second, want) in
        [(timeout, deadline, deadline), (deadline, timeout, deadline), (None, timeout, None), (timeout, None, None)]
    {
        let mut bench = Bench::new(30, json!({}));
        bench.add(first);
        bench.add(second);
        assert_eq!(bench.bound(), Some(want), "{first:?} then {second:?}");
    }
}

#[test]
fn lif_111_nothing_is_said_of_a_node_that_is_gone() {
    for (gone, events) in [(false, 1), (true, 0)] {
        let mut bench = Bench::new(30, json!({}));
        bench.add(None);
        bench.work();
        let refusal = Reply::Refused(Refusal::Budget { message: "no".to_owned() });
        bench.queue.evicted(&Target::pod("a", "web"), "u", &refusal, &mut bench.desk);
        if gone {
            bench.world.nodes.clear();
            bench.world.pods[0].node_name = None;
        }
        let asked = bench.work();
        assert_eq!(asked.iter().filter(|a| matches!(a, Ask::Event(_))).count(), events);
        assert_eq!(bench.bound().is_none(), gone);
    }
}
