//! Node classes: nothing has to be looked up for simulated machines, so every
//! class is ready.

use std::time::Duration;

use jiff::Timestamp;
use millwright_runtime::api::Api;
use millwright_runtime::kinds::Watched;
use millwright_runtime::watch::{News, follow};
use serde_json::{Value, json};
use tokio::sync::mpsc;

const CLASS: Watched =
    Watched { api_version: "karpenter.k8s.aws/v1", kind: "EC2NodeClass", plural: "ec2nodeclasses", required: false };

/// Between two attempts.
const AGAIN: Duration = Duration::from_secs(1);

/// What a class must be for Karpenter to use it, the root last.
const CONDITIONS: [&str; 8] = [
    "SubnetsReady",
    "SecurityGroupsReady",
    "AMIsReady",
    "InstanceProfileReady",
    "PlacementGroupReady",
    "CapacityReservationsReady",
    "ValidationSucceeded",
    "Ready",
];

/// Makes every node class ready, until the task is dropped.
pub async fn tend(api: Api) {
    let (news, mut taken) = mpsc::channel(64);
    let watching = follow(api.clone(), CLASS, news);
    let tending = async {
        while let Some(one) = taken.recv().await {
            let News::Applied(class) = one else { continue };
            let Some(status) = missing(&class, Timestamp::now()) else { continue };
            let name = class["metadata"]["name"].as_str().unwrap_or_default();
            let path = format!("{}/{name}/status", CLASS.path());
            let body = json!({"metadata": {"resourceVersion": class["metadata"]["resourceVersion"]}, "status": status});
            // Not before the lease is ours; a newer version comes by itself.
            while let Err(error) = api.patch(&path, &body).await
                && !error.is_conflict()
                && !error.is_not_found()
            {
                tracing::debug!(EC2NodeClass = name, error = %error, "a node class is not made ready yet");
                tokio::time::sleep(AGAIN).await;
            }
        }
    };
    tokio::join!(watching, tending);
}

/// The status that makes a class ready, unless it is.
fn missing(class: &Value, now: Timestamp) -> Option<Value> {
    let generation = &class["metadata"]["generation"];
    let conditions = class["status"]["conditions"].as_array();
    let is_ready = conditions
        .into_iter()
        .flatten()
        .any(|c| c["type"] == "Ready" && c["status"] == "True" && c["observedGeneration"] == *generation);
    if is_ready || !class["metadata"]["deletionTimestamp"].is_null() {
        return None;
    }
    let at = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let condition = |kind: &&str| {
        json!({
            "type": kind, "status": "True", "reason": kind, "message": "",
            "lastTransitionTime": at, "observedGeneration": generation,
        })
    };
    Some(json!({"conditions": CONDITIONS.iter().map(condition).collect::<Vec<_>>()}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_made_ready_once_per_generation() {
        let mut class = json!({"metadata": {"name": "default", "generation": 1}});
        let status = missing(&class, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(status["conditions"].as_array().unwrap().len(), CONDITIONS.len());
        class["status"] = status;
        assert_eq!(missing(&class, Timestamp::UNIX_EPOCH), None);
        class["metadata"]["generation"] = json!(2);
        assert!(missing(&class, Timestamp::UNIX_EPOCH).is_some());
        class["metadata"]["deletionTimestamp"] = json!("2026-05-01T10:00:00Z");
        assert_eq!(missing(&class, Timestamp::UNIX_EPOCH), None);
    }
}
