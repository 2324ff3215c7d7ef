//! VolumeBinding, VolumeZone, NodeVolumeLimits.

use serde_json::json;

use super::build::*;
use crate::kube::meta::Meta;
use crate::kube::pod::Pod;
use crate::kube::selector::{Expression, NodeSelectorTerm, Operator};
use crate::kube::volume::{CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass};
use crate::rules::{Refusal, State};
use crate::world::World;

fn named(name: &str, namespace: &str) -> Meta {
    Meta { name: name.to_owned(), namespace: namespace.to_owned(), ..Meta::default() }
}

fn within(key: &str, values: &[&str]) -> NodeSelectorTerm {
    let values = values.iter().map(|v| (*v).to_owned()).collect();
    let expression = Expression { key: key.to_owned(), operator: Operator::In, values, min_values: None };
    NodeSelectorTerm { match_expressions: vec![expression], match_fields: Vec::new() }
}

fn claim(name: &str, class: Option<&str>, volume: &str) -> PersistentVolumeClaim {
    PersistentVolumeClaim {
        meta: named(name, "default"),
        storage_class: class.map(str::to_owned),
        volume_name: volume.to_owned(),
        phase: String::new(),
    }
}

fn class(name: &str, immediate: bool, zones: &[&str]) -> StorageClass {
    StorageClass {
        meta: named(name, ""),
        provisioner: "kubernetes.io/aws-ebs".to_owned(),
        immediate,
        topologies: if zones.is_empty() { Vec::new() } else { vec![within(ZONE, zones)] },
    }
}

fn volume(name: &str, terms: Vec<NodeSelectorTerm>) -> PersistentVolume {
    PersistentVolume { meta: named(name, ""), driver: Some("ebs.csi.aws.com".to_owned()), is_local: false, terms }
}

fn using(pod_name: &str, claim: &str) -> Pod {
    pod(pod_name, &[], json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}))
}

fn world() -> World {
    let mut zoned = volume("labelled", Vec::new());
    zoned.meta.labels = labels(&[("failure-domain.beta.kubernetes.io/zone", "z2__z3")]);
    World {
        nodes: vec![node("a", "z1"), node("b", "z2")],
        claims: vec![
            claim("ebs", Some("any"), "in-z2"),
            claim("either", Some("any"), "in-either"),
            claim("labelled", Some("any"), "labelled"),
            claim("lost", Some("any"), "no-such-volume"),
            claim("free", Some("any"), ""),
            claim("zonal", Some("z1-only"), ""),
            claim("now", Some("now"), ""),
            claim("classless", None, ""),
            claim("unknown", Some("no-such-class"), ""),
        ],
        volumes: vec![
            volume("in-z2", vec![within("topology.ebs.csi.aws.com/zone", &["z2"])]),
            volume("in-either", vec![within(ZONE, &["z9"]), within(HOST, &["a"])]),
            zoned,
        ],
        storage_classes: vec![class("any", false, &[]), class("z1-only", false, &["z1"]), class("now", true, &[])],
        ..World::default()
    }
}

#[test]
fn volumes_bind_to_places() {
    let mut state = State::of(&world()).unwrap();
    let cases = [
        ("ebs", "VolumeBinding", "ok"),
        ("either", "ok", "VolumeBinding"),
        ("labelled", "VolumeZone", "ok"),
        ("lost", "VolumeBinding", "VolumeBinding"),
        ("free", "ok", "ok"),
        ("zonal", "ok", "VolumeBinding"),
        ("now", "VolumeBinding", "VolumeBinding"),
        ("classless", "VolumeBinding", "VolumeBinding"),
        ("unknown", "VolumeBinding", "VolumeBinding"),
        ("absent", "ok", "ok"),
    ];
    for (claim, on_a, on_b) in cases {
        let p = using("p", claim);
        assert_eq!((verdict(&mut state, &p, "a"), verdict(&mut state, &p, "b")), (on_a, on_b), "{claim}");
    }
    let refusal = state.filter(&using("p", "unknown"), "a").unwrap_err();
    assert_eq!(refusal.to_string(), "storage class no-such-class of persistentvolumeclaim default/unknown not found");
}

#[test]
fn ephemeral_volumes_use_the_class_of_their_template() {
    let mut state = State::of(&world()).unwrap();
    let template = |class: &str| json!({"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": class}}}}]});
    let p = pod("p", &[], template("z1-only"));
    assert_eq!((verdict(&mut state, &p, "a"), verdict(&mut state, &p, "b")), ("ok", "VolumeBinding"));
    assert_eq!(verdict(&mut state, &pod("p", &[], template("no-such-class")), "b"), "ok");
}

#[test]
fn a_node_without_zones_takes_labelled_volumes() {
    let mut bare = node("a", "z1");
    bare.meta.labels.remove(ZONE);
    let mut state = State::of(&World { nodes: vec![bare], ..world() }).unwrap();
    assert_eq!(verdict(&mut state, &using("p", "labelled"), "a"), "ok");
}

#[test]
fn attach_limits_count_each_volume_once() {
    let limits = |limit| CsiNode { meta: named("b", ""), drivers: [("ebs.csi.aws.com".to_owned(), limit)].into() };
    let running = on(using("r", "ebs"), "b");
    let state =
        |limit| State::of(&World { csi_nodes: vec![limits(limit)], pods: vec![running.clone()], ..world() }).unwrap();
    assert_eq!(verdict(&mut state(Some(1)), &using("p", "ebs"), "b"), "ok", "the same volume");
    let refusal = state(Some(1)).filter(&using("p", "free"), "b");
    let expected = Refusal::VolumeCount { driver: "ebs.csi.aws.com".to_owned(), limit: 1, used: 1, new: 1 };
    assert_eq!(refusal, Err(expected), "the class's driver goes by its CSI name");
    assert_eq!(verdict(&mut state(Some(2)), &using("p", "free"), "b"), "ok");
    assert_eq!(verdict(&mut state(None), &using("p", "free"), "b"), "ok", "unlimited");
    let mut full = state(Some(1));
    full.evict(&running).unwrap();
    assert_eq!(verdict(&mut full, &using("p", "free"), "b"), "ok", "room again");
}
