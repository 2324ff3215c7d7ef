//! A provisioner of volumes: makes one as soon as the scheduler has chosen a
//! node for the pod that claims it.

use http::StatusCode;
use millwright_models::karpenter::labels;
use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::objects::{self, namespace};

const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Serves the claims of one pod.
pub async fn serve(api: &Api, pod: &Value) -> Result<(), ApiError> {
    for volume in pod["spec"]["volumes"].as_array().into_iter().flatten() {
        let name = match volume["persistentVolumeClaim"]["claimName"].as_str() {
            Some(name) => name.to_owned(),
            None if !volume["ephemeral"].is_null() => format!("{}-{}", objects::name(pod), objects::name_of(volume)),
            None => continue,
        };
        let path = format!("/api/v1/namespaces/{}/persistentvolumeclaims/{name}", namespace(pod));
        let claim = match api.get(&path).await {
            Err(e) if e.is(StatusCode::NOT_FOUND) => continue,
            other => other?,
        };
        let Some(node) = claim["metadata"]["annotations"][SELECTED_NODE].as_str() else { continue };
        if !claim["spec"]["volumeName"].is_null() {
            continue;
        }
        let class = claim["spec"]["storageClassName"].as_str().unwrap_or_default();
        let class = api.get(&format!("/apis/storage.k8s.io/v1/storageclasses/{class}")).await?;
        let driver = class["provisioner"].as_str().unwrap_or_default();
        if driver == "kubernetes.io/no-provisioner" {
            continue;
        }
        let node = api.get(&format!("/api/v1/nodes/{node}")).await?;
        let made = objects::provisioned_volume(&claim, driver, node["metadata"]["labels"][labels::ZONE].as_str());
        match api.post("/api/v1/persistentvolumes", &made).await {
            Err(e) if !e.is(StatusCode::CONFLICT) => return Err(e),
            _ => {}
        }
    }
    Ok(())
}
