//! `PATCH` with a merge patch.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Denial, Key, Server, merge, validate};
use crate::json;

impl Server {
    /// Merges `body` into an object or, with `status`, into its status only.
    /// A resource version or uid in the body is a condition.
    pub fn patch(&mut self, key: &Key, status: bool, body: &Value) -> Result<Arc<Value>, Denial> {
        let old = self.expect(key, json::uid(body))?;
        let wanted = json::text(body, &["metadata", "resourceVersion"]);
        let current = json::text(&old, &["metadata", "resourceVersion"]);
        if !wanted.is_empty() && wanted != current {
            return Err(Denial::Conflict(format!("{key} is at version {current}, not {wanted}")));
        }
        let mut merged = (*old).clone();
        merge(&mut merged, body);
        let new = if status {
            let mut new = (*old).clone();
            put(&mut new, "status", merged.get("status"));
            new
        } else {
            put(&mut merged, "status", old.get("status"));
            guard_meta(&mut merged, &old);
            if merged.get("spec") != old.get("spec") {
                let generation = json::get(&old, &["metadata", "generation"]).and_then(Value::as_i64).unwrap_or(1);
                merged["metadata"]["generation"] = json!(generation + 1);
            }
            merged
        };
        validate::object(key.kind, &new)?;
        validate::change(key.kind, &old, &new)?;
        let stored = self.store(key.clone(), new);
        if json::is_deleting(&stored) && self.may_go(&stored) {
            return Ok(self.drop_object(key).unwrap_or(stored));
        }
        Ok(stored)
    }

    /// A deleted object that nothing holds any more.
    pub(super) fn may_go(&self, object: &Value) -> bool {
        let grace = json::get(object, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64).unwrap_or(0);
        json::list(object, &["metadata", "finalizers"]).is_empty() && grace == 0
    }
}

/// Sets or removes a member.
fn put(object: &mut Value, member: &str, value: Option<&Value>) {
    let Value::Object(members) = object else { return };
    match value {
        Some(value) => drop(members.insert(member.to_owned(), value.clone())),
        None => drop(members.shift_remove(member)),
    }
}

/// What only the server writes stays as it was.
fn guard_meta(new: &mut Value, old: &Value) {
    let fields = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ];
    for field in fields {
        put(&mut new["metadata"], field, json::get(old, &["metadata", field]));
    }
    for field in ["apiVersion", "kind"] {
        put(new, field, old.get(field));
    }
}
