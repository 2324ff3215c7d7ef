//! A machine as a Node object.

use jiff::Timestamp;
use millwright_core::control::ask::Instance;
use millwright_core::launch::Offer;
use millwright_models::kube::meta::Labels;
use millwright_models::quantity;
use millwright_models::resources::Resources;
use serde_json::{Map, Value, json};

/// Label of every node made here; its value is the NodeClaim.
pub const MACHINE: &str = "kwok.millwright.dev/nodeclaim";
/// Annotation with the uid of the NodeClaim: what was bought already.
pub const CLAIM_UID: &str = "kwok.millwright.dev/nodeclaim-uid";
/// Annotation with the labels that the machine decides.
pub const FACTS: &str = "kwok.millwright.dev/labels";
/// Annotation with the time at which the machine ended. Its Node may stay a
/// while longer, for its finalizers.
pub const ENDED: &str = "kwok.millwright.dev/ended";
/// What all simulated machines run.
pub const IMAGE: &str = "ami-kwok";

const SCHEME: &str = "kwok://";
/// Set by every machine that joins; taken off by whoever registers it.
const UNREGISTERED: &str = "karpenter.sh/unregistered";

/// The node of a claim.
pub fn node_name(claim: &str) -> String {
    format!("kwok-{claim}")
}

/// The Node object that joins for a claim which became `offer`.
pub fn node(claim: &Value, offer: &Offer) -> Value {
    let meta = &claim["metadata"];
    let text = |field: &str| meta[field].as_str().unwrap_or_default();
    let name = node_name(text("name"));
    let mut labels: Map<String, Value> = meta["labels"].as_object().cloned().unwrap_or_default();
    labels.extend(offer.labels.iter().map(|(k, v)| (k.clone(), json!(v))));
    labels.insert("kubernetes.io/hostname".to_owned(), json!(name));
    labels.insert(MACHINE.to_owned(), json!(text("name")));
    let facts = json!(offer.labels).to_string();
    let now = Timestamp::now();
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": {CLAIM_UID: text("uid"), FACTS: facts},
        },
        "spec": {
            "providerID": format!("{SCHEME}{}/{name}", offer.zone),
            "taints": [{"key": UNREGISTERED, "effect": "NoExecute"}],
        },
        "status": {
            "capacity": amounts(&offer.capacity),
            "allocatable": amounts(&offer.allocatable),
            "conditions": [{
                "type": "Ready",
                "status": "False",
                "reason": "KubeletNotReady",
                "message": "the machine boots",
                "lastHeartbeatTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            }],
            "nodeInfo": {
                "architecture": offer.labels.get("kubernetes.io/arch").map_or("", String::as_str),
                "operatingSystem": offer.labels.get("kubernetes.io/os").map_or("", String::as_str),
                "kubeletVersion": "kwok",
                "bootID": text("uid"),
                "containerRuntimeVersion": "", "kernelVersion": "", "kubeProxyVersion": "", "machineID": "",
                "osImage": "", "systemUUID": "",
            },
        },
    })
}

fn amounts(resources: &Resources) -> Value {
    resources.iter().map(|(name, amount)| (name.to_owned(), json!(quantity::format(name, amount)))).collect()
}

/// The node that a provider id names.
pub fn of_provider_id(provider_id: &str) -> Option<&str> {
    let (_, name) = provider_id.strip_prefix(SCHEME)?.split_once('/')?;
    (!name.is_empty()).then_some(name)
}

/// Whether the machine behind a node has ended.
pub fn has_ended(node: &Value) -> bool {
    !node["metadata"]["annotations"][ENDED].is_null()
}

/// The machine behind a Node object of ours.
pub fn instance(node: &Value) -> Instance {
    let meta = &node["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let facts: Labels =
        meta["annotations"][FACTS].as_str().and_then(|t| serde_json::from_str(t).ok()).unwrap_or_default();
    Instance {
        provider_id: text(&node["spec"]["providerID"]),
        image_id: IMAGE.to_owned(),
        claim: text(&meta["labels"][MACHINE]),
        created: meta["creationTimestamp"].as_str().and_then(|t| t.parse().ok()),
        terminating: has_ended(node),
        labels: facts,
        annotations: Labels::new(),
        capacity: node["status"]["capacity"].clone(),
        allocatable: node["status"]["allocatable"].clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer() -> Offer {
        let labels =
            [("kubernetes.io/arch", "arm64"), ("kubernetes.io/os", "linux"), ("karpenter.sh/capacity-type", "spot")];
        Offer {
            instance_type: "m7g.large".into(),
            zone: "z-a".into(),
            capacity_type: "spot",
            reservation: None,
            price: 1,
            labels: labels.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
            capacity: [("cpu", 2000), ("memory", 8 << 30)].into_iter().collect(),
            allocatable: [("cpu", 1930), ("memory", 7 << 30)].into_iter().collect(),
        }
    }

    #[test]
    fn a_machine_is_what_its_node_says() {
        let claim = json!({"metadata": {"name": "c-1", "uid": "u", "labels": {"team": "blue"}}});
        let node = node(&claim, &offer());
        assert_eq!(node["metadata"]["labels"]["team"], "blue");
        assert_eq!(node["metadata"]["labels"]["kubernetes.io/hostname"], "kwok-c-1");
        assert_eq!(node["status"]["allocatable"], json!({"cpu": "1930m", "memory": "7Gi"}));
        assert_eq!(node["spec"]["taints"][0], json!({"key": "karpenter.sh/unregistered", "effect": "NoExecute"}));
        let machine = instance(&node);
        assert_eq!((machine.claim.as_str(), machine.provider_id.as_str()), ("c-1", "kwok://z-a/kwok-c-1"));
        assert_eq!(machine.labels, offer().labels, "labels of the claim are not the machine's");
        assert!(!machine.terminating);
        assert_eq!(of_provider_id(&machine.provider_id), Some("kwok-c-1"));
        assert_eq!([of_provider_id("aws:///z/i-1"), of_provider_id("kwok://z/")], [None, None]);
    }
}
