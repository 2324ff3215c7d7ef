//! Nodes: those that exist, those on their way, those that a plan buys.

use std::collections::BTreeMap;

use millwright_models::karpenter::labels;
use millwright_models::lift::PlannedNode;
use millwright_models::lower::Place;
use millwright_models::quantity;
use millwright_models::resources::Resources;
use serde_json::{Map, Value, json};

use super::{away, fresh_metadata};

/// Taints that Kubernetes sets and lifts by itself, and the condition of the
/// node that makes it do so.
const CONDITIONS: [(&str, &str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "Ready", "False"),
    ("node.kubernetes.io/unreachable", "Ready", "Unknown"),
    ("node.kubernetes.io/memory-pressure", "MemoryPressure", "True"),
    ("node.kubernetes.io/disk-pressure", "DiskPressure", "True"),
    ("node.kubernetes.io/pid-pressure", "PIDPressure", "True"),
    ("node.kubernetes.io/network-unavailable", "NetworkUnavailable", "True"),
];
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
const DISRUPTED: &str = "karpenter.sh/disrupted";

/// What the cloud says about a type that was bought.
pub struct PlannedType<'a> {
    pub labels: &'a BTreeMap<String, String>,
    pub capacity: &'a Resources,
    pub allocatable: &'a Resources,
    pub region: &'a str,
}

/// A node as kubelet and the provider would register it, Ready or still not.
pub fn planned(name: &str, node: &PlannedNode, claim: &Value, kind: &PlannedType<'_>, ready: bool) -> Value {
    let mut all: BTreeMap<String, String> = kind.labels.clone();
    for (key, value) in claim["metadata"]["labels"].as_object().into_iter().flatten() {
        all.insert(key.clone(), value.as_str().unwrap_or_default().to_owned());
    }
    // A requirement that leaves one value is a label of the node.
    for requirement in claim["spec"]["requirements"].as_array().into_iter().flatten() {
        if let (Some(key), "In", Some([Value::String(value)])) = (
            requirement["key"].as_str(),
            requirement["operator"].as_str().unwrap_or_default(),
            requirement["values"].as_array().map(Vec::as_slice),
        ) {
            all.insert(key.to_owned(), value.clone());
        }
    }
    let own = [
        (labels::HOSTNAME, name),
        (labels::INSTANCE_TYPE, &node.instance_type),
        (labels::ZONE, &node.zone),
        (labels::REGION, kind.region),
        (labels::CAPACITY_TYPE, &node.capacity_type),
        (labels::NODEPOOL, &node.pool),
        (labels::REGISTERED, "true"),
        (labels::INITIALIZED, "true"),
    ];
    all.extend(own.map(|(key, value)| (key.to_owned(), value.to_owned())));
    all.entry(labels::OS.to_owned()).or_insert_with(|| "linux".to_owned());
    if let Some(id) = &node.reservation {
        all.insert(labels::RESERVATION_ID.to_owned(), id.clone());
    }
    old_names(&mut all);
    let taints = claim["spec"].get("taints").cloned().unwrap_or_else(|| json!([]));
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": all},
        "spec": {"taints": taints, "providerID": format!("rig:///{name}")},
        "status": {
            "capacity": amounts(kind.capacity),
            "allocatable": amounts(kind.allocatable),
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
        },
    })
}

/// Labels under their old names, as kubelets and cloud providers still set
/// them.
fn old_names(all: &mut BTreeMap<String, String>) {
    let names = [
        ("beta.kubernetes.io/arch", labels::ARCH),
        ("beta.kubernetes.io/os", labels::OS),
        ("beta.kubernetes.io/instance-type", labels::INSTANCE_TYPE),
        ("failure-domain.beta.kubernetes.io/zone", labels::ZONE),
        ("failure-domain.beta.kubernetes.io/region", labels::REGION),
    ];
    for (old, new) in names {
        if let Some(value) = all.get(new).cloned() {
            all.insert(old.to_owned(), value);
        }
    }
}

fn amounts(resources: &Resources) -> Value {
    resources
        .iter()
        .map(|(name, amount)| (name.to_owned(), json!(quantity::format(name, amount))))
        .collect::<Map<_, _>>()
        .into()
}

/// A node of the input; `leaving` if pods must not come any more.
pub fn existing(node: &Value, leaving: bool) -> Value {
    let mut metadata = fresh_metadata(node);
    if metadata.get("labels").is_none() {
        metadata["labels"] = json!({});
    }
    if metadata["labels"].get(labels::HOSTNAME).is_none() {
        metadata["labels"][labels::HOSTNAME] = metadata["name"].clone();
    }
    let mut status = node["status"].clone();
    let mut conditions: Vec<Value> = status["conditions"].as_array().cloned().unwrap_or_default();
    let mut unschedulable = node["spec"]["unschedulable"] == true;
    let mut taints = Vec::new();
    for taint in node["spec"]["taints"].as_array().into_iter().flatten() {
        let key = taint["key"].as_str().unwrap_or_default();
        unschedulable |= key == UNSCHEDULABLE;
        if let Some((_, kind, state)) = CONDITIONS.iter().find(|(name, ..)| *name == key) {
            conditions.retain(|c| c["type"] != *kind);
            conditions.push(json!({"type": kind, "status": state}));
        }
        let mut taint = taint.clone();
        if let Some(fields) = taint.as_object_mut() {
            fields.remove("timeAdded");
        }
        taints.push(taint);
    }
    if leaving && !taints.iter().any(|t| t["key"] == DISRUPTED) {
        taints.push(away(DISRUPTED));
    }
    let mut whole = json!({"allocatable": status["allocatable"].take(), "conditions": conditions});
    let capacity = status["capacity"].take();
    whole["capacity"] = if capacity.is_null() { whole["allocatable"].clone() } else { capacity };
    if whole["allocatable"].is_null() {
        whole["allocatable"] = whole["capacity"].clone();
    }
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": {"taints": taints, "unschedulable": unschedulable, "providerID": node["spec"]["providerID"]},
        "status": whole,
    })
}

/// The node that a claim on its way will become.
pub fn in_flight(place: &Place<'_>) -> Value {
    let mut all = place.labels.clone();
    old_names(&mut all);
    all.insert(labels::HOSTNAME.to_owned(), place.name.to_owned());
    let mut taints: Vec<Value> = Vec::new();
    for t in &place.taints {
        taints.push(json!({"key": t.key, "value": t.value, "effect": t.effect}));
    }
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": place.name, "labels": all},
        "spec": {"taints": taints},
        "status": {
            "capacity": amounts(&place.capacity),
            "allocatable": amounts(&place.allocatable),
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    })
}

/// How many volumes of a driver can be attached to a node.
pub fn volume_limits(node: &str, driver: &str, count: u32) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": node},
        "spec": {"drivers": [{"name": driver, "nodeID": node, "topologyKeys": [labels::ZONE],
            "allocatable": {"count": count}}]},
    })
}
