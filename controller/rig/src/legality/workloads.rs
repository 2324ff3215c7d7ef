//! The pods that a workload makes, made by other code than the reader's.

use millwright_models::kube::pod::Pod;
use serde_json::{Value, json};

use crate::objects::{Documents, claim_from_template, name, namespace};

/// A pod as its controller would write it, and the claims that come with it.
pub struct Made {
    pub pod: Value,
    pub claims: Vec<Value>,
}

/// The written form of a pod that was read, or of the template that it came
/// from.
pub fn object(documents: &Documents, pod: &Pod) -> Option<Made> {
    if let Some(written) = documents.find("Pod", &pod.namespace, &pod.name) {
        return Some(Made { pod: written.clone(), claims: Vec::new() });
    }
    let owner = pod.owner.as_ref()?;
    let workload = documents.find(&owner.kind, &pod.namespace, &owner.name)?;
    let number = pod.name.rsplit('-').next()?;
    let mut made = workload["spec"]["template"].clone();
    if made["metadata"]["labels"].is_null() {
        made["metadata"]["labels"] = json!({});
    }
    let labels = &mut made["metadata"]["labels"];
    match owner.kind.as_str() {
        "Deployment" => labels["pod-template-hash"] = json!(format!("of-{}", owner.name)),
        "StatefulSet" => {
            labels["statefulset.kubernetes.io/pod-name"] = json!(pod.name);
            labels["apps.kubernetes.io/pod-index"] = json!(number);
        }
        "Job" => {
            labels["batch.kubernetes.io/job-name"] = json!(owner.name);
            labels["job-name"] = json!(owner.name);
        }
        _ => {}
    }
    let mut claims = Vec::new();
    for template in workload["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten() {
        let claim = format!("{}-{}-{number}", name(template), owner.name);
        let volumes = made["spec"]["volumes"].as_array_mut().map(std::mem::take);
        let mut volumes: Vec<Value> = volumes.unwrap_or_default();
        volumes.retain(|v| v["name"] != name(template));
        volumes.push(json!({"name": name(template), "persistentVolumeClaim": {"claimName": claim}}));
        made["spec"]["volumes"] = json!(volumes);
        if documents.find("PersistentVolumeClaim", namespace(workload), &claim).is_none() {
            claims.push(claim_from_template(&claim, namespace(workload), template));
        }
    }
    Some(Made { pod: made, claims })
}
