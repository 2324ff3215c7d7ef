//! JSON merge patches.

use serde_json::{Value, json};

/// A JSON merge patch: objects are merged, null removes, all else replaces.
pub fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in fields {
        if value.is_null() {
            into.as_object_mut().unwrap().shift_remove(key);
        } else {
            merge(&mut into[key], value);
        }
    }
}
