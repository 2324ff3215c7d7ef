//! Work aside: what interrupts it, and what makes it needless.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::Event;
use millwright_core::control::settings::Settings;
use millwright_core::control::work::{Cancel, Question, Work};
use serde_json::json;

use super::objects;
use super::room::Room;

/// A consolidation that takes long and has begun.
fn long() -> Work {
    let mut room = Room::new(Settings { consolidate_deadline: Duration::from_secs(1_000_000), ..Settings::default() });
    room.add(objects::pool("p", json!({})));
    for n in 0..12 {
        room.node(&format!("n{n}"), "t8");
        for p in 0..3 {
            room.running("web", &format!("web-{n}-{p}"), "1300m", &format!("n{n}"));
        }
    }
    room.idle = true;
    room.run(3.0);
    room.aside.pop().unwrap()
}

fn passes(room: &Room) -> usize {
    room.count("scheduling_passes_total", &[])
}

/// Gives the answers to what was kept.
fn answer(room: &mut Room) {
    for work in std::mem::take(&mut room.aside) {
        let now = room.now;
        room.brains[0].found(work.run(&|| Duration::ZERO), now);
    }
}

#[test]
fn pods_that_wait_interrupt_a_consolidation_which_begins_anew_afterwards() {
    let mut room = Room::wasteful();
    room.idle = true;
    room.run(3.0);
    assert!(matches!(room.aside[..], [Work { question: Question::Consolidate(_), .. }]), "{:?}", room.aside.len());
    assert!(!room.aside[0].cancel.is_set());
    room.scheduler = false;
    room.deploy("huge", 1, "100", objects::unschedulable());
    room.run(3.0);
    assert!(room.aside[0].cancel.is_set(), "the pass is due");
    assert_eq!(room.aside.len(), 1, "one at a time");
    answer(&mut room);
    room.step();
    assert!(matches!(room.aside[..], [Work { question: Question::Provision(_), .. }]));
    assert!(!room.aside[0].cancel.is_set());
    answer(&mut room);
    room.idle = false;
    room.scheduler = true;
    room.until("the end of the node", 240.0, |r| r.get("Node", "", "big").is_none());
}

#[test]
fn a_consolidation_that_was_given_up_often_is_let_come_to_its_end() {
    let mut room = Room::wasteful();
    room.idle = true;
    room.scheduler = false;
    let mut given_up = 0;
    for wave in 0..12 {
        room.until("work", 60.0, |r| !r.aside.is_empty());
        if matches!(room.aside[0].question, Question::Consolidate(_)) {
            room.deploy(&format!("late-{wave}"), 1, "100", objects::unschedulable());
            room.run(4.0);
            if !room.aside[0].cancel.is_set() {
                assert_eq!(given_up, 3);
                return;
            }
            given_up += 1;
        }
        answer(&mut room);
    }
    panic!("it is given up for ever: {given_up}");
}

#[test]
fn work_that_was_given_up_ends_before_its_deadline() {
    let work = long();
    assert!(matches!(work.question, Question::Consolidate(_)));
    work.cancel.set();
    // A clock that stands still: only the cancellation ends the search.
    work.run(&|| Duration::ZERO);
}

#[test]
fn work_is_given_up_while_it_runs() {
    let work = long();
    let (cancel, looks): (Cancel, _) = (work.cancel.clone(), std::sync::atomic::AtomicU32::new(0));
    work.run(&|| {
        if looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 20 {
            cancel.set();
        }
        Duration::ZERO
    });
    assert!(cancel.is_set());
}

#[test]
fn pods_that_nothing_helps_are_planned_for_again_only_when_something_has_changed() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({"spec": {"disruption": {"consolidateAfter": "Never"}}})));
    room.scheduler = false;
    room.deploy("huge", 3, "400", objects::unschedulable());
    room.run(50.0);
    assert_eq!(passes(&room), 1, "{}", room.story());
    // A heartbeat is no news.
    room.node("a", "t1");
    room.run(15.0);
    let after_node = passes(&room);
    assert_eq!(after_node, 2);
    for _ in 0..5 {
        room.edit("Node", "", "a", json!({"status": {"images": []}}));
        room.run(5.0);
    }
    assert_eq!(passes(&room), after_node);
    room.run(60.0);
    assert_eq!(passes(&room), after_node + 1, "it is looked at again after a while");
    room.catalog = Arc::new((*room.catalog).clone());
    room.run(15.0);
    assert_eq!(passes(&room), after_node + 2, "another catalogue");
    room.deploy("huger", 1, "500", objects::unschedulable());
    room.run(15.0);
    assert_eq!(passes(&room), after_node + 3, "another pod");
}

#[test]
fn a_pool_that_is_changed_is_planned_with_at_once() {
    let mut room = Room::new(Room::settings());
    let only = |kind: &str| {
        json!({"spec": {"template": {"spec": {"requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
            {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [kind]},
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z1"]}]}}}})
    };
    room.add(objects::pool("p", only("t1")));
    room.deploy("web", 1, "3", json!({}));
    room.run(15.0);
    assert!(room.all("NodeClaim").is_empty());
    room.edit("NodePool", "", "p", only("t4"));
    room.until("it runs", 40.0, |r| r.all("Pod").iter().all(|p| p["status"]["phase"] == "Running"));
}

fn barren(room: &Room) -> Vec<&Event> {
    room.events.iter().filter(|e| e.reason == "NoCompatibleInstanceTypes").collect()
}

#[test]
fn a_pool_whose_requirements_contradict_each_other_says_so() {
    let mut room = Room::new(Room::settings());
    let both = json!({"spec": {"template": {"spec": {"requirements": [
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
        {"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["amd64"]}]}}}});
    room.add(objects::pool("p", both));
    room.add(objects::pool("q", json!({})));
    room.run(60.0);
    let told = barren(&room);
    assert_eq!(told.len(), 1, "once in a while: {told:?}");
    assert_eq!((told[0].about.name.as_str(), told[0].warning), ("p", true));
    assert!(told[0].message.starts_with("NodePool p can buy nothing: "), "{}", told[0].message);
    let begun: Timestamp = room.now;
    room.until("again", 120.0, |r| barren(r).len() == 2);
    assert!(room.now.duration_since(begun) > SignedDuration::from_secs(30));
}
