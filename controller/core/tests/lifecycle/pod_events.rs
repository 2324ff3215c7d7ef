//! LIF-079 to LIF-081.

use serde_json::{Value, json};

use crate::objects::{daemon, pod, ready, with};
use crate::stage::Stage;

fn last(stage: &Stage) -> Value {
    stage.object("NodeClaim", "c")["status"]["lastPodEventTime"].clone()
}

#[test]
fn lif_079_a_bound_pod_sets_the_time_every_ten_seconds_at_most() {
    let mut stage = ready(json!({}));
    stage.skip(1);
    stage.put(pod("one", "n"));
    stage.settle();
    assert_eq!(last(&stage), json!("2026-12-01T10:00:01Z"));
    stage.skip(5);
    stage.put(pod("two", "n"));
    stage.settle();
    assert_eq!(last(&stage), json!("2026-12-01T10:00:01Z"));
    stage.skip(6);
    stage.put(pod("three", "n"));
    stage.settle();
    assert_eq!(last(&stage), json!("2026-12-01T10:00:12Z"));
}

#[test]
fn lif_080_daemons_and_strangers_do_not_count() {
    let mut stage = ready(json!({}));
    stage.put(daemon("ds", "n"));
    stage.put(pod("elsewhere", "nowhere"));
    stage.settle();
    assert_eq!(last(&stage), Value::Null);
}

#[test]
fn lif_081_ends_count() {
    let done = json!({"status": {"phase": "Succeeded"}});
    let ending = json!({"metadata": {"deletionTimestamp": "2026-12-01T12:00:00Z"}});
    for patch in [done, ending] {
        let mut stage = ready(json!({}));
        stage.put(pod("one", "n"));
        stage.settle();
        stage.skip(20);
        stage.server.merge("Pod", "one", &patch);
        stage.settle();
        assert_eq!(last(&stage), json!("2026-12-01T10:00:20Z"), "{patch}");
    }
}

#[test]
fn lif_079_a_restart_sets_no_clock_back() {
    let mut stage = ready(json!({}));
    stage.put(with(pod("one", "n"), json!({"status": {"startTime": "2026-12-01T10:00:00Z"}})));
    stage.settle();
    let before = last(&stage);
    stage.skip(600);
    stage.restart();
    stage.settle();
    assert_eq!(last(&stage), before);
    let late = json!({"status": {"startTime": "2026-12-01T10:09:00Z"}});
    stage.put(with(pod("two", "n"), late));
    stage.restart();
    stage.settle();
    assert_eq!(last(&stage), json!("2026-12-01T10:09:00Z"), "one that came while nobody looked");
}
