//! What pools may buy: zones, systems, observations, reservations, prices.

use super::{labels, only, world};
use crate::catalog::{
    CapacityType, Catalog, Gates, InstanceType, Offering, PoolType, PoolTypes, Reserved, embedded, pool_types,
    price_in_pool, price_of,
};
use crate::karpenter::labels as keys;
use crate::karpenter::nodeclaim::NodeClaim;
use crate::karpenter::nodeclass::Reservation;
use crate::kube::node::Node;
use crate::kube::selector::{Expression, Operator};
use crate::requirements::{Requirement, Requirements, nothing};
use crate::resources::Resources;
use crate::world::World;

pub fn offering(zone: &str, capacity_type: &str, price: i64) -> Offering {
    Offering { zone: zone.into(), capacity_type: capacity_type.into(), price, available: true, reservation: None }
}

pub fn reserved(zone: &str, id: &str, count: u32) -> Offering {
    let reservation = Some(Reserved { id: id.into(), count });
    Offering { reservation, ..offering(zone, "reserved", 0) }
}

pub fn given(name: &str, offerings: Vec<Offering>) -> InstanceType {
    let amounts: Resources = [("cpu", 2000), ("memory", 8 << 30), ("pods", 29)].into_iter().collect();
    InstanceType {
        name: name.into(),
        architecture: "amd64".into(),
        operating_systems: vec!["linux".into()],
        capacity: amounts.clone(),
        allocatable: Some(amounts),
        offerings,
        ..InstanceType::default()
    }
}

pub fn catalog(types: Vec<InstanceType>) -> Catalog {
    Catalog::new("us-east-1".into(), String::new(), types)
}

pub fn buy(world: &World, catalog: &Catalog, gates: &str) -> PoolTypes {
    pool_types(world, catalog, &world.node_pools[0], &gates.parse().unwrap()).unwrap()
}

pub fn one<'a>(types: &'a PoolTypes, name: &str) -> &'a PoolType {
    types.types.iter().find(|t| &*t.name == name).unwrap_or_else(|| panic!("{name} is missing"))
}

pub fn require(key: &str, operator: Operator, values: &[&str]) -> Expression {
    Expression { key: key.into(), operator, values: values.iter().map(|v| (*v).into()).collect(), min_values: None }
}

fn values(t: &PoolType, key: &str) -> Vec<String> {
    t.requirements.get(key).unwrap().values.iter().cloned().collect()
}

#[test]
fn aws_040_zones_are_those_of_the_class() {
    let mut w = world();
    w.node_classes[0].zones = vec!["b".into(), "d".into()];
    let c = catalog(vec![
        given("x", ["a", "b", "c"].map(|z| offering(z, "on-demand", 10)).into()),
        given("y", vec![offering("a", "on-demand", 10)]),
    ]);
    let types = buy(&w, &c, "");
    let x = one(&types, "x");
    assert_eq!(values(x, keys::ZONE), ["b"]);
    assert_eq!(x.labels[keys::ZONE], "b");
    let available: Vec<bool> = x.offerings.iter().map(|o| o.available).collect();
    assert_eq!(available, [false, true, false]);
    assert_eq!(types.types.len(), 1, "a type in no zone of the class cannot be bought");
    w.node_classes[0].zones.clear();
    assert_eq!(values(one(&buy(&w, &c, ""), "x"), keys::ZONE), ["a", "b", "c"]);
    assert!(!one(&buy(&w, &c, ""), "x").labels.contains_key(keys::ZONE));
}

#[test]
fn aws_041_windows_runs_on_amd64_only() {
    let c = embedded("us-east-1").unwrap();
    let mut w = world();
    w.node_classes[0].ami_family = "Windows2022".into();
    let types = buy(&w, &c, "");
    assert!(types.types.iter().all(|t| t.labels[keys::ARCH] == "amd64" && t.labels[keys::OS] == "windows"));
    assert_eq!(one(&types, "m5.large").labels[keys::WINDOWS_BUILD], "10.0.20348");
    w.node_classes[0].ami_family = "AL2023".into();
    let types = buy(&w, &c, "");
    assert!(types.types.iter().all(|t| t.labels[keys::OS] == "linux"));
    let absent = one(&types, "m6g.large").requirements.get(keys::WINDOWS_BUILD).unwrap();
    assert!(absent.values.is_empty() && !absent.complement);
}

#[test]
fn aws_058_al2023_cannot_launch_the_first_arm_generation() {
    let c = embedded("us-east-1").unwrap();
    let mut w = world();
    assert!(one(&buy(&w, &c, ""), "a1.large").offerings.iter().all(|o| !o.launchable()));
    w.node_classes[0].ami_family = "Bottlerocket".into();
    assert!(one(&buy(&w, &c, ""), "a1.large").offerings.iter().all(|o| o.launchable()));
}

#[test]
fn embedded_types_have_exact_sizes_and_every_label() {
    let types = buy(&world(), &embedded("us-east-1").unwrap(), "");
    let m5 = one(&types, "m5.large");
    assert_eq!(m5.allocatable.get("memory"), 6903 << 20);
    assert_eq!(m5.volume_attachments, Some(25));
    for (key, value) in [
        ("karpenter.k8s.aws/instance-category", "m"),
        ("karpenter.k8s.aws/instance-family", "m5"),
        ("karpenter.k8s.aws/instance-generation", "5"),
        ("karpenter.k8s.aws/instance-size", "large"),
        (keys::REGION, "us-east-1"),
        (keys::INSTANCE_TYPE, "m5.large"),
        (keys::CAPACITY_TYPE, "on-demand"),
    ] {
        assert_eq!(m5.labels[key], value, "{key}");
    }
    let gpu = Requirements::from_iter([Requirement::is("karpenter.k8s.aws/instance-gpu-count", "1")]);
    assert!(m5.requirements.intersects(&gpu).is_err());
    assert!(one(&types, "g4dn.xlarge").requirements.is_compatible(&gpu, &nothing));
    assert!(types.types.iter().all(|t| !t.name.starts_with("m8a")), "types without a price are not for sale");
}

#[test]
fn pools_drop_only_types_that_no_requirement_lets_through() {
    let mut w = world();
    let category = "karpenter.k8s.aws/instance-category";
    let requirements = &mut w.node_pools[0].template.requirements;
    requirements.push(require("beta.kubernetes.io/arch", Operator::In, &["arm64"]));
    requirements.push(require(category, Operator::In, &["m", "c"]));
    requirements.push(require(category, Operator::NotIn, &["c"]));
    requirements.push(require("karpenter.k8s.aws/instance-generation", Operator::Gt, &["6"]));
    requirements.push(require("example.com/unknown", Operator::In, &["x"]));
    let types = buy(&w, &embedded("us-east-1").unwrap(), "");
    assert!(types.types.len() > 10);
    assert!(types.types.iter().all(|t| t.labels[keys::ARCH] == "arm64"
        && t.labels[category] == "m"
        && t.labels["karpenter.k8s.aws/instance-generation"].parse::<u32>().unwrap() > 6));
    w.node_pools[0].template.labels = labels(&[(keys::ARCH, "amd64")]);
    assert!(buy(&w, &embedded("us-east-1").unwrap(), "").types.is_empty());
}

fn node(name: &str, pool: &str, kind: &str, capacity: i64, allocatable: i64) -> Node {
    let mut node = Node { provider_id: format!("aws:///{name}"), ..Node::default() };
    node.meta.name = name.into();
    node.meta.labels = labels(&[(keys::NODEPOOL, pool), (keys::INSTANCE_TYPE, kind)]);
    node.capacity = only("memory", capacity);
    node.allocatable = only("memory", allocatable);
    node
}

#[test]
fn aws_055_the_smallest_memory_seen_replaces_the_catalogues() {
    let mut w = world();
    let c = catalog(vec![given("x", vec![offering("a", "spot", 10)])]);
    let memory = |w: &World| {
        let types = buy(w, &c, "");
        (one(&types, "x").capacity.get("memory"), one(&types, "x").allocatable.get("memory"))
    };
    w.nodes = vec![node("other-pool", "p2", "x", 1, 1), node("other-type", "default", "y", 1, 1)];
    assert_eq!(memory(&w), (8 << 30, 8 << 30));
    w.nodes.push(node("n1", "default", "x", 9 << 30, (9 << 30) - 5));
    assert_eq!(memory(&w), (9 << 30, (9 << 30) - 5), "larger than the estimate, and measured");
    w.nodes.push(node("n2", "default", "x", 7 << 30, (7 << 30) - 5));
    w.nodes.push(node("n3", "default", "x", 8 << 30, (8 << 30) - 5));
    w.nodes.push(node("not-yet", "default", "x", 0, 0));
    assert_eq!(memory(&w), (7 << 30, (7 << 30) - 5));
}

#[test]
fn aws_056_nodes_of_an_old_image_teach_nothing() {
    let mut w = world();
    let c = catalog(vec![given("x", vec![offering("a", "spot", 10)])]);
    w.nodes = vec![node("old", "default", "x", 7 << 30, 7 << 30)];
    w.node_claims =
        vec![NodeClaim { provider_id: "aws:///old".into(), image_id: "ami-1".into(), ..NodeClaim::default() }];
    let memory = |w: &World| one(&buy(w, &c, ""), "x").allocatable.get("memory");
    assert_eq!(memory(&w), 7 << 30);
    w.node_classes[0].amis = vec!["ami-1".into(), "ami-2".into()];
    assert_eq!(memory(&w), 7 << 30);
    w.node_classes[0].amis = vec!["ami-2".into()];
    assert_eq!(memory(&w), 8 << 30);
}

#[test]
fn aws_060_062_an_offering_without_a_price_is_none() {
    let c = catalog(vec![given("x", vec![offering("a", "spot", 10), offering("b", "spot", 11)])]);
    let types = buy(&world(), &c, "");
    assert_eq!(values(one(&types, "x"), keys::CAPACITY_TYPE), ["spot"]);
    assert_eq!(values(one(&types, "x"), keys::ZONE), ["a", "b"]);
    let unpriced = InstanceType { unpriced_zones: vec!["a".into()], ..given("y", vec![]) };
    assert!(buy(&world(), &catalog(vec![unpriced]), "").types.is_empty());
}

fn holding(id: &str) -> crate::kube::meta::Labels {
    labels(&[(keys::RESERVATION_ID, id)])
}

#[test]
fn aws_151_a_full_reservation_is_available_and_not_launchable() {
    let mut w = world();
    let c = catalog(vec![given("x", vec![offering("a", "on-demand", 10), reserved("a", "cr-1", 2)])]);
    let slot = |w: &World| {
        let types = buy(w, &c, "");
        let o = one(&types, "x").offerings.iter().find(|o| o.capacity_type == CapacityType::Reserved).unwrap().clone();
        (o.available, o.launchable(), o.reservation.unwrap().count)
    };
    assert_eq!(slot(&w), (true, true, 2));
    assert_eq!(values(one(&buy(&w, &c, ""), "x"), keys::RESERVATION_ID), ["cr-1"]);
    let mut running = node("n", "p2", "x", 0, 0);
    running.meta.labels.extend(holding("cr-1"));
    w.nodes.push(running);
    let mut behind = NodeClaim { provider_id: "aws:///n".into(), ..NodeClaim::default() };
    behind.meta.labels = holding("cr-1");
    w.node_claims.push(behind);
    assert_eq!(slot(&w), (true, true, 1), "a node and its claim are one machine");
    let mut launching = NodeClaim::default();
    launching.meta.labels = holding("cr-1");
    w.node_claims.push(launching);
    assert_eq!(slot(&w), (true, false, 0));
    w.node_classes[0].reservations = vec![Reservation { id: "cr-2".into(), ..Reservation::default() }];
    assert_eq!(slot(&w), (false, false, 0), "the class selected another reservation");
}

#[test]
fn sch_214_without_the_gate_there_is_no_reserved_offering() {
    let c = catalog(vec![given("x", vec![offering("a", "on-demand", 10), reserved("a", "cr-1", 2)])]);
    let types = buy(&world(), &c, "ReservedCapacity=false");
    let x = one(&types, "x");
    assert_eq!(x.offerings.len(), 1);
    assert_eq!(values(x, keys::CAPACITY_TYPE), ["on-demand"]);
    assert!(x.requirements.get(keys::RESERVATION_ID).unwrap().values.is_empty());
}

#[test]
fn an_absent_class_counts_as_ready_and_is_mentioned() {
    let mut w = world();
    w.node_classes.clear();
    let types = buy(&w, &embedded("us-east-1").unwrap(), "");
    assert_eq!(one(&types, "m5.large").allocatable.get("memory"), 6903 << 20);
    assert!(types.warnings.iter().any(|m| m.contains("default") && m.contains("AL2023")), "{:?}", types.warnings);
}

#[test]
fn a_bad_class_is_an_error_that_names_it() {
    let mut w = world();
    w.node_classes[0].kubelet.eviction_hard.insert("memory.available".into(), "many".into());
    let c = embedded("us-east-1").unwrap();
    let error = pool_types(&w, &c, &w.node_pools[0], &Gates::default()).unwrap_err().to_string();
    assert!(error.contains("EC2NodeClass default") && error.contains("memory.available"), "{error}");
}

#[test]
fn prices_of_running_nodes() {
    let mut bought = vec![offering("a", "on-demand", 100), offering("b", "on-demand", 90), offering("a", "spot", 30)];
    bought.push(Offering { price: 7, ..reserved("a", "cr-1", 1) });
    bought.push(Offering { price: 8, ..reserved("a", "cr-2", 1) });
    let c = catalog(vec![given("x", bought)]);
    let price = |pairs: &[(&str, &str)]| price_of(&c, &labels(pairs));
    let (kind, zone) = (keys::INSTANCE_TYPE, keys::ZONE);
    assert_eq!(price(&[(kind, "x"), (zone, "a"), (keys::CAPACITY_TYPE, "on-demand")]), Some(100));
    assert_eq!(price(&[(kind, "x"), (zone, "a")]), Some(100));
    assert_eq!(
        price(&[("beta.kubernetes.io/instance-type", "x"), (zone, "a"), (keys::CAPACITY_TYPE, "spot")]),
        Some(30)
    );
    assert_eq!(price(&[(kind, "x"), (zone, "z"), (keys::CAPACITY_TYPE, "on-demand")]), Some(90));
    assert_eq!(price(&[(kind, "x"), (keys::CAPACITY_TYPE, "reserved"), (keys::RESERVATION_ID, "cr-2")]), Some(8));
    assert_eq!(price(&[(kind, "y"), (zone, "a")]), None);
    assert_eq!(price(&[(kind, "x"), (keys::CAPACITY_TYPE, "odd")]), None);
    assert_eq!(price(&[]), None);
    let types = buy(&world(), &c, "");
    assert_eq!(price_in_pool(&types.types, &labels(&[(kind, "x"), (zone, "b")])), Some(90));
    assert_eq!(price_in_pool(&types.types, &labels(&[(kind, "y")])), None);
}
