//! What a control plane is to hold, as JSON.

mod documents;
mod node;
mod pod;
mod storage;

pub use documents::{DocumentError, Documents};
pub use node::{PlannedType, existing, in_flight, planned, volume_limits};
pub use pod::{DEFAULT_CLASS, GATE, SYSTEM_CLASS, bound, priority_classes, settle_spec, waiting};
pub use storage::{claim, claim_from_template, provisioned_volume, storage_class, volume};

use serde_json::{Map, Value, json};

/// `metadata.name`.
pub fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// `name` of a part of an object.
pub fn name_of(part: &Value) -> &str {
    part["name"].as_str().unwrap_or_default()
}

/// `metadata.namespace`, `default` where there is none.
pub fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or("default")
}

/// The metadata that an object keeps when it is made anew: what identifies
/// the old one, or makes the garbage collector look for its owner, goes.
pub fn fresh_metadata(object: &Value) -> Value {
    let mut kept = Map::new();
    for field in ["name", "namespace", "labels", "annotations"] {
        if let Some(value) = object["metadata"].get(field).filter(|v| !v.is_null()) {
            kept.insert(field.to_owned(), value.clone());
        }
    }
    Value::Object(kept)
}

/// An object of the same kind and spec, made anew.
pub fn afresh(object: &Value) -> Value {
    let mut copy = object.clone();
    copy["metadata"] = fresh_metadata(object);
    if let Some(fields) = copy.as_object_mut() {
        fields.remove("status");
    }
    copy
}

/// A taint that keeps every ordinary pod away.
fn away(key: &str) -> Value {
    json!({"key": key, "effect": "NoSchedule"})
}
