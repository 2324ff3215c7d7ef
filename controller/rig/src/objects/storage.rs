//! Volumes and claims, completed where the input leaves out what no plan
//! looks at.

use millwright_models::karpenter::labels;
use serde_json::{Value, json};

use super::{afresh, fresh_metadata};

/// A storage class.
pub fn storage_class(object: &Value) -> Value {
    let mut class = afresh(object);
    if class["provisioner"].is_null() {
        class["provisioner"] = json!("ebs.csi.aws.com");
    }
    class
}

/// A claim.
pub fn claim(object: &Value) -> Value {
    let mut claim = afresh(object);
    complete(&mut claim["spec"]);
    // That it is bound is for the controllers to say.
    if let Some(annotations) = claim["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|key, _| !key.starts_with("pv.kubernetes.io/"));
    }
    claim
}

/// The claim that a StatefulSet makes of one of its templates.
pub fn claim_from_template(name: &str, namespace: &str, template: &Value) -> Value {
    let mut metadata = fresh_metadata(template);
    metadata["name"] = json!(name);
    metadata["namespace"] = json!(namespace);
    let mut spec = template["spec"].clone();
    complete(&mut spec);
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})
}

fn complete(spec: &mut Value) {
    if spec["accessModes"].as_array().is_none_or(Vec::is_empty) {
        spec["accessModes"] = json!(["ReadWriteOnce"]);
    }
    if spec["resources"]["requests"]["storage"].is_null() {
        spec["resources"] = json!({"requests": {"storage": "1Gi"}});
    }
}

/// A volume, bound to the claim that asks for it if there is one.
pub fn volume(object: &Value, claim: Option<&Value>) -> Value {
    let mut volume = afresh(object);
    let spec = &mut volume["spec"];
    if spec["capacity"]["storage"].is_null() {
        spec["capacity"] = json!({"storage": "1Ti"});
    }
    if spec["accessModes"].as_array().is_none_or(Vec::is_empty) {
        spec["accessModes"] = json!(["ReadWriteOnce"]);
    }
    let sources = ["csi", "awsElasticBlockStore", "hostPath", "local", "nfs", "gcePersistentDisk"];
    if sources.iter().all(|s| spec[*s].is_null()) {
        spec["hostPath"] = json!({"path": "/none"});
    }
    if let Some(claim) = claim {
        spec["accessModes"] = claim["spec"]["accessModes"].clone();
        spec["storageClassName"] = claim["spec"]["storageClassName"].clone();
        spec["claimRef"] = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "namespace": super::namespace(claim), "name": super::name(claim)});
    } else if let Some(fields) = spec.as_object_mut() {
        fields.remove("claimRef");
    }
    volume
}

/// What a provisioner makes for a claim once the scheduler has chosen a node
/// in `zone`.
pub fn provisioned_volume(claim: &Value, driver: &str, zone: Option<&str>) -> Value {
    let name = format!("made-{}-{}", super::namespace(claim), super::name(claim));
    let mut spec = json!({
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "accessModes": claim["spec"]["accessModes"],
        "storageClassName": claim["spec"]["storageClassName"],
        "csi": {"driver": driver, "volumeHandle": name},
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": super::namespace(claim),
            "name": super::name(claim), "uid": claim["metadata"]["uid"]},
    });
    if let Some(zone) = zone {
        let here = json!({"key": labels::ZONE, "operator": "In", "values": [zone]});
        spec["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}});
    }
    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})
}
