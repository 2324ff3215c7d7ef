use serde_json::{Value, json};

use super::redact;

fn cluster() -> Vec<Value> {
    vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "acme-shop", "labels": {"kubernetes.io/metadata.name": "acme-shop", "team": "acme"}}}),
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-10-1-2-3", "uid": "u-1",
                "labels": {"kubernetes.io/hostname": "ip-10-1-2-3", "topology.kubernetes.io/zone": "us-east-1a",
                    "node.kubernetes.io/instance-type": "m7i.large", "acme.com/tier": "gold", "acme.com/slots": "12",
                    "karpenter.sh/nodepool": "acme-pool"},
                "annotations": {"karpenter.sh/do-not-disrupt": "true", "acme.com/owner": "jane@acme.com",
                    "millwright.dev/slots": "{\"slots\":[{\"ns\":\"acme-shop\"}]}"},
                "managedFields": [{"manager": "acme-tool"}]},
            "spec": {"providerID": "aws:///us-east-1a/i-0acme", "taints": [{"key": "acme.com/dedicated", "value": "gold", "effect": "NoSchedule"}]},
            "status": {"addresses": [{"address": "10.1.2.3"}], "capacity": {"cpu": "2"}, "allocatable": {"cpu": "1930m", "acme.com/fpga": "1"},
                "conditions": [{"type": "Ready", "status": "True", "message": "kubelet of acme is posting ready status"}],
                "images": [{"names": ["registry.acme.com/app@sha256:1"]}]}}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "acme-web-1", "namespace": "acme-shop", "labels": {"app": "acme-web"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "acme-web", "uid": "u-9", "controller": true}]},
            "spec": {"nodeName": "ip-10-1-2-3", "schedulerName": "default-scheduler", "priorityClassName": "system-node-critical",
                "serviceAccountName": "acme-robot", "nodeSelector": {"acme.com/tier": "gold"},
                "tolerations": [{"key": "acme.com/dedicated", "operator": "Equal", "value": "gold"}],
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "acme.com/slots", "operator": "Gt", "values": ["8"]}]}]}},
                    "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm":
                        {"topologyKey": "acme.com/tier", "namespaces": ["acme-shop"], "labelSelector": {"matchLabels": {"app": "acme-web"}}}}]}},
                "containers": [{"name": "acme-main", "image": "registry.acme.com/app:1", "command": ["/acme"], "args": ["--acme"],
                    "env": [{"name": "ACME_TOKEN", "value": "secret"}],
                    "resources": {"requests": {"cpu": "500m", "acme.com/fpga": "1"}, "limits": {"memory": "1Gi"}},
                    "ports": [{"containerPort": 80, "hostPort": 8080, "name": "acme-port"}]}],
                "volumes": [{"name": "acme-data", "persistentVolumeClaim": {"claimName": "acme-claim"}},
                    {"name": "s", "secret": {"secretName": "acme-secret"}}]},
            "status": {"phase": "Running", "podIP": "10.1.9.9", "startTime": "2026-11-30T10:00:00Z"}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "acme-web", "namespace": "acme-shop"},
            "spec": {"selector": {"app": "acme-web"}, "externalName": "acme.com", "clusterIP": "10.0.0.9"}}),
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "ip-10-1-2-3"},
            "spec": {"drivers": [{"name": "ebs.csi.aws.com", "nodeID": "i-0acme", "allocatable": {"count": 25}}]}}),
    ]
}

#[test]
fn nothing_of_the_owner_is_left() {
    let text = Value::Array(redact(&cluster())).to_string();
    for private in [
        "acme-",
        "acme.com/tier",
        "gold",
        "10.1.",
        "ip-10",
        "i-0",
        "secret",
        "ACME",
        "jane",
        "registry",
        "u-9",
        "dedicated",
    ] {
        assert!(!text.contains(private), "{private} in {text}");
    }
}

#[test]
fn what_decides_stays_and_references_still_match() {
    let out = redact(&cluster());
    let (node, pod, service) = (&out[1], &out[2], &out[3]);
    assert_eq!(node["metadata"]["labels"]["topology.kubernetes.io/zone"], "us-east-1a");
    assert_eq!(node["metadata"]["labels"]["node.kubernetes.io/instance-type"], "m7i.large");
    assert_eq!(node["metadata"]["annotations"], json!({"karpenter.sh/do-not-disrupt": "true"}));
    assert_eq!(
        node["status"]["allocatable"],
        json!({"cpu": "1930m", "acme.com/fpga": "1"}),
        "resources are counted by name"
    );
    assert_eq!(node["status"]["conditions"], json!([{"type": "Ready", "status": "True"}]));
    let name = &node["metadata"]["name"];
    assert_eq!(pod["spec"]["nodeName"], *name);
    assert_eq!(node["metadata"]["labels"]["kubernetes.io/hostname"], *name);
    assert_eq!(out[4]["metadata"]["name"], *name);
    assert_eq!(out[4]["spec"]["drivers"], json!([{"name": "ebs.csi.aws.com", "allocatable": {"count": 25}}]));
    assert_eq!(pod["metadata"]["namespace"], out[0]["metadata"]["name"]);
    assert_eq!(out[0]["metadata"]["labels"]["kubernetes.io/metadata.name"], out[0]["metadata"]["name"]);
    assert_eq!(service["spec"], json!({"selector": pod["metadata"]["labels"]}));
    let (taint, toleration) = (&node["spec"]["taints"][0], &pod["spec"]["tolerations"][0]);
    assert_eq!((&taint["key"], &taint["value"]), (&toleration["key"], &toleration["value"]));
    let tier = pod["spec"]["nodeSelector"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(node["metadata"]["labels"][tier.0], *tier.1);
    let affinity = &pod["spec"]["affinity"];
    let slots = &affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]["matchExpressions"]
        [0];
    assert_eq!(node["metadata"]["labels"][slots["key"].as_str().unwrap()], "12", "numbers stay comparable");
    assert_eq!(slots["values"], json!(["8"]));
    let term = &affinity["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0];
    assert_eq!(term["weight"], 7);
    assert_eq!(term["podAffinityTerm"]["topologyKey"], json!(tier.0));
    assert_eq!(term["podAffinityTerm"]["labelSelector"]["matchLabels"], pod["metadata"]["labels"]);
    assert_eq!(term["podAffinityTerm"]["namespaces"][0], pod["metadata"]["namespace"]);
    let container = &pod["spec"]["containers"][0];
    assert_eq!(
        container["resources"],
        json!({"requests": {"cpu": "500m", "acme.com/fpga": "1"}, "limits": {"memory": "1Gi"}})
    );
    assert_eq!(container["ports"][0]["hostPort"], 8080);
    assert_eq!(pod["spec"]["priorityClassName"], "system-node-critical");
    assert_eq!(pod["spec"]["schedulerName"], "default-scheduler");
}

#[test]
fn tokens_keep_the_order_of_texts_and_equal_texts_are_equal() {
    let pod = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "n"}});
    let names = ["zebra", "apple", "mango", "apple-2"];
    let out = redact(&names.map(pod));
    let token = |i: usize| out[i]["metadata"]["name"].as_str().unwrap();
    assert!(token(1) < token(3) && token(3) < token(2) && token(2) < token(0));
    assert_eq!(redact(&names.map(pod)), out);
}
