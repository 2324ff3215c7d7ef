//! Random small clusters with every rule mixed: counters against recounting,
//! landing orders against all orders.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::build::*;
use super::naive::Naive;
use crate::kube::meta::Meta;
use crate::kube::node::Node;
use crate::kube::pod::Pod;
use crate::kube::policy::Namespace;
use crate::resources::{CPU, PODS};
use crate::rules::{Placement, State, landing_order, replay, replay_adversarial};
use crate::world::World;

fn a_node(i: usize) -> impl Strategy<Value = Node> {
    (0..3usize, any::<bool>(), 0..8u8, 1..5i64).prop_map(move |(zone, ssd, odd, pods)| {
        let name = format!("n{i}");
        let mut n = node(&name, ["z1", "z2", "z3"][zone]);
        n.allocatable = [(CPU, 4), (PODS, pods)].into_iter().collect();
        if ssd {
            n = labelled(n, "disk", "ssd");
        }
        match odd {
            0 => drop(n.meta.labels.remove(HOST)),
            1 => drop(n.meta.labels.remove(ZONE)),
            2 => n = tainted(n, "t", "", "NoSchedule"),
            3 => n = tainted(n, "t", "", "PreferNoSchedule"),
            _ => {}
        }
        n
    })
}

fn a_selector() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (0..3usize).prop_map(|app| json!({"matchLabels": {"app": (["x", "y", "z"][app])}})),
        1 => Just(json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["x"]}]})),
        1 => Just(json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["x", "y"]}, {"key": "rev", "operator": "Exists"}]})),
        1 => Just(json!({})),
        1 => Just(Value::Null),
    ]
}

fn a_key() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just(ZONE), 3 => Just(HOST), 1 => Just("disk")]
}

fn a_spread() -> impl Strategy<Value = Value> {
    (a_key(), a_selector(), 1..3u32, 0..5u32, any::<[bool; 3]>(), 0..5u8).prop_map(
        |(key, selector, skew, domains, [affinity, taints, keys], soft)| {
            json!({"topologyKey": key, "labelSelector": selector, "maxSkew": skew,
                "minDomains": (domains > 2).then_some(domains),
                "whenUnsatisfiable": if soft == 0 { "ScheduleAnyway" } else { "DoNotSchedule" },
                "nodeAffinityPolicy": if affinity { "Honor" } else { "Ignore" },
                "nodeTaintsPolicy": if taints { "Honor" } else { "Ignore" },
                "matchLabelKeys": if keys { vec!["rev"] } else { vec![] }})
        },
    )
}

fn a_term() -> impl Strategy<Value = Value> {
    (a_key(), a_selector(), 0..6u8, 0..6u8).prop_map(|(key, selector, scope, keys)| {
        let mut term = json!({"topologyKey": key, "labelSelector": selector});
        match scope {
            0 => term["namespaces"] = json!(["other"]),
            1 => term["namespaceSelector"] = json!({}),
            2 => term["namespaceSelector"] = json!({"matchLabels": {"team": "b"}}),
            _ => {}
        }
        match keys {
            0 => term["matchLabelKeys"] = json!(["rev"]),
            1 => term["mismatchLabelKeys"] = json!(["rev"]),
            _ => {}
        }
        term
    })
}

fn a_spec() -> impl Strategy<Value = Value> {
    let few = |terms| prop_oneof![2 => Just(vec![]), 1 => prop::collection::vec(terms, 1..3)];
    let spreads = prop_oneof![1 => Just(vec![]), 1 => prop::collection::vec(a_spread(), 1..3)];
    (spreads, few(a_term()), few(a_term()), 0..8u8, any::<bool>()).prop_map(|(spreads, near, far, odd, tolerant)| {
        let key = "requiredDuringSchedulingIgnoredDuringExecution";
        let mut spec = json!({"topologySpreadConstraints": spreads,
            "affinity": {"podAffinity": {key: near}, "podAntiAffinity": {key: far}}});
        match odd {
            0 => spec["nodeSelector"] = json!({"disk": "ssd"}),
            1 => {
                spec["affinity"]["nodeAffinity"] = json!({key: {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z1"]}]},
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}})
            }
            2 => spec["containers"] = json!([{"ports": [{"hostPort": 80}]}]),
            _ => {}
        }
        if tolerant {
            spec["tolerations"] = json!([{"key": "t", "operator": "Exists"}]);
        }
        spec
    })
}

/// Pods from a few templates, so that some are alike.
fn some_pods(count: usize) -> impl Strategy<Value = Vec<Pod>> {
    let template = (a_spec(), 0..3usize, 0..3usize, 0..3i64, 0..4u8);
    let templates = prop::collection::vec(template, 3);
    let each = prop::collection::vec((0..3usize, 0..10u8), count);
    (templates, each).prop_map(|(templates, each)| {
        let make = |(i, (which, leaving)): (usize, (usize, u8))| {
            let (spec, app, rev, cpu, foreign) = &templates[which];
            let rev = ["1", "2"].get(*rev).map(|r| ("rev", *r));
            let own: Vec<_> = [("app", ["x", "y", "z"][*app])].into_iter().chain(rev).collect();
            let mut p = asking(pod(&format!("p{i}"), &own, spec.clone()), &[(CPU, *cpu)]);
            if *foreign == 0 {
                p.namespace = "other".to_owned();
            }
            if leaving == 0 {
                p.deleted = Some("2026-11-30T00:00:00Z".parse().unwrap());
            }
            p
        };
        each.into_iter().enumerate().map(make).collect()
    })
}

fn some_nodes() -> impl Strategy<Value = Vec<Node>> {
    (a_node(0), a_node(1), a_node(2), a_node(3)).prop_map(|(a, b, c, d)| vec![a, b, c, d])
}

fn namespaces() -> Vec<Namespace> {
    let one = |name: &str, team: &str| Namespace {
        meta: Meta { name: name.to_owned(), labels: labels(&[("team", team)]), ..Meta::default() },
    };
    vec![one("default", "a"), one("other", "b")]
}

fn empty(nodes: &[Node]) -> State {
    State::of(&World { nodes: nodes.to_vec(), namespaces: namespaces(), ..World::default() }).unwrap()
}

fn naive(nodes: &[Node]) -> Naive<'_> {
    let namespaces = namespaces().into_iter().map(|n| (n.meta.name, n.meta.labels)).collect();
    Naive { nodes, pods: Vec::new(), namespaces }
}

/// Random moves; before each, everything is asked of both.
fn agree(nodes: &[Node], pods: &[Pod], moves: &[(usize, usize, bool)]) -> Result<(), TestCaseError> {
    let (mut state, mut twin) = (empty(nodes), naive(nodes));
    for (which, at, force) in moves {
        let pod = &pods[which % pods.len()];
        if let Some(i) = twin.pods.iter().position(|(p, _)| p.name == pod.name) {
            twin.pods.remove(i);
            state.evict(pod).unwrap();
            continue;
        }
        for (n, node) in nodes.iter().enumerate() {
            prop_assert_eq!(verdict(&mut state, pod, &node.meta.name), twin.verdict(pod, n), "{} on n{}", pod.name, n);
        }
        if *force || twin.verdict(pod, *at) == "ok" {
            twin.pods.push((pod.clone(), *at));
            state.place(&Arc::new(pod.clone()), &nodes[*at].meta.name).unwrap();
        }
    }
    Ok(())
}

/// Whether some order of `left` is legal, tried one after the other.
fn landable(twin: &mut Naive<'_>, left: &mut Vec<(Pod, usize)>) -> bool {
    if left.is_empty() {
        return true;
    }
    for i in 0..left.len() {
        let (pod, at) = left.remove(i);
        if twin.verdict(&pod, at) == "ok" {
            twin.pods.push((pod.clone(), at));
            let found = landable(twin, left);
            twin.pods.pop();
            if found {
                return true;
            }
        }
        left.insert(i, (pod, at));
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn counters_agree_with_recounting(
        nodes in some_nodes(),
        pods in some_pods(8),
        moves in prop::collection::vec((0..8usize, 0..4usize, any::<bool>()), 20),
    ) {
        agree(&nodes, &pods, &moves)?;
    }

    #[test]
    fn a_node_that_left_and_came_back_counts_the_same(
        nodes in some_nodes(),
        pods in some_pods(6),
        places in prop::collection::vec(0..4usize, 6),
        leaves in 0..4usize,
    ) {
        let (mut state, mut twin) = (empty(&nodes), naive(&nodes));
        let (running, asked) = pods.split_at(4);
        for (pod, at) in running.iter().zip(&places) {
            state.place(&Arc::new(pod.clone()), &nodes[*at].meta.name).unwrap();
            twin.pods.push((pod.clone(), *at));
        }
        asked.iter().for_each(|p| drop(state.filter(p, "n0")));
        let moved = state.remove_node(&nodes[leaves].meta.name).unwrap();
        let expected = places.iter().take(4).filter(|at| **at == leaves).count();
        prop_assert_eq!(moved.len(), expected);
        state.add_node(nodes[leaves].clone(), None).unwrap();
        moved.iter().for_each(|p| state.place(p, &nodes[leaves].meta.name).unwrap());
        for pod in asked {
            for (n, node) in nodes.iter().enumerate() {
                prop_assert_eq!(verdict(&mut state, pod, &node.meta.name), twin.verdict(pod, n));
            }
        }
    }

    #[test]
    fn landing_finds_an_order_where_there_is_one(
        nodes in some_nodes(),
        pods in some_pods(7),
        places in prop::collection::vec(0..4usize, 7),
        seed in any::<u64>(),
    ) {
        let mut twin = naive(&nodes);
        // A legal history, told in another order, is what a plan looks like.
        let mut plan: Vec<(Pod, usize)> = Vec::new();
        for (pod, at) in pods.iter().zip(&places) {
            let mut pod = pod.clone();
            pod.deleted = None;
            if let Some(at) = (0..4).map(|i| (at + i) % 4).find(|at| twin.verdict(&pod, *at) == "ok") {
                twin.pods.push((pod.clone(), at));
                plan.push((pod, at));
            }
        }
        plan.sort_by_key(|(p, _)| (seed ^ p.name.bytes().map(u64::from).sum::<u64>()).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let placements: Vec<Placement> = plan.iter().map(|(p, at)| place(p, &nodes[*at].meta.name)).collect();
        let state = empty(&nodes);
        let order = landing_order(&state, &placements);
        prop_assert!(order.is_ok(), "{:?}", order);
        let order = order.unwrap();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..placements.len()).collect::<Vec<_>>());
        let in_order: Vec<Placement> = order.iter().map(|i| placements[*i].clone()).collect();
        prop_assert_eq!(replay(&state, &in_order), Ok(()));
        twin.pods.clear();
        for i in order {
            let (pod, at) = &plan[i];
            prop_assert_eq!(twin.verdict(pod, *at), "ok");
            twin.pods.push((pod.clone(), *at));
        }
        prop_assert_eq!(replay_adversarial(&state, &placements, seed), Ok(()));
    }

    #[test]
    fn landing_agrees_with_all_orders(
        nodes in some_nodes(),
        pods in some_pods(5),
        places in prop::collection::vec(0..4usize, 5),
    ) {
        let plan = pods.iter().zip(&places).map(|(p, at)| {
            let mut pod = p.clone();
            pod.deleted = None;
            (pod, *at)
        });
        let mut plan: Vec<(Pod, usize)> = plan.collect();
        let placements: Vec<Placement> = plan.iter().map(|(p, at)| place(p, &nodes[*at].meta.name)).collect();
        let found = landing_order(&empty(&nodes), &placements);
        prop_assert_eq!(found.is_ok(), landable(&mut naive(&nodes), &mut plan));
        if let Err(stuck) = found {
            prop_assert!(stuck.proven, "five pods can be searched");
            prop_assert!(!stuck.refused.is_empty());
        }
    }
}
