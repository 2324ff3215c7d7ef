//! Reading objects as the API writes them.

use jiff::{Timestamp, Unit};
use millwright_models::kube::meta::Labels;
use serde_json::{Value, json};

/// The text at a path; empty if there is none.
pub fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    get(object, path).and_then(Value::as_str).unwrap_or_default()
}

/// The value at a path.
pub fn get<'a>(object: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, key| value.get(key))
}

/// The list at a path; empty if there is none.
pub fn list<'a>(object: &'a Value, path: &[&str]) -> &'a [Value] {
    get(object, path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub fn time(object: &Value, path: &[&str]) -> Option<Timestamp> {
    text(object, path).parse().ok()
}

pub fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

pub fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

/// Labels or annotations.
pub fn pairs(object: &Value, field: &str) -> Labels {
    let map = get(object, &["metadata", field]).and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}

pub fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    get(object, &["metadata", "annotations", key]).and_then(Value::as_str)
}

pub fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    get(object, &["metadata", "labels", key]).and_then(Value::as_str)
}

/// `metadata.deletionTimestamp` is set.
pub fn is_deleting(object: &Value) -> bool {
    get(object, &["metadata", "deletionTimestamp"]).is_some()
}

/// A condition of the status.
pub fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    list(object, &["status", "conditions"]).iter().find(|c| text(c, &["type"]) == kind)
}

/// Whether a condition is True.
pub fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|c| text(c, &["status"]) == "True")
}

/// Succeeded or failed.
pub fn has_ended(pod: &Value) -> bool {
    matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed")
}

/// The controlling owner.
pub fn controller(object: &Value) -> Option<&Value> {
    let owners = list(object, &["metadata", "ownerReferences"]);
    owners.iter().find(|o| o.get("controller").and_then(Value::as_bool).unwrap_or_default())
}

/// A time as objects carry it: whole seconds.
pub fn stamp(at: Timestamp) -> Value {
    let round = jiff::TimestampRound::new().smallest(Unit::Second).mode(jiff::RoundMode::Floor);
    json!(at.round(round).unwrap_or(at).to_string())
}

/// `conditions` with `kind` set; the transition time moves only with the
/// status.
pub fn with_condition(object: &Value, kind: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    let mut all = list(object, &["status", "conditions"]).to_vec();
    let old = all.iter().position(|c| text(c, &["type"]) == kind);
    let same = old.is_some_and(|i| text(&all[i], &["status"]) == status);
    let since = match old {
        Some(i) if same => all[i]["lastTransitionTime"].clone(),
        _ => stamp(now),
    };
    let new =
        json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since});
    match old {
        Some(i) => all[i] = new,
        None => all.push(new),
    }
    Value::Array(all)
}
