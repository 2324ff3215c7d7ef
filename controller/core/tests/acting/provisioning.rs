//! From pods that wait to nodes that run them.

use jiff::SignedDuration;
use millwright_core::control::ask::{Ask, Kind, Refusal, Reply};
use serde_json::json;

use super::objects;
use super::room::Room;

fn creates(room: &Room) -> Vec<String> {
    let all = room.asked(|a| matches!(a, Ask::Create { target, .. } if target.kind == Kind::NodeClaim));
    all.into_iter()
        .filter(|(_, _, r)| matches!(r, Reply::Object(_)))
        .filter_map(|(_, a, _)| Some(a.key()?.name))
        .collect()
}

fn all_run(room: &Room, app: &str) -> bool {
    let pods: Vec<_> = room.all("Pod").into_iter().filter(|p| p["metadata"]["labels"]["app"] == app).collect();
    !pods.is_empty() && pods.iter().all(|p| p["status"]["phase"] == "Running")
}

#[test]
fn pods_that_wait_get_nodes_and_land_as_planned() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.deploy("web", 12, "900m", json!({}));
    room.until("all run", 40.0, |r| all_run(r, "web"));
    room.run(3.0);
    let claims = room.all("NodeClaim");
    assert!(!claims.is_empty());
    for claim in &claims {
        assert_eq!(claim["metadata"]["finalizers"][0], "karpenter.sh/termination");
        assert!(claim["metadata"]["name"].as_str().unwrap().starts_with("p-"), "{claim}");
        assert!(claim["metadata"]["annotations"]["millwright.dev/slots"].is_string());
    }
    let landed = room.count("placements_total", &[("outcome", "as_planned")]);
    assert_eq!(landed, 12, "{}", room.story());
    assert_eq!(room.count("placements_total", &[]), 12);
    assert!(room.all("Node").iter().all(|n| n["spec"]["unschedulable"].is_null()), "every cordon has fallen");
    assert!(
        room.events
            .iter()
            .any(|e| e.reason == "Nominated" && e.message.starts_with("Pod should schedule on: nodeclaim/p-"))
    );
    assert_eq!(room.count("nodeclaims_created_total", &[("reason", "provisioned"), ("nodepool", "p")]), claims.len());
}

#[test]
fn nothing_is_bought_twice_while_claims_are_on_their_way() {
    let mut room = Room::new(Room::settings());
    room.boot = SignedDuration::from_secs(60);
    room.add(objects::pool("p", json!({})));
    room.deploy("web", 4, "900m", json!({}));
    room.run(40.0);
    let first = creates(&room);
    assert!(!first.is_empty());
    room.deploy("late", 2, "900m", json!({}));
    room.run(18.0);
    let all = creates(&room);
    assert!(all.len() > first.len(), "the new pods get their own");
    room.until("all run", 60.0, |r| all_run(r, "web") && all_run(r, "late"));
    assert_eq!(creates(&room).len(), all.len());
}

#[test]
fn a_restart_between_plan_and_node_changes_nothing() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.deploy("web", 6, "900m", json!({}));
    room.until("claims", 10.0, |r| !r.all("NodeClaim").is_empty());
    let before = creates(&room);
    room.restart();
    room.until("all run", 40.0, |r| all_run(r, "web"));
    room.run(5.0);
    assert_eq!(creates(&room), before, "{}", room.story());
    assert_eq!(room.count("placements_total", &[("outcome", "as_planned")]), 6);
}

#[test]
fn a_name_that_is_taken_gives_way_to_the_next() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.deploy("web", 1, "900m", json!({}));
    let mut times = 0;
    room.refuse = Box::new(move |ask| {
        let create = matches!(ask, Ask::Create { target, .. } if target.kind == Kind::NodeClaim);
        times += usize::from(create);
        (create && times <= 2).then_some(Refusal::Conflict)
    });
    room.until("a claim", 10.0, |r| !r.all("NodeClaim").is_empty());
    let asked = room.asked(|a| matches!(a, Ask::Create { target, .. } if target.kind == Kind::NodeClaim));
    let names: std::collections::BTreeSet<_> = asked.iter().map(|(_, a, _)| a.key().unwrap().name).collect();
    assert_eq!((asked.len(), names.len()), (3, 3), "each time another name");
}

#[test]
fn a_lost_answer_to_a_purchase_buys_nothing_twice() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.deploy("web", 1, "900m", json!({}));
    room.until("a pass", 10.0, |r| !r.all("NodeClaim").is_empty());
    // The same again where the answer is lost although the claim was made.
    let mut lost = Room::new(Room::settings());
    lost.add(objects::pool("p", json!({})));
    lost.deploy("web", 1, "900m", json!({}));
    let made = room.all("NodeClaim")[0].clone();
    let mut first = true;
    lost.refuse = Box::new(move |ask| {
        let create = matches!(ask, Ask::Create { target, .. } if target.kind == Kind::NodeClaim);
        let refuse = create && first;
        first &= !create;
        refuse.then(|| Refusal::Unavailable { message: "timeout".to_owned() })
    });
    lost.until("the request", 10.0, |r| !r.asked(|a| matches!(a, Ask::Create { .. })).is_empty());
    let mut object = made.clone();
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    object["status"] = json!({});
    lost.add(object);
    lost.until("all run", 40.0, |r| all_run(r, "web"));
    assert_eq!(lost.all("NodeClaim").len(), 1, "{}", lost.story());
}

#[test]
fn limits_hold_for_what_is_bought() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({"spec": {"limits": {"cpu": "4"}}})));
    room.deploy("web", 8, "900m", json!({}));
    room.run(60.0);
    let cpus: f64 = room
        .all("Node")
        .iter()
        .map(|n| {
            n["status"]["capacity"]["cpu"]
                .as_str()
                .map_or_else(|| n["status"]["capacity"]["cpu"].as_f64().unwrap(), |t| t.parse().unwrap())
        })
        .sum();
    assert!(cpus <= 4.0, "{cpus}");
    assert!(cpus >= 3.0, "{cpus}");
    assert!(room.events.iter().any(|e| e.reason == "FailedScheduling"));
}

#[test]
fn pods_wait_for_room_that_exists_before_anything_is_bought() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.node("a", "t4");
    // The scheduler has given up on it, and the room came free afterwards.
    room.scheduler = false;
    room.deploy(
        "web",
        3,
        "900m",
        json!({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}}),
    );
    room.until("all run", 10.0, |r| all_run(r, "web"));
    assert!(creates(&room).is_empty());
    room.run(3.0);
    assert!(room.get("Node", "", "a").unwrap()["spec"]["unschedulable"].is_null());
}

#[test]
fn a_pod_that_fits_nowhere_says_why_and_blocks_nobody() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.deploy("huge", 1, "90", json!({}));
    room.deploy("web", 2, "900m", json!({}));
    room.until("the others run", 40.0, |r| all_run(r, "web"));
    let told: Vec<_> = room.events.iter().filter(|e| e.reason == "FailedScheduling").collect();
    assert_eq!(told.len(), 1, "once in five minutes: {told:?}");
    assert!(told[0].message.starts_with("Failed to schedule pod, "));
}
