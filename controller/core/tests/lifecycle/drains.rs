//! LIF-048 to LIF-060.

use millwright_core::control::ask::Refusal;
use serde_json::{Value, json};

use crate::objects::{daemon, pod, ready, with};
use crate::stage::{Stage, start};

/// A ready node with these pods, whose claim has been deleted at 10:00.
fn draining(grace: Option<&str>, pods: Vec<Value>) -> Stage {
    let spec = grace.map_or(json!({}), |g| json!({"spec": {"terminationGracePeriod": g}}));
    let mut stage = ready(spec);
    pods.into_iter().for_each(|pod| stage.put(pod));
    stage.settle();
    assert_eq!(stage.now, start());
    stage.delete("NodeClaim", "c");
    stage
}

fn held() -> Value {
    json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}})
}

fn grace(seconds: Option<i64>) -> Value {
    json!({"spec": {"terminationGracePeriodSeconds": seconds}})
}

fn tolerates(toleration: Value) -> Value {
    json!({"spec": {"tolerations": [toleration]}})
}

#[test]
fn lif_048_pods_go_in_four_groups() {
    let critical = json!({"spec": {"priorityClassName": "system-node-critical"}});
    let last = 2;
    let pods = vec![
        with(daemon("4", "n"), critical.clone()),
        with(pod("3", "n"), with(critical, grace(Some(last)))),
        with(daemon("2", "n"), grace(Some(last))),
        with(pod("1", "n"), grace(Some(last))),
        with(pod("1b", "n"), json!({"spec": {"priority": 2_000_000_000}})),
    ];
    let mut stage = draining(None, pods);
    let mut seen = vec![stage.evicted()];
    for _ in 0..20 {
        stage.pass(1);
        if seen.last().unwrap().len() < stage.evicted().len() {
            seen.push(stage.evicted());
        }
    }
    let waves: Vec<usize> = seen.iter().map(Vec::len).collect();
    assert_eq!(waves, [2, 3, 4, 5]);
    assert_eq!(stage.evicted()[2..], ["2", "3", "4"], "critical is a matter of the name, not of the value");
    let first = stage.log.iter().filter(|(_, a, _)| matches!(a, millwright_core::control::ask::Ask::Evict { .. }));
    let times: Vec<i64> = first.map(|l| l.0.duration_since(start()).as_secs()).collect();
    assert_eq!(times, [0, 0, 2, 4, 6], "each group waits for the one before to vanish");
}

#[test]
fn lif_049_who_is_not_evicted_and_does_not_block() {
    let key = "karpenter.sh/disrupted";
    let pods = vec![
        with(pod("equal", "n"), tolerates(json!({"key": key, "operator": "Equal", "effect": "NoSchedule"}))),
        with(pod("exists", "n"), tolerates(json!({"operator": "Exists"}))),
        with(
            pod("mirror", "n"),
            json!({"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "n", "controller": true}]}}),
        ),
        with(pod("cordon", "n"), tolerates(json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}))),
    ];
    let mut stage = draining(None, pods);
    stage.pass(12);
    assert_eq!(stage.evicted(), ["cordon"]);
    assert!(!stage.has("Node", "n"));
}

#[test]
fn lif_050_bare_pods_are_evicted_and_finished_ones_ignored() {
    let pods = vec![
        with(pod("bare", "n"), json!({"metadata": {"ownerReferences": null}})),
        with(pod("done", "n"), json!({"status": {"phase": "Succeeded"}})),
    ];
    let mut stage = draining(None, pods);
    stage.pass(12);
    assert_eq!(stage.evicted(), ["bare"]);
    assert!(!stage.has("Node", "n"));
}

#[test]
fn lif_051_a_budget_holds_the_drain_until_it_gives_way() {
    let mut stage = ready(json!({}));
    stage.put(pod("web", "n"));
    stage.server.budgets.insert("a/web".to_owned(), Refusal::Budget { message: "no".to_owned() });
    stage.settle();
    stage.delete("NodeClaim", "c");
    stage.pass(120);
    assert!(stage.has("Node", "n") && stage.evicted().is_empty());
    assert!(stage.events("FailedDraining").iter().any(|e| e.about.name == "n" && e.message.contains("a/web violates")));
    assert!(stage.counted("pods_eviction_requests_total", ("code", "429")) >= 3);
    stage.server.budgets.clear();
    stage.pass(40);
    assert!(!stage.has("Node", "n"));
}

#[test]
fn lif_052_a_pod_that_does_not_end_is_passed_by() {
    let stuck = with(pod("stuck", "n"), json!({"metadata": {"stuck": true}}));
    let mut stage = draining(None, vec![stuck]);
    assert_eq!(stage.evicted(), ["stuck"]);
    stage.pass(60);
    assert!(stage.has("Node", "n") && stage.terminations() == 0);
    stage.pass(10);
    assert!(!stage.has("Node", "n"));
}

#[test]
fn lif_053_a_drain_lasts_five_seconds() {
    let mut stage = draining(None, vec![]);
    stage.claim_says("Drained", "Unknown", "Draining");
    stage.pass(4);
    stage.claim_says("Drained", "Unknown", "Draining");
    stage.put(pod("late", "n"));
    stage.settle();
    assert_eq!(stage.evicted(), ["late"]);
    stage.pass(1);
    assert_eq!(stage.counted("nodes_drained_total", ("nodepool", "p")), 1);
    stage.pass(6);
    assert!(!stage.has("Node", "n"));
}

#[test]
fn lif_054_a_shielded_pod_goes_only_by_the_deadline() {
    let shielded = with(pod("web", "n"), with(held(), grace(Some(30))));
    let mut stage = draining(None, vec![shielded.clone()]);
    stage.skip(100 * 3600);
    assert!(stage.has("Pod", "web") && stage.evicted().is_empty());
    let mut stage = draining(Some("1h"), vec![shielded]);
    stage.pass(3571);
    assert!(stage.evicted().is_empty());
    assert_eq!(stage.forced()[0].0, "web");
    let told = stage.events("Disrupted");
    assert_eq!(told.len(), 1);
    assert!(told[0].message.contains("2026-12-01T11:00:00Z") && told[0].message.contains("30s"), "{}", told[0].message);
}

#[test]
fn lif_055_to_060_when_pods_are_deleted_and_how_long_they_get() {
    let h = 3600;
    for (case, pod_grace, tgp, want) in [
        ("five minutes before the end", Some(300), "1h", Some((55 * 60, 299))),
        ("a longer grace than there is time", Some(2 * h), "1h", Some((0, h))),
        ("the deadline is here at once", Some(30), "0s", Some((0, 1))),
        ("no grace period of its own", None, "1h", None),
    ] {
        let shielded = with(pod("web", "n"), with(held(), grace(pod_grace)));
        let mut stage = draining(Some(tgp), vec![shielded]);
        let first = stage.forced().first().cloned();
        stage.skip(54 * 60);
        assert_eq!(stage.forced().first(), first.as_ref(), "{case}: nothing more until 54:00");
        for _ in 0..90 {
            stage.skip(1);
        }
        let forced = stage.forced().first().map(|(_, grace, at)| (*at, *grace));
        match (forced, want) {
            (Some((at, given)), Some((then, grace))) => {
                assert!(
                    (then..=then + 1).contains(&at) && (grace - 1..=grace + 1).contains(&given),
                    "{case}: {at} {given}"
                );
            }
            (got, want) => assert_eq!(got, want, "{case}"),
        }
    }
}

#[test]
fn lif_057_an_ending_pod_is_hurried_only_if_it_ends_too_late() {
    for (ends, hurried) in [("2026-12-01T10:30:00Z", true), ("2026-12-01T10:09:00Z", false)] {
        let ending = with(pod("web", "n"), json!({"metadata": {"deletionTimestamp": ends}}));
        let mut stage = draining(Some("10m"), vec![ending]);
        assert_eq!(!stage.forced().is_empty(), hurried, "{ends}");
        if hurried {
            assert_eq!(stage.forced(), [("web".to_owned(), 600, 0)]);
            assert_eq!(stage.object("Pod", "web")["metadata"]["deletionTimestamp"], json!("2026-12-01T10:10:00Z"));
        }
        stage.pass(5);
        assert!(stage.forced().len() <= 1 && stage.evicted().is_empty());
    }
}

#[test]
fn lif_058_whose_time_is_over_does_not_wait_for_its_turn() {
    let critical = json!({"spec": {"priorityClassName": "system-cluster-critical"}});
    let pods =
        vec![with(pod("first", "n"), grace(Some(30))), with(pod("critical", "n"), with(critical, grace(Some(7200))))];
    let mut stage = ready(json!({"spec": {"terminationGracePeriod": "1h"}}));
    stage.server.budgets.insert("a/first".to_owned(), Refusal::Budget { message: "no".to_owned() });
    pods.into_iter().for_each(|pod| stage.put(pod));
    stage.settle();
    stage.delete("NodeClaim", "c");
    assert_eq!(stage.forced().iter().map(|f| f.0.as_str()).collect::<Vec<_>>(), ["critical"]);
    assert!(stage.has("Pod", "first"));
}

#[test]
fn a_long_drain_says_so_once_in_two_minutes_whatever_it_counts() {
    let mut stage = ready(json!({}));
    for n in 0..4 {
        stage.put(pod(&format!("p{n}"), "n"));
        stage.server.budgets.insert(format!("a/p{n}"), Refusal::Budget { message: "no".to_owned() });
    }
    stage.settle();
    stage.delete("NodeClaim", "c");
    for n in 0..4 {
        stage.pass(25);
        stage.server.budgets.remove(&format!("a/p{n}"));
        stage.pass(4);
    }
    let told = stage.events("FailedDraining");
    assert_eq!(told.len(), 2, "one of the count, one of the budgets: {told:?}");
}
