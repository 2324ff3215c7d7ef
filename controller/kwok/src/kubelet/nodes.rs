//! Machines boot.

use std::time::Duration;

use jiff::Timestamp;
use millwright_runtime::api::{Api, ApiError};
use serde_json::{Value, json};

use super::Pace;
use crate::machine::{MACHINE, has_ended};

/// How long until a node of ours is Ready, if it boots.
pub fn boots_in(node: &Value, pace: Pace) -> Option<Duration> {
    let meta = &node["metadata"];
    if meta["labels"][MACHINE].is_null() || has_ended(node) || is_ready(node) {
        return None;
    }
    let born: Timestamp = meta["creationTimestamp"].as_str()?.parse().ok()?;
    let age = Duration::try_from(Timestamp::now().duration_since(born)).unwrap_or_default();
    Some((pace.boot + share(meta["name"].as_str().unwrap_or_default(), pace.spread)).saturating_sub(age))
}

fn is_ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
}

/// A part of `span`, the same for equal names.
fn share(name: &str, span: Duration) -> Duration {
    let sum = name.bytes().fold(7u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b)));
    span * (sum % 101) / 100
}

/// The node is Ready.
pub async fn boot(api: &Api, node: &Value) -> Result<(), ApiError> {
    let name = node["metadata"]["name"].as_str().unwrap_or_default();
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let ready = json!({
        "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status",
        "lastHeartbeatTime": now, "lastTransitionTime": now,
    });
    let path = format!("/api/v1/nodes/{name}/status");
    api.patch_strategic(&path, &json!({"status": {"conditions": [ready]}})).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { boot: Duration::from_secs(60), spread: Duration::from_secs(10), end: Duration::ZERO };

    fn node(ready: &str) -> Value {
        json!({
            "metadata": {"name": "n1", "labels": {MACHINE: "c"}, "creationTimestamp": Timestamp::now().to_string()},
            "status": {"conditions": [{"type": "Ready", "status": ready}]},
        })
    }

    #[test]
    fn only_machines_of_ours_that_are_not_ready_boot() {
        let wait = boots_in(&node("False"), PACE).unwrap();
        assert!(wait > Duration::from_secs(58) && wait <= Duration::from_secs(70), "{wait:?}");
        assert_eq!(boots_in(&node("True"), PACE), None);
        let mut other = node("False");
        other["metadata"]["labels"] = json!({});
        assert_eq!(boots_in(&other, PACE), None);
        let mut old = node("False");
        old["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(boots_in(&old, PACE), Some(Duration::ZERO));
    }

    #[test]
    fn equal_names_take_equal_time() {
        let span = Duration::from_secs(10);
        assert_eq!(share("a", span), share("a", span));
        assert_ne!(share("a", span), share("b", span));
        assert!(share("whatever", span) <= span);
    }
}
