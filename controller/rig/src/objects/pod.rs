//! Pods: those that run, and those that wait behind a gate.

use serde_json::{Value, json};

use super::{fresh_metadata, name};

/// Holds a pod back until it is its turn.
pub const GATE: &str = "millwright.dev/rig";
/// The class of pods that name none.
pub const DEFAULT_CLASS: &str = "rig-default";
/// Stands for the classes of the system, which may preempt.
pub const SYSTEM_CLASS: &str = "rig-system";

/// Priority classes, such that no pod preempts another: a plan never counts
/// on preemption. Pods that carry a number only get a class for it.
pub fn priority_classes<'v>(
    written: impl Iterator<Item = &'v Value>,
    pods: impl Iterator<Item = &'v Value>,
) -> Vec<Value> {
    let class = |name: &str, value: i64, default: bool| {
        json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
            "value": value, "globalDefault": default, "preemptionPolicy": "Never"})
    };
    let mut all: Vec<Value> = Vec::new();
    for object in written.filter(|o| !name(o).starts_with("system-")) {
        all.push(class(name(object), object["value"].as_i64().unwrap_or(0), object["globalDefault"] == true));
    }
    if !all.iter().any(|c| c["globalDefault"] == true) {
        all.push(class(DEFAULT_CLASS, 0, true));
    }
    all.push(class(SYSTEM_CLASS, 1_000_000_000, false));
    let mut numbers: Vec<i64> = pods.filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    all.extend(numbers.into_iter().map(|n| class(&numbered(n), n, false)));
    all
}

/// A priority that is written without a class.
fn number(spec: &Value) -> Option<i64> {
    let named = spec["priorityClassName"].as_str().is_some_and(|n| !n.is_empty());
    if named { None } else { spec["priority"].as_i64().map(|n| n.clamp(-1_000_000_000, 1_000_000_000)) }
}

fn numbered(n: i64) -> String {
    if n < 0 { format!("rig-minus-{}", -n) } else { format!("rig-{n}") }
}

/// A spec that the API server accepts: what no plan looks at is made up.
pub fn settle_spec(spec: &mut Value) {
    let class = match number(spec) {
        Some(n) => Some(numbered(n)),
        None => {
            spec["priorityClassName"].as_str().filter(|n| n.starts_with("system-")).map(|_| SYSTEM_CLASS.to_owned())
        }
    };
    if let Some(fields) = spec.as_object_mut() {
        for field in ["priority", "preemptionPolicy", "schedulerName", "serviceAccountName", "serviceAccount"] {
            fields.remove(field);
        }
        if let Some(class) = class {
            fields.insert("priorityClassName".to_owned(), json!(class));
        }
    }
    if spec["containers"].as_array().is_none_or(Vec::is_empty) {
        spec["containers"] = json!([{"name": "c"}]);
    }
    let mut names = 0;
    for list in ["containers", "initContainers"] {
        for container in spec[list].as_array_mut().into_iter().flatten() {
            limit_devices(&mut container["resources"]);
            if container["image"].is_null() {
                container["image"] = json!("none");
            }
            if container["name"].is_null() {
                container["name"] = json!(format!("c-{names}"));
                names += 1;
            }
        }
    }
    if spec["initContainers"].is_null()
        && let Some(fields) = spec.as_object_mut()
    {
        fields.remove("initContainers");
    }
}

/// What cannot be overcommitted must have a limit, which a plan never reads.
fn limit_devices(resources: &mut Value) {
    let ordinary = |name: &str| matches!(name, "cpu" | "memory" | "ephemeral-storage");
    let requests = resources["requests"].as_object().cloned().unwrap_or_default();
    for (name, amount) in requests.into_iter().filter(|(name, _)| !ordinary(name)) {
        if resources["limits"][&name].is_null() {
            resources["limits"][&name] = amount;
        }
    }
}

/// A pod that waits behind the gate.
pub fn waiting(pod_name: &str, namespace: &str, template: &Value) -> Value {
    let mut pod = anew(pod_name, namespace, template);
    if let Some(fields) = pod["spec"].as_object_mut() {
        fields.remove("nodeName");
    }
    let mut gates = pod["spec"]["schedulingGates"].as_array().cloned().unwrap_or_default();
    gates.push(json!({"name": GATE}));
    pod["spec"]["schedulingGates"] = json!(gates);
    pod
}

/// A pod that runs on a node.
pub fn bound(pod: &Value, node: &str) -> Value {
    let mut made = anew(name(pod), super::namespace(pod), pod);
    made["spec"]["nodeName"] = json!(node);
    if let Some(fields) = made["spec"].as_object_mut() {
        fields.remove("schedulingGates");
    }
    made
}

fn anew(pod_name: &str, namespace: &str, template: &Value) -> Value {
    let mut metadata = fresh_metadata(template);
    metadata["name"] = json!(pod_name);
    metadata["namespace"] = json!(namespace);
    let mut spec = template["spec"].clone();
    settle_spec(&mut spec);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}
