//! NodeOverlays.

use super::pools::{buy, catalog, given, offering, one, require, reserved};
use super::{labels, only, world};
use crate::catalog::{Gates, InstanceType, PoolTypes, every_pool};
use crate::karpenter::labels as keys;
use crate::karpenter::nodepool::NodePool;
use crate::karpenter::overlay::NodeOverlay;
use crate::kube::selector::{Expression, Operator};
use crate::world::World;

const ON: &str = "NodeOverlay=true";

fn overlay(name: &str, weight: i32, requirements: Vec<Expression>) -> NodeOverlay {
    let mut o = NodeOverlay { weight, requirements, ..NodeOverlay::default() };
    o.meta.name = name.into();
    o
}

fn priced(name: &str, weight: i32, price: &str) -> NodeOverlay {
    let on = vec![require(keys::INSTANCE_TYPE, Operator::In, &["x"])];
    NodeOverlay { price: Some(price.into()), ..overlay(name, weight, on) }
}

fn adjusted(name: &str, change: &str) -> NodeOverlay {
    NodeOverlay { price: None, price_adjustment: Some(change.into()), ..priced(name, 0, "0") }
}

fn stocked(name: &str, weight: i32, resource: &str, amount: i64) -> NodeOverlay {
    NodeOverlay { price: None, capacity: only(resource, amount), ..priced(name, weight, "0") }
}

fn with(overlays: Vec<NodeOverlay>) -> PoolTypes {
    let family = "karpenter.k8s.aws/instance-family";
    let c = catalog(vec![
        InstanceType { labels: labels(&[(family, "g")]), ..given("g8", vec![offering("a", "on-demand", 900_000)]) },
        given("x", vec![offering("a", "on-demand", 400_000), offering("b", "spot", 100_000)]),
    ]);
    buy(&World { overlays, ..world() }, &c, ON)
}

fn price(types: &PoolTypes) -> i64 {
    one(types, "x").offerings[0].price
}

#[test]
fn sch_216_a_price_makes_a_family_the_cheapest() {
    let on = |values: &[&str]| vec![require("karpenter.k8s.aws/instance-family", Operator::In, values)];
    let cheap = NodeOverlay { price: Some("0.01".into()), ..overlay("g", 0, on(&["g"])) };
    let types = with(vec![cheap.clone()]);
    assert_eq!(one(&types, "g8").offerings[0].price, 10_000);
    assert!(one(&types, "g8").offerings[0].overlaid && !one(&types, "g8").overlaid);
    assert_eq!(price(&types), 400_000);
    assert!(one(&types, "x").offerings.iter().all(|o| !o.overlaid));
    let c = catalog(vec![given("x", vec![offering("a", "on-demand", 400_000)])]);
    let off = World { overlays: vec![priced("p", 0, "0.01")], ..world() };
    assert_eq!(price(&buy(&off, &c, "")), 400_000, "the gate is off");
}

#[test]
fn sch_217_adjustments() {
    for (change, want) in [
        ("-50%", 200_000),
        ("+0.10", 500_000),
        ("-5", 0),
        ("-100%", 0),
        ("+0.0000001", 400_001),
        ("+33.33333%", 533_334),
    ] {
        assert_eq!(price(&with(vec![adjusted("p", change)])), want, "{change}");
    }
    assert_eq!(price(&with(vec![priced("p", 0, "0")])), 0, "an overlay may make an offering free");
}

#[test]
fn sch_218_the_higher_weight_wins() {
    let types = with(vec![priced("a", 10, "0.1"), priced("b", 20, "0.2")]);
    assert_eq!(price(&types), 200_000);
    assert!(types.warnings.is_empty(), "{:?}", types.warnings);
}

#[test]
fn sch_219_of_equal_weights_the_earlier_name_conflicts() {
    let mut wide = priced("a", 5, "0.1");
    wide.requirements = vec![require(keys::INSTANCE_TYPE, Operator::In, &["x", "g8"])];
    let types = with(vec![priced("b", 5, "0.2"), wide]);
    assert_eq!(price(&types), 200_000);
    assert_eq!(one(&types, "g8").offerings[0].price, 900_000, "it is applied nowhere");
    assert!(types.warnings.len() == 1 && types.warnings[0].contains("NodeOverlay a: conflict"), "{:?}", types.warnings);
    let zone = |name: &str, zone: &str, price: &str| {
        let mut o = priced(name, 5, price);
        o.requirements.push(require(keys::ZONE, Operator::In, &[zone]));
        o
    };
    let types = with(vec![zone("a", "a", "0.3"), zone("b", "b", "0.4")]);
    let prices: Vec<i64> = one(&types, "x").offerings.iter().map(|o| o.price).collect();
    assert_eq!(prices, [300_000, 400_000], "they share no offering");
}

#[test]
fn sch_219_a_loser_still_conflicts_with_its_equals() {
    let types = with(vec![priced("a", 5, "0.1"), priced("b", 5, "0.2"), priced("c", 9, "0.3")]);
    assert_eq!(price(&types), 300_000);
    assert!(types.warnings.len() == 1 && types.warnings[0].contains("NodeOverlay a"), "{:?}", types.warnings);
}

#[test]
fn sch_220_prices_and_capacities_conflict_among_themselves_only() {
    let types = with(vec![priced("a", 5, "0.1"), stocked("b", 5, "example.com/r", 3)]);
    assert!(types.warnings.is_empty());
    assert_eq!((price(&types), one(&types, "x").capacity.get("example.com/r")), (100_000, 3));
    let types = with(vec![stocked("a", 5, "example.com/r", 1), stocked("b", 5, "example.com/r", 2)]);
    assert_eq!(one(&types, "x").capacity.get("example.com/r"), 2);
    assert!(types.warnings[0].contains("NodeOverlay a: conflict"), "{:?}", types.warnings);
    let types = with(vec![stocked("a", 5, "r1", 1), stocked("b", 5, "r2", 2), stocked("c", 5, "r1", 3)]);
    let x = one(&types, "x");
    assert_eq!((x.capacity.get("r1"), x.capacity.get("r2")), (3, 2), "c is first, b merges, a conflicts");
    assert_eq!(types.warnings.len(), 1);
}

#[test]
fn sch_221_capacity_can_be_requested() {
    let types = with(vec![stocked("a", 0, "example.com/fuse", 100), stocked("b", 1, "hugepages-2Mi", 1 << 30)]);
    let x = one(&types, "x");
    assert!(x.overlaid && !one(&types, "g8").overlaid);
    assert_eq!(x.allocatable.get("example.com/fuse"), 100);
    assert_eq!(x.allocatable.get("memory"), 7 << 30, "huge pages come out of memory");
    assert_eq!(x.capacity.get("memory"), 8 << 30);
}

#[test]
fn sch_222_a_pool_without_its_class_takes_overlays_all_the_same() {
    let mut w = World { overlays: vec![priced("a", 0, "0.1")], ..world() };
    let mut lost = NodePool::default();
    lost.meta.name = "lost".into();
    lost.template.node_class.name = "gone".into();
    w.node_pools.push(lost);
    let c = catalog(vec![given("x", vec![offering("a", "on-demand", 400_000)])]);
    let all = every_pool(&w, &c, &ON.parse::<Gates>().unwrap()).unwrap();
    assert_eq!(
        all.iter().map(|(name, t)| (name.as_str(), price(t))).collect::<Vec<_>>(),
        [("default", 100_000), ("lost", 100_000)]
    );
}

#[test]
fn overlays_reach_pools_by_name_and_template_labels() {
    let mut w = world();
    let mut second = w.node_pools[0].clone();
    second.meta.name = "second".into();
    second.template.labels = labels(&[("team", "a")]);
    w.node_pools.push(second);
    let c = catalog(vec![given("x", vec![offering("a", "on-demand", 400_000), reserved("a", "cr-1", 1)])]);
    let prices = |overlay: NodeOverlay| {
        let w = World { overlays: vec![overlay], ..w.clone() };
        let all = every_pool(&w, &c, &ON.parse::<Gates>().unwrap()).unwrap();
        all.iter().map(|(_, t)| price(t)).collect::<Vec<_>>()
    };
    let on = |key: &str, operator, values: &[&str]| NodeOverlay {
        price: Some("0.1".into()),
        ..overlay("o", 0, vec![require(key, operator, values)])
    };
    assert_eq!(prices(on(keys::NODEPOOL, Operator::In, &["default"])), [100_000, 400_000]);
    assert_eq!(prices(on("team", Operator::In, &["a"])), [400_000, 100_000]);
    assert_eq!(prices(on("team", Operator::NotIn, &["a"])), [100_000, 400_000]);
    assert_eq!(prices(on(keys::CAPACITY_TYPE, Operator::In, &["reserved"])), [400_000, 400_000]);
    assert_eq!(prices(on(keys::CAPACITY_TYPE, Operator::Exists, &[])), [100_000, 100_000]);
    assert_eq!(prices(on("undefined", Operator::Exists, &[])), [400_000, 400_000]);
}

#[test]
fn invalid_overlays_are_named_and_not_applied() {
    for (bad, word) in [
        (priced("bad", 0, "-1"), "price"),
        (priced("bad", 0, "cheap"), "price"),
        (adjusted("bad", "5"), "priceAdjustment"),
        (adjusted("bad", "-101%"), "-100%"),
        (NodeOverlay { price: Some("1".into()), ..adjusted("bad", "+1") }, "exclude"),
        (stocked("bad", 0, "cpu", 1), "cpu"),
        (overlay("bad", 0, vec![require("karpenter.sh/secret", Operator::Exists, &[])]), "restricted"),
        (overlay("bad", 0, vec![require("team", Operator::NotIn, &[])]), "values"),
    ] {
        let types = with(vec![bad]);
        assert_eq!(price(&types), 400_000);
        let told = types.warnings.len() == 1 && types.warnings[0].contains("NodeOverlay bad");
        assert!(told && types.warnings[0].contains(word), "{word}: {:?}", types.warnings);
    }
}

#[test]
fn aws_067_an_overlay_price_puts_an_unpriced_type_on_sale() {
    let c = catalog(vec![InstanceType { unpriced_zones: vec!["a".into(), "b".into()], ..given("x", vec![]) }]);
    let w = |o: NodeOverlay| World { overlays: vec![o], ..world() };
    let types = buy(&w(priced("p", 0, "1.9")), &c, ON);
    let x = one(&types, "x");
    assert_eq!(x.offerings.iter().map(|o| (o.price, o.launchable())).collect::<Vec<_>>(), [(1_900_000, true); 2]);
    assert_eq!(x.labels[keys::CAPACITY_TYPE], "on-demand");
    assert!(buy(&w(adjusted("p", "+1")), &c, ON).types.is_empty(), "nothing to adjust");
    let mut two = priced("p", 0, "1.9");
    two.requirements.push(require(keys::ARCH, Operator::In, &["amd64"]));
    assert!(buy(&w(two), &c, ON).types.is_empty(), "two requirements");
}
