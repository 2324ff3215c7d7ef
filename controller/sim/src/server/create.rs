//! `POST`.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Denial, Key, Kind, Server, validate};
use crate::json;

const NOT_READY: &str = "node.kubernetes.io/not-ready";

impl Server {
    /// Makes an object; its kind is what it says.
    pub fn create(&mut self, mut object: Value, now: Timestamp) -> Result<Arc<Value>, Denial> {
        let (api, kind) = (json::text(&object, &["apiVersion"]), json::text(&object, &["kind"]));
        let kind = Kind::of(api, kind).ok_or_else(|| Denial::Invalid(format!("no resource {kind} in {api}")))?;
        if kind.is_namespaced() && json::text(&object, &["metadata", "namespace"]).is_empty() {
            object["metadata"]["namespace"] = json!("default");
        }
        if json::name(&object).is_empty() {
            let prefix = json::text(&object, &["metadata", "generateName"]).to_owned();
            if prefix.is_empty() {
                return Err(Denial::Invalid("metadata.name: required".to_owned()));
            }
            object["metadata"]["name"] = json!(format!("{prefix}{:05x}", self.next_given()));
        }
        let namespace = if kind.is_namespaced() { json::text(&object, &["metadata", "namespace"]) } else { "" };
        let key = Key::new(kind, namespace, json::name(&object));
        if self.objects.contains_key(&key) {
            return Err(Denial::Conflict(format!("{key} already exists")));
        }
        if let Value::Object(members) = &mut object
            && kind.is_born_without_status()
        {
            members.shift_remove("status");
        }
        if let Value::Object(meta) = &mut object["metadata"] {
            for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"] {
                meta.shift_remove(field);
            }
            meta.insert("uid".to_owned(), json!(format!("uid-{}", self.next_given())));
            meta.insert("generation".to_owned(), json!(1));
            meta.insert("creationTimestamp".to_owned(), json::stamp(now));
        }
        match kind {
            Kind::Pod => complete_pod(&mut object),
            Kind::Node => taint_node(&mut object),
            _ => {}
        }
        validate::object(kind, &object)?;
        Ok(self.store(key, object))
    }
}

/// Defaults and admission plugins of pods.
fn complete_pod(pod: &mut Value) {
    let spec = &mut pod["spec"];
    for (field, default) in
        [("terminationGracePeriodSeconds", json!(30)), ("schedulerName", json!("default-scheduler"))]
    {
        if spec.get(field).is_none() {
            spec[field] = default;
        }
    }
    let mut tolerations = json::list(spec, &["tolerations"]).to_vec();
    for key in [NOT_READY, "node.kubernetes.io/unreachable"] {
        let covered = |t: &Value| {
            let of_key = json::text(t, &["key"]);
            (of_key == key || of_key.is_empty()) && matches!(json::text(t, &["effect"]), "" | "NoExecute")
        };
        if !tolerations.iter().any(covered) {
            tolerations
                .push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
    spec["tolerations"] = Value::Array(tolerations);
    pod["status"] = json!({"phase": "Pending"});
}

/// TaintNodesByCondition.
fn taint_node(node: &mut Value) {
    let mut taints = json::list(node, &["spec", "taints"]).to_vec();
    if !taints.iter().any(|t| json::text(t, &["key"]) == NOT_READY && json::text(t, &["effect"]) == "NoSchedule") {
        taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
    }
    node["spec"]["taints"] = Value::Array(taints);
}
