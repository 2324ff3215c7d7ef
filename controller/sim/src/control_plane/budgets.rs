//! The disruption controller: what PodDisruptionBudgets allow now.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use millwright_models::kube::selector::LabelSelector;
use serde_json::{Map, Value, json};

use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

/// An eviction that was allowed counts this long without its deletion.
const DISRUPTED_FOR: SignedDuration = SignedDuration::from_mins(2);

/// Counts the pods of every budget.
pub fn run(stage: &mut Stage) {
    let budgets: Vec<(Key, Arc<Value>)> = stage.server.all(Kind::Budget).map(|(k, o)| (k.clone(), o.clone())).collect();
    for (key, budget) in budgets {
        let status = status(stage, &key, &budget);
        if budget.get("status") != Some(&status) {
            // The whole map is replaced, so that what is over goes.
            drop(stage.server.patch(&key, true, &json!({"status": {"disruptedPods": null}})));
            drop(stage.server.patch(&key, true, &json!({"status": status})));
        }
    }
}

fn status(stage: &Stage, key: &Key, budget: &Value) -> Value {
    let selector = budget["spec"].get("selector").cloned().unwrap_or_default();
    let Ok(selector) = serde_json::from_value::<LabelSelector>(selector) else { return Value::Null };
    let covered = |k: &Key, p: &Value| k.namespace == key.namespace && selector.matches(&json::pairs(p, "labels"));
    let pods: Vec<(&Key, &Arc<Value>)> =
        stage.server.all(Kind::Pod).filter(|(k, p)| covered(k, p) && !json::has_ended(p)).collect();
    let recorded = json::get(budget, &["status", "disruptedPods"]).and_then(Value::as_object);
    let mut disrupted = Map::new();
    for (name, at) in recorded.into_iter().flatten() {
        let still = pods.iter().any(|(k, p)| k.name == *name && !json::is_deleting(p));
        let since = at.as_str().and_then(|t| t.parse::<jiff::Timestamp>().ok());
        if still && since.is_some_and(|t| stage.now().duration_since(t) < DISRUPTED_FOR) {
            disrupted.insert(name.clone(), at.clone());
        }
    }
    let is_healthy =
        |k: &Key, p: &Value| json::is_true(p, "Ready") && !json::is_deleting(p) && !disrupted.contains_key(&k.name);
    let healthy = pods.iter().filter(|(k, p)| is_healthy(k, p)).count() as i64;
    let expected = expected(stage, &pods);
    let desired = match (budget["spec"].get("minAvailable"), budget["spec"].get("maxUnavailable")) {
        (Some(least), _) => amount(least, expected),
        (None, Some(most)) => (expected - amount(most, expected)).max(0),
        (None, None) => 1,
    };
    let allowed = if expected == 0 { 0 } else { (healthy - desired).max(0) };
    let mut status = json!({
        "observedGeneration": budget["metadata"]["generation"],
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "disruptionsAllowed": allowed,
    });
    if !disrupted.is_empty() {
        status["disruptedPods"] = Value::Object(disrupted);
    }
    status
}

/// Replicas of the workloads that the pods belong to; a pod of none counts
/// itself.
fn expected(stage: &Stage, pods: &[(&Key, &Arc<Value>)]) -> i64 {
    let mut owners: BTreeMap<Key, i64> = BTreeMap::new();
    let mut alone = 0;
    for (key, pod) in pods {
        let owner = json::controller(pod).and_then(|o| {
            let kind = Kind::of(json::text(o, &["apiVersion"]), json::text(o, &["kind"]))?;
            Some(Key::new(kind, &key.namespace, json::text(o, &["name"])))
        });
        match owner.and_then(|o| Some((stage.server.get(&o)?, o))) {
            Some((set, owner)) => {
                let replicas = json::get(set, &["spec", "replicas"]).and_then(Value::as_i64).unwrap_or(1);
                owners.insert(owner, replicas);
            }
            None => alone += 1,
        }
    }
    owners.values().sum::<i64>() + alone
}

/// A number, or a percentage of `whole` rounded up.
fn amount(value: &Value, whole: i64) -> i64 {
    let percent = value.as_str().and_then(|t| t.strip_suffix('%')).and_then(|t| t.parse::<i64>().ok());
    match percent {
        Some(percent) => (whole * percent + 99) / 100,
        None => value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0),
    }
}
