//! The filters that look at one node.

use serde_json::{Value, json};

use super::build::*;
use crate::kube::pod::Phase;
use crate::resources::{CPU, MEMORY, PODS};
use crate::rules::{Refusal, State, StateError};

fn one(node: crate::kube::node::Node) -> State {
    State::new(vec![node], Vec::new()).unwrap()
}

#[test]
fn node_name() {
    let mut state = State::new(vec![node("a", "z1"), node("b", "z1")], Vec::new()).unwrap();
    let bound = on(pod("p", &[], json!({})), "b");
    assert_eq!(verdict(&mut state, &bound, "b"), "ok");
    assert_eq!(verdict(&mut state, &bound, "a"), "NodeName");
    assert_eq!(state.filter_anew(&bound, "a"), Ok(()), "its successor may go anywhere");
    let gone = state.filter(&pod("p", &[], json!({})), "c");
    assert_eq!(gone, Err(Refusal::State(StateError::NoNode("c".to_owned()))));
}

#[test]
fn cordon_and_taints() {
    let cordoned = |mut n: crate::kube::node::Node| {
        n.unschedulable = true;
        n
    };
    let plain = || node("n", "z1");
    let hard = || tainted(plain(), "team", "a", "NoSchedule");
    let running = || tainted(plain(), "team", "5", "NoExecute");
    let cases = [
        ("cordon", cordoned(plain()), json!([]), "NodeUnschedulable"),
        ("cordon, Exists", cordoned(plain()), json!([{"operator": "Exists"}]), "ok"),
        (
            "cordon, key",
            cordoned(plain()),
            json!([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}]),
            "ok",
        ),
        (
            "cordon, NoExecute",
            cordoned(plain()),
            json!([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"}]),
            "NodeUnschedulable",
        ),
        ("hard", hard(), json!([]), "TaintToleration"),
        ("equal", hard(), json!([{"key": "team", "value": "a"}]), "ok"),
        ("equal, other value", hard(), json!([{"key": "team", "value": "b"}]), "TaintToleration"),
        ("exists", hard(), json!([{"key": "team", "operator": "Exists"}]), "ok"),
        (
            "other effect",
            hard(),
            json!([{"key": "team", "operator": "Exists", "effect": "NoExecute"}]),
            "TaintToleration",
        ),
        ("no execute", running(), json!([]), "TaintToleration"),
        ("greater", running(), json!([{"key": "team", "operator": "Gt", "value": "4"}]), "ok"),
        ("not greater", running(), json!([{"key": "team", "operator": "Gt", "value": "5"}]), "TaintToleration"),
        ("less", running(), json!([{"key": "team", "operator": "Lt", "value": "6"}]), "ok"),
        ("no number", running(), json!([{"key": "team", "operator": "Lt", "value": "06"}]), "TaintToleration"),
        ("prefer", tainted(plain(), "team", "a", "PreferNoSchedule"), json!([]), "ok"),
    ];
    for (name, node, tolerations, expected) in cases {
        let p = pod("p", &[], json!({"tolerations": tolerations}));
        assert_eq!(verdict(&mut one(node), &p, "n"), expected, "{name}");
    }
}

fn required(terms: Value) -> Value {
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
}

#[test]
fn node_affinity() {
    let expression =
        |op: &str, values: Value| json!([{"matchExpressions": [{"key": "cores", "operator": op, "values": values}]}]);
    let cases = [
        ("selector", json!({"nodeSelector": {"cores": "16"}}), true),
        ("selector, other", json!({"nodeSelector": {"cores": "8"}}), false),
        ("in", required(expression("In", json!(["8", "16"]))), true),
        ("not in", required(expression("NotIn", json!(["16"]))), false),
        ("not in, other", required(expression("NotIn", json!(["8"]))), true),
        ("exists", required(expression("Exists", json!([]))), true),
        ("does not exist", required(expression("DoesNotExist", json!([]))), false),
        ("gt", required(expression("Gt", json!(["15"]))), true),
        ("gt, equal", required(expression("Gt", json!(["16"]))), false),
        ("lt", required(expression("Lt", json!(["17"]))), true),
        ("lt, two values", required(expression("Lt", json!(["17", "18"]))), false),
        ("no terms", required(json!([])), false),
        ("an empty term", required(json!([{}])), false),
        (
            "any term will do",
            required(json!([
                {"matchExpressions": [{"key": "absent", "operator": "Exists"}]},
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
            ])),
            true,
        ),
        (
            "all of a term",
            required(json!([{
                "matchExpressions": [{"key": "cores", "operator": "Exists"}],
                "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}]
            }])),
            false,
        ),
        (
            "absent key, NotIn",
            required(json!([{"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["1"]}]}])),
            true,
        ),
        (
            "absent key, Gt",
            required(json!([{"matchExpressions": [{"key": "x", "operator": "Gt", "values": ["1"]}]}])),
            false,
        ),
    ];
    for (name, spec, expected) in cases {
        let mut state = one(labelled(node("n", "z1"), "cores", "16"));
        let expected = if expected { "ok" } else { "NodeAffinity" };
        assert_eq!(verdict(&mut state, &pod("p", &[], spec), "n"), expected, "{name}");
    }
}

#[test]
fn resources() {
    let mut n = node("n", "z1");
    n.allocatable = [(CPU, 1000), (MEMORY, 100), (PODS, 3), ("example.com/gpu", 1)].into_iter().collect();
    let resident = on(asking(pod("r", &[], json!({})), &[(CPU, 600), (MEMORY, 200)]), "n");
    let mut state = State::new(vec![n], vec![resident]).unwrap();
    let cases: [(&[(&str, i64)], &str); 8] = [
        (&[(CPU, 400)], "ok"),
        (&[(CPU, 401)], "NodeResourcesFit"),
        (&[(MEMORY, 1)], "NodeResourcesFit"),
        (&[], "ok"), // overcommitted memory is no matter to who asks for none
        (&[(MEMORY, 0), ("example.com/unknown", 0)], "ok"),
        (&[("example.com/gpu", 1)], "ok"),
        (&[("example.com/gpu", 2)], "NodeResourcesFit"),
        (&[("example.com/unknown", 1)], "NodeResourcesFit"),
    ];
    for (requests, expected) in cases {
        assert_eq!(verdict(&mut state, &asking(pod("p", &[], json!({})), requests), "n"), expected, "{requests:?}");
    }
    let refusal = state.filter(&asking(pod("p", &[], json!({})), &[(CPU, 500)]), "n").unwrap_err();
    assert_eq!(refusal.to_string(), "Insufficient cpu: requested 500, used 600 of 1000");
    assert_eq!(refusal.key(), Some("cpu"));
}

#[test]
fn pod_count_and_ended_pods() {
    let mut n = node("n", "z1");
    n.allocatable.set(PODS, 1);
    let mut ended = on(pod("done", &[], json!({})), "n");
    ended.phase = Phase::Succeeded;
    let lost = on(pod("lost", &[], json!({})), "gone");
    let mut state = State::new(vec![n], vec![ended, lost]).unwrap();
    let p = pod("p", &[], json!({}));
    assert_eq!(verdict(&mut state, &p, "n"), "ok");
    state.place(&std::sync::Arc::new(p.clone()), "n").unwrap();
    assert_eq!(state.filter(&pod("q", &[], json!({})), "n"), Err(Refusal::Pods { capacity: 1 }));
    assert_eq!(state.node_of(&p), Some("n"));
    let twice = state.place(&std::sync::Arc::new(p.clone()), "n");
    assert_eq!(twice, Err(StateError::PodTwice { pod: "default/p".to_owned(), node: "n".to_owned() }));
    state.evict(&p).unwrap();
    assert_eq!(verdict(&mut state, &pod("q", &[], json!({})), "n"), "ok");
    assert_eq!(state.evict(&p).unwrap_err(), StateError::NoPod("default/p".to_owned()));
}

#[test]
fn host_ports() {
    let with = |ip: &str, protocol: &str, port: u16| json!({"containers": [{"ports": [{"hostPort": port, "hostIP": ip, "protocol": protocol}]}]});
    let sidecar = json!({"initContainers": [{"restartPolicy": "Always", "ports": [{"hostPort": 80}]}]});
    let init = json!({"initContainers": [{"ports": [{"hostPort": 80}]}]});
    let cases = [
        ("same", with("", "", 80), with("", "TCP", 80), false),
        ("other port", with("", "", 80), with("", "", 81), true),
        ("other protocol", with("", "", 80), with("", "UDP", 80), true),
        ("two addresses", with("10.0.0.1", "", 80), with("10.0.0.2", "", 80), true),
        ("one address", with("10.0.0.1", "", 80), with("10.0.0.1", "", 80), false),
        ("any and one", with("0.0.0.0", "", 80), with("10.0.0.1", "", 80), false),
        ("one and any", with("10.0.0.1", "", 80), with("", "", 80), false),
        ("sidecar", sidecar, with("", "", 80), false),
        ("init container", init, with("", "", 80), true),
        ("no host port", json!({"containers": [{"ports": [{"containerPort": 80}]}]}), with("", "", 80), true),
    ];
    for (name, resident, incoming, fits) in cases {
        let mut state = State::new(vec![node("n", "z1")], vec![on(pod("r", &[], resident.clone()), "n")]).unwrap();
        let expected = if fits { "ok" } else { "NodePorts" };
        assert_eq!(verdict(&mut state, &pod("p", &[], incoming.clone()), "n"), expected, "{name}");
        state.evict(&pod("r", &[], resident)).unwrap();
        assert_eq!(verdict(&mut state, &pod("p", &[], incoming), "n"), "ok", "{name}, resident gone");
    }
}
