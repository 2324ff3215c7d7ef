//! Objects for tests, short to write.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::kube::meta::{Labels, Meta};
use crate::kube::node::{Node, Taint};
use crate::kube::pod::{Phase, Pod, PodSpec};
use crate::resources::{CPU, PODS, Resources};
use crate::rules::{Placement, Refusal, State};

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const HOST: &str = "kubernetes.io/hostname";

pub fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// A node with room for 110 pods and 8 CPUs, its hostname and a zone.
pub fn node(name: &str, zone: &str) -> Node {
    Node {
        meta: Meta { name: name.to_owned(), labels: labels(&[(HOST, name), (ZONE, zone)]), ..Meta::default() },
        allocatable: [(CPU, 8000), (PODS, 110)].into_iter().collect(),
        ..Node::default()
    }
}

pub fn labelled(mut node: Node, key: &str, value: &str) -> Node {
    node.meta.labels.insert(key.to_owned(), value.to_owned());
    node
}

pub fn tainted(mut node: Node, key: &str, value: &str, effect: &str) -> Node {
    node.taints.push(Taint::new(key, value, effect));
    node
}

/// A pod of namespace `default` that asks for nothing but what `spec` says.
pub fn pod(name: &str, own: &[(&str, &str)], spec: Value) -> Pod {
    let spec: PodSpec = serde_json::from_value(spec).unwrap();
    Pod {
        namespace: "default".to_owned(),
        name: name.to_owned(),
        uid: String::new(),
        created: None,
        deleted: None,
        owner: None,
        is_static: false,
        labels: Arc::new(labels(own)),
        annotations: Arc::default(),
        spec: Arc::new(spec),
        requests: Arc::new([(PODS, 1)].into_iter().collect()),
        node_name: None,
        phase: Phase::Pending,
        conditions: Vec::new(),
        nominated_node: None,
        started: None,
        synthetic: false,
    }
}

pub fn asking(mut pod: Pod, requests: &[(&str, i64)]) -> Pod {
    let all: Resources = requests.iter().copied().chain([(PODS, 1)]).collect();
    pod.requests = Arc::new(all);
    pod
}

pub fn on(mut pod: Pod, node: &str) -> Pod {
    pod.node_name = Some(node.to_owned());
    pod
}

pub fn spread(key: &str, skew: u32, app: &str) -> Value {
    json!({"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
           "labelSelector": {"matchLabels": {"app": app}}})
}

pub fn term(key: &str, app: &str) -> Value {
    json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}})
}

pub fn affinity(terms: &[Value]) -> Value {
    json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
}

pub fn anti_affinity(terms: &[Value]) -> Value {
    json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
}

pub fn place(pod: &Pod, node: &str) -> Placement {
    Placement::new(Arc::new(pod.clone()), node)
}

/// The plugin that refuses, or `ok`.
pub fn verdict(state: &mut State, pod: &Pod, node: &str) -> &'static str {
    state.filter(pod, node).map_or_else(|refusal: Refusal| refusal.plugin(), |()| "ok")
}
