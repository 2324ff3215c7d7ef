//! The fields of each kind that is read.

use k8s_openapi::api::{apps, batch, core, node, policy, resource, scheduling, storage};
use k8s_openapi::apimachinery::pkg::apis::meta;
use millwright_models::karpenter::crds;
use serde_json::Value;

use super::probe::schema_of;
use super::schema::Schema;

/// What an object of this kind may have; [`Schema::Any`] for a kind whose
/// fields are not known here.
pub fn schema(group: &str, kind: &str) -> Schema {
    let known = match (group, kind) {
        ("", "Pod") => schema_of::<core::v1::Pod>(),
        ("", "PodTemplate") => schema_of::<core::v1::PodTemplate>(),
        ("", "Node") => schema_of::<core::v1::Node>(),
        ("", "ReplicationController") => schema_of::<core::v1::ReplicationController>(),
        ("", "PersistentVolumeClaim") => schema_of::<core::v1::PersistentVolumeClaim>(),
        ("", "PersistentVolume") => schema_of::<core::v1::PersistentVolume>(),
        ("", "LimitRange") => schema_of::<core::v1::LimitRange>(),
        ("", "Namespace") => schema_of::<core::v1::Namespace>(),
        ("", "Service") => schema_of::<core::v1::Service>(),
        ("apps", "Deployment") => schema_of::<apps::v1::Deployment>(),
        ("apps", "StatefulSet") => schema_of::<apps::v1::StatefulSet>(),
        ("apps", "ReplicaSet") => schema_of::<apps::v1::ReplicaSet>(),
        ("apps", "DaemonSet") => schema_of::<apps::v1::DaemonSet>(),
        ("batch", "Job") => schema_of::<batch::v1::Job>(),
        ("storage.k8s.io", "StorageClass") => schema_of::<storage::v1::StorageClass>(),
        ("storage.k8s.io", "CSINode") => schema_of::<storage::v1::CSINode>(),
        ("storage.k8s.io", "VolumeAttachment") => schema_of::<storage::v1::VolumeAttachment>(),
        ("resource.k8s.io", "ResourceSlice") => schema_of::<resource::v1::ResourceSlice>(),
        ("policy", "PodDisruptionBudget") => schema_of::<policy::v1::PodDisruptionBudget>(),
        ("scheduling.k8s.io", "PriorityClass") => schema_of::<scheduling::v1::PriorityClass>(),
        ("node.k8s.io", "RuntimeClass") => schema_of::<node::v1::RuntimeClass>(),
        _ => return defined(group, kind),
    };
    known.unwrap_or_default()
}

/// The fields in the CustomResourceDefinition of the kind.
fn defined(group: &str, kind: &str) -> Schema {
    let (plural, group) = (kind.to_lowercase(), format!(".{group}"));
    let mut all = crds::ALL.iter();
    let Some(crd) = all.find(|c| c.name.starts_with(&plural) && c.name.ends_with(&group)) else { return Schema::Any };
    let definition: Value = serde_saphyr::from_str(crd.yaml).unwrap_or_default();
    let mut schema = of_openapi(&definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]);
    if let Some(metadata) = schema.field_mut("metadata") {
        *metadata = schema_of::<meta::v1::ObjectMeta>().unwrap_or_default();
    }
    schema
}

/// An OpenAPI schema without its types and patterns.
fn of_openapi(node: &Value) -> Schema {
    if node["x-kubernetes-preserve-unknown-fields"] == true {
        return Schema::Any;
    }
    if let Some(properties) = node["properties"].as_object() {
        return Schema::Fields(properties.iter().map(|(name, s)| (name.clone(), of_openapi(s))).collect());
    }
    if node["items"].is_object() {
        return Schema::List(Box::new(of_openapi(&node["items"])));
    }
    match &node["additionalProperties"] {
        values if values.is_object() => Schema::Map(Box::new(of_openapi(values))),
        _ => Schema::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millwright_models::reader;

    /// A field deep in the kind, to see that its schema goes all the way.
    #[test]
    fn every_kind_that_is_read_has_its_fields() {
        for (group, kind) in reader::kinds() {
            let schema = schema(group, kind);
            let fields = schema.fields().unwrap_or_else(|| panic!("{group} {kind}: no fields"));
            let metadata = fields["metadata"].fields().unwrap_or_else(|| panic!("{kind}: no metadata"));
            assert!(metadata.contains_key("ownerReferences"), "{kind}");
        }
        let home = |group, kind, field| schema(group, kind).home(field).unwrap_or_default();
        assert_eq!(home("apps", "Deployment", "nodeSelector"), "spec.template.spec");
        assert_eq!(
            home("", "Pod", "nodeSelectorTerms"),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        );
        assert_eq!(home("batch", "Job", "completions"), "spec");
        assert_eq!(home("karpenter.sh", "NodePool", "consolidateAfter"), "spec.disruption");
        assert_eq!(home("karpenter.k8s.aws", "EC2NodeClass", "httpTokens"), "spec.metadataOptions");
        assert_eq!(home("storage.k8s.io", "CSINode", "drivers"), "spec");
    }
}
