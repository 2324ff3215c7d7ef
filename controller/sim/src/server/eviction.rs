//! `pods/eviction`.

use jiff::Timestamp;
use millwright_models::kube::selector::LabelSelector;
use serde_json::{Value, json};

use super::{Denial, Key, Kind, Server};
use crate::json;

impl Server {
    /// Deletes a pod unless a budget holds it. Pods that do not run yet, have
    /// ended or are going already are no budget's business.
    pub fn evict(&mut self, pod: &Key, uid: &str, now: Timestamp) -> Result<(), Denial> {
        let object = self.expect(pod, uid)?;
        let free = json::has_ended(&object)
            || json::text(&object, &["status", "phase"]) == "Pending"
            || json::is_deleting(&object);
        if free {
            return self.delete(pod, uid, None, now);
        }
        let labels = json::pairs(&object, "labels");
        let covers = |b: &Value| {
            let selector = b["spec"].get("selector").cloned().unwrap_or_default();
            serde_json::from_value::<LabelSelector>(selector).is_ok_and(|s| s.matches(&labels))
        };
        let budgets = self.all(Kind::Budget).filter(|(k, b)| k.namespace == pod.namespace && covers(b));
        let budgets: Vec<_> = budgets.map(|(k, b)| (k.clone(), b.clone())).collect();
        match &budgets[..] {
            [] => {}
            [(key, budget)] => {
                if !is_unhealthy_and_free(&object, budget) {
                    let charged = charge(budget, pod, now)?;
                    self.store(key.clone(), charged);
                }
            }
            _ => {
                let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not \
                               support.";
                return Err(Denial::Internal(message.to_owned()));
            }
        }
        self.delete(pod, uid, None, now)
    }
}

fn number(budget: &Value, field: &str) -> i64 {
    json::get(budget, &["status", field]).and_then(Value::as_i64).unwrap_or(0)
}

/// A pod that is unwell may go if the policy says so, or if enough others are
/// well.
fn is_unhealthy_and_free(pod: &Value, budget: &Value) -> bool {
    if json::is_true(pod, "Ready") {
        return false;
    }
    let always = json::text(budget, &["spec", "unhealthyPodEvictionPolicy"]) == "AlwaysAllow";
    let (healthy, desired) = (number(budget, "currentHealthy"), number(budget, "desiredHealthy"));
    always || (desired > 0 && healthy >= desired)
}

/// The budget with one disruption less.
fn charge(budget: &Value, pod: &Key, now: Timestamp) -> Result<Value, Denial> {
    let refuse =
        || Err(Denial::TooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.".to_owned()));
    let generation = json::get(budget, &["metadata", "generation"]).and_then(Value::as_i64).unwrap_or(1);
    if number(budget, "observedGeneration") < generation || number(budget, "disruptionsAllowed") <= 0 {
        return refuse();
    }
    let mut charged = budget.clone();
    charged["status"]["disruptionsAllowed"] = json!(number(budget, "disruptionsAllowed") - 1);
    charged["status"]["disruptedPods"][&pod.name] = json::stamp(now);
    Ok(charged)
}
