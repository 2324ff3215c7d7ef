//! CapacityBuffers: LIF-092 to LIF-098, LIF-113, LIF-114, SCH-223 to SCH-227.

use std::sync::Arc;

use millwright_core::buffers::{Unresolved, all_pods, is_virtual, pods, replicas, source};
use millwright_core::control::ask::{Ask, Kind};
use millwright_models::reader::{Document, ReadOptions, read};
use millwright_models::world::World;
use serde_json::{Value, json};

use super::objects;
use super::room::Room;

fn template(cpu: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t", "namespace": "default"},
        "template": {"metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}}, "spec": {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}],
            "nodeSelector": {"topology.kubernetes.io/zone": "z1"},
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}]}}})
}

fn buffer(spec: Value) -> Value {
    json!({"apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer",
        "metadata": {"name": "b", "namespace": "default", "uid": "u"}, "spec": spec})
}

fn deployment(replicas: u32) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "d"}}, "template": {
            "metadata": {"labels": {"app": "d"}},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}]}}}})
}

fn world(objects: &[Value]) -> World {
    let text = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    read(&[Document { file: "objects".to_owned(), text }], &ReadOptions { default_pools: false }).unwrap()
}

/// The replicas of a buffer of this spec beside these objects.
fn count(spec: Value, others: &[Value]) -> u32 {
    let objects: Vec<Value> = others.iter().cloned().chain([buffer(spec)]).collect();
    let world = world(&objects);
    replicas(&world.buffers[0], &source(&world.buffers[0], &world).unwrap())
}

fn of_deployment(more: Value) -> Value {
    let mut spec = json!({"scalableRef": {"kind": "Deployment", "name": "d"}});
    objects::merge(&mut spec, &more);
    spec
}

fn of_template(more: Value) -> Value {
    let mut spec = json!({"podTemplateRef": {"name": "t"}});
    objects::merge(&mut spec, &more);
    spec
}

#[test]
fn lif_092_sch_226_limits_bound_the_replicas() {
    assert_eq!(count(of_template(json!({"replicas": 4, "limits": {"cpu": "6"}})), &[template("2")]), 3);
    assert_eq!(count(of_template(json!({"replicas": 4, "limits": {"cpu": "3"}})), &[template("2")]), 1);
    assert_eq!(count(of_template(json!({"replicas": 0})), &[template("2")]), 0);
}

#[test]
fn lif_093_sch_226_shares_of_a_workload_are_rounded_up() {
    for (scale, percentage, pods) in [(7, 20, 2), (7, 1, 1), (0, 20, 0), (9, 20, 2), (10, 100, 10), (10, 0, 0)] {
        let spec = of_deployment(json!({"percentage": percentage}));
        assert_eq!(count(spec, &[deployment(scale)]), pods, "{percentage} % of {scale}");
    }
}

#[test]
fn lif_094_the_largest_wish_within_the_limits_counts() {
    let both = |limits: Value| of_deployment(json!({"replicas": 2, "percentage": 50, "limits": limits}));
    assert_eq!(count(both(json!({})), &[deployment(10)]), 5);
    assert_eq!(count(both(json!({"cpu": "3"})), &[deployment(10)]), 3);
    assert_eq!(count(of_deployment(json!({"limits": {"cpu": "6"}})), &[deployment(10)]), 6);
    assert_eq!(count(both(json!({"example.com/other": "1"})), &[deployment(10)]), 5);
}

#[test]
fn lif_096_what_a_buffer_cannot_name() {
    let of = |spec: Value| {
        let world = world(&[buffer(spec)]);
        source(&world.buffers[0], &world).map(|_| ()).unwrap_err()
    };
    let cron = of(json!({"scalableRef": {"kind": "CronJob", "name": "c"}, "replicas": 1}));
    assert_eq!((cron.reason(), cron.is_error()), ("ResolutionFailed", true));
    let neither = of(json!({"replicas": 1}));
    assert_eq!((neither.reason(), neither.is_error()), ("ResolutionFailed", false));
    let foreign =
        of(json!({"scalableRef": {"apiGroup": "example.com", "kind": "Deployment", "name": "d"}, "replicas": 1}));
    assert!(foreign.is_error());
    assert_eq!(of(of_template(json!({"replicas": 1}))), Unresolved::TemplateNotFound("t".to_owned()));
    assert_eq!(of(of_deployment(json!({"replicas": 1}))).reason(), "ScalableRefNotFound");
}

#[test]
fn sch_227_virtual_pods_have_the_rules_of_their_template_and_no_volumes() {
    let world = world(&[template("2"), buffer(of_template(json!({"replicas": 2})))]);
    let all = all_pods(&world);
    let names: Vec<_> = all.iter().map(|p| (p.name.as_str(), p.uid.as_str())).collect();
    assert_eq!(names, [("capacity-buffer-b-1", "u-1"), ("capacity-buffer-b-2", "u-2")]);
    let pod = &all[0];
    assert!(pod.is_pending() && is_virtual(pod) && pod.owner.is_none());
    assert!(pod.spec.volumes.is_empty());
    assert_eq!((pod.spec.priority, pod.requests.get("cpu")), (Some(i32::MIN), 2000));
    assert_eq!(pod.spec.node_selector["topology.kubernetes.io/zone"], "z1");
    assert_eq!(pod.labels["app"], "web");
    assert!(!pod.annotations.contains_key("a"), "of the buffer, not of the template");
    assert_eq!(pods(&world.buffers[0], &source(&world.buffers[0], &world).unwrap()), all);
}

/// A cluster with the gate open.
fn room() -> Room {
    let mut settings = Room::settings();
    settings.lower.gates.capacity_buffer = true;
    let mut room = Room::new(settings);
    room.add(objects::pool("p", json!({})));
    room
}

fn condition(room: &Room, kind: &str) -> (String, String) {
    let buffer = room.get("CapacityBuffer", "default", "b").unwrap();
    let all = buffer["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    all.iter()
        .find(|c| c["type"] == kind)
        .map_or((String::new(), String::new()), |c| (text(&c["status"]), text(&c["reason"])))
}

fn is(room: &Room, kind: &str, status: &str, reason: &str) -> bool {
    condition(room, kind) == (status.to_owned(), reason.to_owned())
}

/// Cores that are free on nodes.
fn free(room: &mut Room) -> i64 {
    let world = room.world();
    let room: i64 = world.nodes.iter().map(|n| n.allocatable.get("cpu")).sum();
    let used: i64 = world.pods.iter().filter(|p| p.node_name.is_some()).map(|p| p.requests.get("cpu")).sum();
    room - used
}

#[test]
fn sch_223_lif_097_room_is_bought_and_then_fits() {
    let mut room = room();
    room.add(template("2"));
    room.add(buffer(of_template(json!({"replicas": 3}))));
    room.until("the pass", 10.0, |r| is(r, "Provisioning", "False", "RequiresNewCapacity"));
    assert!(is(&room, "ReadyForProvisioning", "True", "Resolved"));
    let status = &room.get("CapacityBuffer", "default", "b").unwrap()["status"];
    assert_eq!((&status["replicas"], &status["podTemplateGeneration"]), (&json!(3), &json!(1)));
    room.until("the room", 60.0, |r| is(r, "Provisioning", "True", "FitsExistingCapacity"));
    assert!(free(&mut room) >= 6000, "{}", room.story());
    let claims = room.all("NodeClaim").len();
    room.run(200.0);
    assert_eq!(room.all("NodeClaim").len(), claims, "it is kept, and nothing more is bought\n{}", room.story());
    assert!(room.events.iter().all(|e| !e.about.name.starts_with("capacity-buffer")), "virtual pods get no events");
}

#[test]
fn sch_224_lif_098_real_pods_use_the_room_and_it_is_made_anew() {
    let mut room = room();
    room.add(template("2"));
    room.add(buffer(of_template(json!({"replicas": 2}))));
    room.until("the room", 60.0, |r| is(r, "Provisioning", "True", "FitsExistingCapacity"));
    let nodes = room.names("Node");
    room.deploy("web", 2, "2", json!({}));
    room.until("they run", 3.0, |r| {
        r.all("Pod").len() == 2 && r.all("Pod").iter().all(|p| p["status"]["phase"] == "Running")
    });
    assert!(room.all("Pod").iter().all(|p| nodes.iter().any(|n| p["spec"]["nodeName"] == **n)), "at once");
    room.run(60.0);
    assert!(free(&mut room) >= 4000, "{}", room.story());
}

#[test]
fn sch_225_lif_114_the_room_of_a_deleted_buffer_goes() {
    let mut room = room();
    room.add(template("2"));
    room.add(buffer(of_template(json!({"replicas": 2}))));
    room.until("the room", 60.0, |r| is(r, "Provisioning", "True", "FitsExistingCapacity"));
    room.run(120.0);
    assert!(!room.all("Node").is_empty(), "nodes of virtual pods are not empty\n{}", room.story());
    room.drop_object(&("CapacityBuffer".to_owned(), "default".to_owned(), "b".to_owned()));
    room.until("the end of the nodes", 120.0, |r| r.all("Node").is_empty());
}

#[test]
fn lif_095_lif_113_what_is_named_may_come_and_go() {
    let mut room = room();
    room.add(buffer(of_template(json!({"replicas": 1}))));
    room.until("the word", 5.0, |r| is(r, "ReadyForProvisioning", "False", "PodTemplateNotFound"));
    assert!(is(&room, "Provisioning", "False", "NotReadyForProvisioning"));
    room.run(20.0);
    assert!(room.all("NodeClaim").is_empty());
    room.add(template("2"));
    room.step();
    assert!(is(&room, "ReadyForProvisioning", "True", "Resolved"), "at once");
    room.until("the room", 60.0, |r| is(r, "Provisioning", "True", "FitsExistingCapacity"));
    room.drop_object(&("PodTemplate".to_owned(), "default".to_owned(), "t".to_owned()));
    room.until("the word", 5.0, |r| is(r, "ReadyForProvisioning", "False", "PodTemplateNotFound"));
    room.until("the end of the nodes", 120.0, |r| r.all("Node").is_empty());
}

#[test]
fn lif_113_a_workload_that_grows_is_followed() {
    let mut room = room();
    room.add(buffer(of_deployment(json!({"percentage": 20}))));
    room.run(2.0);
    assert!(is(&room, "ReadyForProvisioning", "False", "ScalableRefNotFound"));
    room.add(deployment(5));
    room.step();
    let says = |r: &Room| r.get("CapacityBuffer", "default", "b").unwrap()["status"]["replicas"].as_u64();
    assert_eq!(says(&room), Some(1));
    room.edit("Deployment", "default", "d", json!({"spec": {"replicas": 9}}));
    room.step();
    assert_eq!(says(&room), Some(2));
    let writes =
        |r: &Room| r.asked(|a| matches!(a, Ask::Patch { target, .. } if target.kind == Kind::CapacityBuffer)).len();
    room.until("the room", 60.0, |r| is(r, "Provisioning", "True", "FitsExistingCapacity"));
    let before = writes(&room);
    room.edit("Deployment", "default", "d", json!({"status": {"readyReplicas": 3}}));
    room.run(5.0);
    assert_eq!(writes(&room), before, "a status is no news");
}

#[test]
fn lif_096_a_buffer_that_stands_for_nothing_says_so() {
    let mut room = room();
    room.add(template("2"));
    room.add(buffer(of_template(json!({"replicas": 0}))));
    room.run(3.0);
    assert!(is(&room, "Provisioning", "False", "BufferEmpty"));
}

#[test]
fn buffers_are_nothing_while_the_gate_is_shut() {
    let mut room = Room::new(Room::settings());
    room.add(objects::pool("p", json!({})));
    room.add(template("2"));
    room.add(buffer(of_template(json!({"replicas": 3}))));
    room.run(20.0);
    assert!(room.all("NodeClaim").is_empty());
    assert_eq!(condition(&room, "ReadyForProvisioning"), (String::new(), String::new()));
    let _: Arc<World> = room.world();
}
