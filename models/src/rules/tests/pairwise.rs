//! PodTopologySpread and InterPodAffinity.

use std::sync::Arc;

use serde_json::{Value, json};

use super::build::*;
use crate::kube::meta::Meta;
use crate::kube::node::Node;
use crate::kube::pod::Pod;
use crate::kube::policy::Namespace;
use crate::rules::{Refusal, State};
use crate::world::World;

fn web(name: &str, at: &str) -> Pod {
    on(pod(name, &[("app", "web")], json!({})), at)
}

fn three() -> Vec<Node> {
    vec![node("a", "z1"), node("b", "z2"), node("c", "z3")]
}

/// Verdicts on nodes a, b and c: `y` for each that will do.
fn verdicts(nodes: Vec<Node>, pods: Vec<Pod>, p: &Pod) -> String {
    let names: Vec<String> = nodes.iter().map(|n| n.meta.name.clone()).collect();
    let mut state = State::new(nodes, pods).unwrap();
    names.iter().map(|n| if state.filter(p, n).is_ok() { 'y' } else { '-' }).collect()
}

fn constrained(constraint: Value) -> Pod {
    pod("p", &[("app", "web"), ("rev", "2")], json!({"topologySpreadConstraints": [constraint]}))
}

fn with(mut base: Value, more: Value) -> Value {
    base.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    base
}

#[test]
fn spread_counts_the_domain_against_the_lowest() {
    let pods = || vec![web("1", "a"), web("2", "a"), web("3", "b")];
    assert_eq!(verdicts(three(), pods(), &constrained(spread(ZONE, 1, "web"))), "--y");
    assert_eq!(verdicts(three(), pods(), &constrained(spread(ZONE, 2, "web"))), "-yy");
    assert_eq!(verdicts(three(), pods(), &constrained(spread(ZONE, 3, "web"))), "yyy");
    let soft = with(spread(ZONE, 1, "web"), json!({"whenUnsatisfiable": "ScheduleAnyway"}));
    assert_eq!(verdicts(three(), pods(), &constrained(soft)), "yyy");
    let refusal = State::new(three(), pods()).unwrap().filter(&constrained(spread(ZONE, 1, "web")), "a").unwrap_err();
    let expected = Refusal::Spread { key: ZONE.to_owned(), domain: "z1".to_owned(), count: 3, lowest: 0, max_skew: 1 };
    assert_eq!(refusal, expected);
}

#[test]
fn spread_adds_the_pod_only_if_it_selects_it() {
    let stranger = pod("p", &[], json!({"topologySpreadConstraints": [spread(ZONE, 1, "web")]}));
    assert_eq!(verdicts(three(), vec![web("1", "a"), web("2", "b"), web("3", "b")], &stranger), "y-y");
}

#[test]
fn spread_leaves_out_terminating_pods_and_other_namespaces() {
    let mut leaving = web("1", "a");
    leaving.deleted = Some("2026-11-30T00:00:00Z".parse().unwrap());
    let mut foreign = web("2", "b");
    foreign.namespace = "other".to_owned();
    assert_eq!(verdicts(three(), vec![leaving, foreign], &constrained(spread(ZONE, 1, "web"))), "yyy");
}

#[test]
fn spread_with_too_few_domains_measures_from_zero() {
    let pods = || vec![web("1", "a"), web("2", "b"), web("3", "c")];
    let wanting = |n: u32| constrained(with(spread(ZONE, 1, "web"), json!({"minDomains": n})));
    assert_eq!(verdicts(three(), pods(), &wanting(3)), "yyy");
    assert_eq!(verdicts(three(), pods(), &wanting(4)), "---");
}

#[test]
fn spread_selectors() {
    let pods = || vec![web("1", "a"), web("2", "a")];
    let selector = |s: Value| constrained(with(spread(ZONE, 1, "web"), json!({"labelSelector": s})));
    assert_eq!(verdicts(three(), pods(), &selector(Value::Null)), "yyy", "an absent selector selects nothing");
    assert_eq!(verdicts(three(), pods(), &selector(json!({}))), "yyy", "the scheduler counts nothing for an empty one");
    let expression = json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]});
    assert_eq!(verdicts(three(), pods(), &selector(expression)), "-yy");
}

#[test]
fn spread_with_match_label_keys_counts_the_same_revision() {
    let old = vec![web("1", "a"), web("2", "a")];
    let revised = with(spread(ZONE, 1, "web"), json!({"matchLabelKeys": ["rev", "absent"]}));
    assert_eq!(verdicts(three(), old, &constrained(revised)), "yyy");
}

#[test]
fn spread_node_policies() {
    let nodes =
        || vec![labelled(node("a", "z1"), "disk", "ssd"), labelled(node("b", "z2"), "disk", "ssd"), node("c", "z3")];
    let picky = |policy: &str| {
        let constraint = with(spread(ZONE, 1, "web"), json!({"nodeAffinityPolicy": policy}));
        pod("p", &[("app", "web")], json!({"nodeSelector": {"disk": "ssd"}, "topologySpreadConstraints": [constraint]}))
    };
    let even = || vec![web("1", "a"), web("2", "b")];
    assert_eq!(verdicts(nodes(), even(), &picky("Honor")), "yy-", "z3 is not in view");
    assert_eq!(verdicts(nodes(), even(), &picky("Ignore")), "---", "z3 is empty and out of reach");
    let nodes = || vec![node("a", "z1"), node("b", "z2"), tainted(node("c", "z3"), "t", "", "NoSchedule")];
    let taints = |policy: &str| constrained(with(spread(ZONE, 1, "web"), json!({"nodeTaintsPolicy": policy})));
    assert_eq!(verdicts(nodes(), even(), &taints("Honor")), "yy-");
    assert_eq!(verdicts(nodes(), even(), &taints("Ignore")), "---");
}

#[test]
fn spread_needs_every_key_of_the_pod_on_the_node() {
    let mut bare = node("c", "z3");
    bare.meta.labels.remove(HOST);
    let nodes = || vec![node("a", "z1"), node("b", "z2"), bare.clone()];
    let both = pod(
        "p",
        &[("app", "web")],
        json!({"topologySpreadConstraints": [spread(ZONE, 1, "web"), spread(HOST, 2, "web")]}),
    );
    assert_eq!(verdicts(nodes(), vec![web("1", "a"), web("2", "b")], &both), "yy-", "c counts for neither key");
    let missing = State::new(nodes(), Vec::new()).unwrap().filter(&both, "c");
    assert_eq!(missing, Err(Refusal::SpreadLabel { key: HOST.to_owned() }));
}

#[test]
fn spread_follows_nodes_that_come_and_go() {
    let mut state = State::new(three(), vec![web("1", "a"), web("2", "b")]).unwrap();
    let p = constrained(spread(ZONE, 1, "web"));
    assert_eq!(verdict(&mut state, &p, "a"), "PodTopologySpread", "z3 is empty");
    assert!(state.remove_node("c").unwrap().is_empty());
    assert_eq!(verdict(&mut state, &p, "a"), "ok");
    state.add_node(node("d", "z4"), None).unwrap();
    assert_eq!(verdict(&mut state, &p, "a"), "PodTopologySpread", "z4 is empty");
    let moved = state.remove_node("b").unwrap();
    assert_eq!(moved.iter().map(|p| p.full_name()).collect::<Vec<_>>(), ["default/2"]);
    state.place(&moved[0], "d").unwrap();
    assert_eq!(verdict(&mut state, &p, "a"), "ok");
}

#[test]
fn affinity_needs_a_target_in_the_domain() {
    let nodes = || vec![node("a", "z1"), node("b", "z1"), node("c", "z2")];
    let follower = pod("p", &[], affinity(&[term(ZONE, "web")]));
    assert_eq!(verdicts(nodes(), vec![web("1", "a")], &follower), "yy-");
    let close = pod("p", &[], affinity(&[term(HOST, "web")]));
    assert_eq!(verdicts(nodes(), vec![web("1", "a")], &close), "y--");
    assert_eq!(verdicts(nodes(), Vec::new(), &follower), "---", "it is no target itself");
}

#[test]
fn affinity_lets_the_first_of_its_kind_begin() {
    let own = pod("p", &[("app", "web")], affinity(&[term(ZONE, "web")]));
    let mut bare = node("c", "z3");
    bare.meta.labels.remove(ZONE);
    let nodes = || vec![node("a", "z1"), node("b", "z2"), bare.clone()];
    assert_eq!(verdicts(nodes(), Vec::new(), &own), "yy-", "but on a node with the key");
    assert_eq!(verdicts(nodes(), vec![web("1", "b")], &own), "-y-");
    assert_eq!(verdicts(nodes(), vec![web("1", "c")], &own), "yy-", "a target outside all domains does not count");
    let mut leaving = web("1", "b");
    leaving.deleted = Some("2026-11-30T00:00:00Z".parse().unwrap());
    assert_eq!(verdicts(nodes(), vec![leaving], &own), "-y-", "a terminating one does");
}

#[test]
fn affinity_targets_satisfy_all_terms_at_once() {
    let both = pod(
        "p",
        &[],
        affinity(&[term(ZONE, "web"), json!({"topologyKey": HOST, "labelSelector": {"matchLabels": {"tier": "x"}}})]),
    );
    let half = || on(pod("2", &[("tier", "x")], json!({})), "a");
    let full = on(pod("3", &[("app", "web"), ("tier", "x")], json!({})), "b");
    assert_eq!(verdicts(three(), vec![web("1", "a"), half()], &both), "---");
    assert_eq!(verdicts(three(), vec![web("1", "a"), half(), full], &both), "-y-");
}

#[test]
fn anti_affinity_both_ways() {
    let loner = || pod("p", &[("app", "db")], anti_affinity(&[term(ZONE, "web")]));
    assert_eq!(verdicts(three(), vec![web("1", "a")], &loner()), "-yy");
    let visitor = pod("v", &[("app", "web")], json!({}));
    assert_eq!(verdicts(three(), vec![on(loner(), "b")], &visitor), "y-y");
    let mut state = State::new(three(), vec![on(loner(), "b")]).unwrap();
    let refusal = state.filter(&visitor, "b").unwrap_err();
    assert_eq!(refusal, Refusal::ExistingAntiAffinity { key: ZONE.to_owned(), domain: "z2".to_owned() });
    state.evict(&loner()).unwrap();
    assert_eq!(verdict(&mut state, &visitor, "b"), "ok");
    let mut bare = node("d", "z4");
    bare.meta.labels.remove(ZONE);
    assert_eq!(verdicts(vec![bare], vec![web("1", "d")], &loner()), "y", "no label, no domain");
}

#[test]
fn affinity_namespaces() {
    let namespace = |name: &str, team: &str| Namespace {
        meta: Meta { name: name.to_owned(), labels: labels(&[("team", team)]), ..Meta::default() },
    };
    let mut target = web("1", "a");
    target.namespace = "blue".to_owned();
    let world = World {
        nodes: three(),
        pods: vec![target],
        namespaces: vec![namespace("blue", "b"), namespace("default", "d")],
        ..World::default()
    };
    let cases = [
        ("own by default", json!({}), "yyy"),
        ("by name", json!({"namespaces": ["blue"]}), "-yy"),
        ("by label", json!({"namespaceSelector": {"matchLabels": {"team": "b"}}}), "-yy"),
        ("by another label", json!({"namespaceSelector": {"matchLabels": {"team": "d"}}}), "yyy"),
        ("either", json!({"namespaces": ["blue"], "namespaceSelector": {"matchLabels": {"team": "d"}}}), "-yy"),
        ("all", json!({"namespaceSelector": {}}), "-yy"),
        (
            "by name label",
            json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "blue"}}}),
            "-yy",
        ),
    ];
    for (name, more, expected) in cases {
        let p = pod("p", &[], anti_affinity(&[with(term(ZONE, "web"), more)]));
        let mut state = State::of(&world).unwrap();
        let found: String =
            ["a", "b", "c"].map(|n| if state.filter(&p, n).is_ok() { 'y' } else { '-' }).iter().collect();
        assert_eq!(found, expected, "{name}");
        // The same term on a resident keeps the other away.
        let visitor = world.pods[0].clone();
        let mut state = State::of(&World { pods: vec![on(p, "a")], ..world.clone() }).unwrap();
        let expected = if expected == "yyy" { "ok" } else { "InterPodAffinity" };
        assert_eq!(verdict(&mut state, &visitor, "a"), expected, "{name}, the other way");
    }
}

#[test]
fn affinity_label_keys() {
    let resident = on(pod("1", &[("app", "web"), ("rev", "1")], json!({})), "a");
    let same = |keys: Value| pod("p", &[("app", "web"), ("rev", "2")], anti_affinity(&[with(term(HOST, "web"), keys)]));
    assert_eq!(verdicts(three(), vec![resident.clone()], &same(json!({}))), "-yy");
    assert_eq!(verdicts(three(), vec![resident.clone()], &same(json!({"matchLabelKeys": ["rev"]}))), "yyy");
    assert_eq!(verdicts(three(), vec![resident], &same(json!({"mismatchLabelKeys": ["rev"]}))), "-yy");
    let twin = on(pod("1", &[("app", "web"), ("rev", "2")], json!({})), "a");
    assert_eq!(verdicts(three(), vec![twin], &same(json!({"mismatchLabelKeys": ["rev"]}))), "yyy");
}

#[test]
fn rules_that_come_late_count_what_runs() {
    let mut state = State::new(three(), Vec::new()).unwrap();
    for (name, at) in [("1", "a"), ("2", "a"), ("3", "b")] {
        state.place(&Arc::new(web(name, at)), at).unwrap();
    }
    assert_eq!(verdict(&mut state, &constrained(spread(ZONE, 1, "web")), "b"), "PodTopologySpread");
    assert_eq!(verdict(&mut state, &pod("f", &[], affinity(&[term(ZONE, "web")])), "c"), "InterPodAffinity");
    assert_eq!(verdict(&mut state, &pod("l", &[], anti_affinity(&[term(ZONE, "web")])), "c"), "ok");
}
