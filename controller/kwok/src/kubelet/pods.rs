//! Pods run, and end.

use std::time::Duration;

use jiff::Timestamp;
use millwright_runtime::api::{Api, ApiError};
use serde_json::{Value, json};

use super::{Pace, Step};

/// What a pod that is bound to a node does next.
pub fn next(pod: &Value, pace: Pace) -> Option<(Duration, Step)> {
    if pod["spec"]["nodeName"].as_str().is_none_or(str::is_empty) {
        return None;
    }
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or_default();
        return Some((pace.end.min(Duration::from_secs(grace)), Step::End));
    }
    let phase = pod["status"]["phase"].as_str().unwrap_or("Pending");
    (phase == "Pending").then_some((Duration::ZERO, Step::Run))
}

fn path(pod: &Value) -> String {
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default();
    format!("/api/v1/namespaces/{}/pods/{}", text("namespace"), text("name"))
}

/// The pod is Running and Ready.
pub async fn run(api: &Api, pod: &Value) -> Result<(), ApiError> {
    api.patch_strategic(&format!("{}/status", path(pod)), &running(pod, Timestamp::now())).await.map(drop)
}

fn running(pod: &Value, now: Timestamp) -> Value {
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let conditions = ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];
    let conditions: Vec<Value> =
        conditions.iter().map(|c| json!({"type": c, "status": "True", "lastTransitionTime": now})).collect();
    let container = |c: &Value| {
        json!({
            "name": c["name"], "image": c["image"], "imageID": "", "ready": true, "started": true,
            "restartCount": 0, "state": {"running": {"startedAt": now}},
        })
    };
    let containers: Vec<Value> = pod["spec"]["containers"].as_array().into_iter().flatten().map(container).collect();
    json!({
        // Another pod of the name is another pod.
        "metadata": {"uid": pod["metadata"]["uid"]},
        "status": {
            "phase": "Running", "startTime": now, "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}],
            "conditions": conditions, "containerStatuses": containers,
        },
    })
}

/// The pod is gone.
pub async fn end(api: &Api, pod: &Value) -> Result<(), ApiError> {
    let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}});
    api.delete(&path(pod), &options).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { boot: Duration::ZERO, spread: Duration::ZERO, end: Duration::from_secs(5) };

    #[test]
    fn bound_pods_run_and_leaving_ones_end() {
        let mut pod = json!({"metadata": {"name": "p"}, "spec": {}, "status": {"phase": "Pending"}});
        assert_eq!(next(&pod, PACE), None, "it is not bound");
        pod["spec"]["nodeName"] = json!("n1");
        assert_eq!(next(&pod, PACE), Some((Duration::ZERO, Step::Run)));
        pod["status"]["phase"] = json!("Running");
        assert_eq!(next(&pod, PACE), None);
        pod["metadata"]["deletionTimestamp"] = json!("2026-05-01T10:00:00Z");
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(2);
        assert_eq!(next(&pod, PACE), Some((Duration::from_secs(2), Step::End)));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        assert_eq!(next(&pod, PACE), Some((Duration::from_secs(5), Step::End)));
    }

    #[test]
    fn a_running_pod_has_all_its_containers() {
        let pod = json!({"metadata": {"uid": "u"}, "spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}});
        let status = running(&pod, Timestamp::UNIX_EPOCH);
        assert_eq!(status["status"]["containerStatuses"][1]["name"], "b");
        assert_eq!(status["status"]["startTime"], "1970-01-01T00:00:00Z");
        assert_eq!(status["metadata"]["uid"], "u");
    }
}
