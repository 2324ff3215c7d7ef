//! Objects that the API server does not take: those of the checks that a
//! controller could fail.

use serde_json::Value;

use super::{Denial, Kind};
use crate::json;

/// Checks a new state.
pub fn object(kind: Kind, object: &Value) -> Result<(), Denial> {
    for field in ["labels", "annotations"] {
        let Some(map) = json::get(object, &["metadata", field]) else { continue };
        let fine = map.as_object().is_some_and(|m| m.values().all(Value::is_string));
        if !fine && !map.is_null() {
            return invalid(format!("metadata.{field}: must map texts to texts: {map}"));
        }
    }
    if json::list(object, &["metadata", "finalizers"]).iter().any(|f| !f.is_string()) {
        return invalid("metadata.finalizers: must be texts".to_owned());
    }
    if let Some(owner) = json::list(object, &["metadata", "ownerReferences"])
        .iter()
        .find(|o| ["apiVersion", "kind", "name", "uid"].iter().any(|f| json::text(o, &[f]).is_empty()))
    {
        return invalid(format!("metadata.ownerReferences: incomplete: {owner}"));
    }
    if matches!(kind, Kind::NodeClaim | Kind::NodePool | Kind::NodeClass) {
        json::list(object, &["status", "conditions"]).iter().try_for_each(condition)?;
    }
    if kind == Kind::NodeClaim && json::get(object, &["spec", "nodeClassRef"]).is_none() {
        return invalid("spec.nodeClassRef: required".to_owned());
    }
    Ok(())
}

/// A condition as the CRDs demand it.
fn condition(condition: &Value) -> Result<(), Denial> {
    for field in ["type", "status", "reason", "lastTransitionTime"] {
        if json::text(condition, &[field]).is_empty() {
            return invalid(format!("status.conditions: {field} is required: {condition}"));
        }
    }
    if condition.get("message").and_then(Value::as_str).is_none() {
        return invalid(format!("status.conditions: message is required: {condition}"));
    }
    if !matches!(json::text(condition, &["status"]), "True" | "False" | "Unknown") {
        return invalid(format!("status.conditions: status: {condition}"));
    }
    if json::time(condition, &["lastTransitionTime"]).is_none() {
        return invalid(format!("status.conditions: lastTransitionTime is no time: {condition}"));
    }
    let reason = json::text(condition, &["reason"]);
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let inner = reason.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ':'));
    let first = reason.starts_with(|c: char| c.is_ascii_alphabetic());
    if !(first && inner && edge(reason.chars().last())) {
        return invalid(format!("status.conditions: reason {reason:?} is no CamelCase word"));
    }
    Ok(())
}

/// Checks a change.
pub fn change(kind: Kind, old: &Value, new: &Value) -> Result<(), Denial> {
    if json::is_deleting(old) {
        let had = json::list(old, &["metadata", "finalizers"]);
        if let Some(added) = json::list(new, &["metadata", "finalizers"]).iter().find(|f| !had.contains(f)) {
            return invalid(format!("metadata.finalizers: no new finalizer ({added}) while the object is deleted"));
        }
    }
    let same = |path: &[&str]| json::get(old, path) == json::get(new, path);
    match kind {
        Kind::NodeClaim if !same(&["spec"]) => invalid("spec: is immutable".to_owned()),
        Kind::Pod if !same(&["spec", "nodeName"]) => invalid("spec.nodeName: pods are bound by binding".to_owned()),
        Kind::Pod if !(same(&["spec", "containers"]) && same(&["spec", "affinity"])) => {
            invalid("spec: pod updates may not change these fields".to_owned())
        }
        Kind::Node if !json::text(old, &["spec", "providerID"]).is_empty() && !same(&["spec", "providerID"]) => {
            invalid("spec.providerID: may not change".to_owned())
        }
        _ => Ok(()),
    }
}

fn invalid(message: String) -> Result<(), Denial> {
    Err(Denial::Invalid(message))
}
