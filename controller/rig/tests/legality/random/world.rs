//! Everything but the pods that wait.

use serde_json::{Value, json};

use super::{Dice, zone};

pub const APPS: [&str; 4] = ["a", "b", "c", "d"];
pub const NAMESPACES: [&str; 2] = ["default", "other"];

pub fn objects(dice: &mut Dice) -> Vec<Value> {
    let mut all = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {"team": "x"}}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other", "labels": {"team": "y"}}}),
        json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}),
    ];
    for i in 0..dice.between(1, 2) {
        all.push(pool(dice, i));
    }
    for i in 0..dice.below(3) {
        all.push(daemon_set(dice, i));
    }
    for i in 0..dice.below(4) {
        node(dice, i, &mut all);
    }
    storage(dice, &mut all);
    all
}

fn pool(dice: &mut Dice, i: u32) -> Value {
    let mut requirements = Vec::new();
    if dice.chance(30) {
        let zones = if dice.chance(50) { json!(["z1", "z2"]) } else { json!(["z2", "z3"]) };
        requirements.push(json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": zones}));
    }
    let kinds = [json!(["on-demand"]), json!(["spot", "on-demand"]), json!(["spot"])];
    let kinds = &kinds[dice.below(3) as usize];
    requirements.push(json!({"key": "karpenter.sh/capacity-type", "operator": "In", "values": kinds}));
    if dice.chance(40) {
        requirements.push(json!({"key": "rack", "operator": "In", "values": ["r1", "r2"]}));
    }
    if dice.chance(15) {
        requirements.push(json!({"key": "lab.example/cpu", "operator": "Lt", "values": ["10"]}));
    }
    let mut labels = json!({});
    if dice.chance(40) {
        labels["disk"] = json!(dice.pick(&["ssd", "hdd"]));
    }
    let mut template = json!({
        "requirements": requirements, "expireAfter": "Never",
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
    });
    if dice.chance(25) {
        let effect = dice.pick(&["NoSchedule", "NoExecute", "PreferNoSchedule"]);
        template["taints"] = json!([{"key": "team", "value": "x", "effect": effect}]);
    }
    if dice.chance(15) {
        template["startupTaints"] = json!([{"key": "boot", "effect": "NoSchedule"}]);
    }
    let mut spec = json!({
        "template": {"metadata": {"labels": labels}, "spec": template},
        "disruption": {"consolidateAfter": "Never"},
    });
    if dice.chance(25) {
        spec["weight"] = json!(dice.between(1, 9));
    }
    if dice.chance(25) {
        spec["limits"] = json!({"cpu": dice.between(4, 24)});
    }
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": format!("pool-{i}")}, "spec": spec})
}

fn daemon_set(dice: &mut Dice, i: u32) -> Value {
    let name = format!("agent-{i}");
    let mut container = json!({"name": "c", "image": "i",
        "resources": {"requests": {"cpu": format!("{}m", 50 * dice.between(1, 5)), "memory": "64Mi"}}});
    if dice.chance(25) {
        container["ports"] = json!([{"containerPort": 80, "hostPort": 9000 + dice.below(3)}]);
    }
    let mut spec = json!({"containers": [container]});
    if dice.chance(25) {
        spec["nodeSelector"] = json!({"topology.kubernetes.io/zone": zone(dice)});
    }
    if dice.chance(30) {
        spec["tolerations"] = json!([{"operator": "Exists"}]);
    }
    if dice.chance(25) {
        spec["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "karpenter.sh/capacity-type", "operator": "NotIn",
                "values": ["spot"]}]}]}}});
    }
    let labels = json!({"daemon": name});
    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}})
}

/// A node with pods on it.
fn node(dice: &mut Dice, i: u32, all: &mut Vec<Value>) {
    let name = format!("old-{i}");
    let mut labels = json!({
        "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": zone(dice), "karpenter.sh/capacity-type": dice.pick(&["on-demand", "spot"]),
        "node.kubernetes.io/instance-type": "t8", "lab.example/cpu": "8",
    });
    if dice.chance(30) {
        labels["rack"] = json!(dice.pick(&["r1", "r2", "r3"]));
    }
    if dice.chance(30) {
        labels["disk"] = json!("ssd");
    }
    let mut spec = json!({});
    if dice.chance(20) {
        spec["taints"] = json!([{"key": "team", "value": dice.pick(&["x", "y"]), "effect": "NoSchedule"}]);
    }
    if dice.chance(10) {
        spec["unschedulable"] = json!(true);
    }
    let room = json!({"cpu": dice.between(2, 6), "memory": "12Gi", "pods": dice.between(4, 12)});
    all.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}}));
    if dice.chance(30) {
        all.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name},
            "spec": {"drivers": [{"name": "ebs.csi.aws.com", "nodeID": name, "topologyKeys": [],
                "allocatable": {"count": dice.between(1, 3)}}]}}));
    }
    for k in 0..dice.below(4) {
        let app = dice.pick(&APPS);
        let mut spec = json!({"nodeName": name, "containers": [{"name": "c", "image": "i",
            "resources": {"requests": {"cpu": format!("{}m", 100 * dice.between(1, 8)), "memory": "200Mi"}}}]});
        if dice.chance(20) {
            let topology = dice.pick(&["kubernetes.io/hostname", "topology.kubernetes.io/zone"]);
            spec["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": topology, "labelSelector": {"matchLabels": {"app": dice.pick(&APPS)}}}]}});
        }
        if dice.chance(15) {
            spec["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 9000 + dice.below(3)}]);
        }
        let mut meta = json!({"name": format!("run-{i}-{k}"), "namespace": dice.pick(&NAMESPACES),
            "labels": {"app": app, "rev": dice.pick(&["1", "2"])}});
        if dice.chance(10) {
            meta["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        all.push(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": "Running"}}),
        );
    }
}

/// Classes, and a claim `bound-z` in some zone for each namespace.
fn storage(dice: &mut Dice, all: &mut Vec<Value>) {
    all.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
        "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"}));
    let here = json!([{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": [zone(dice)]}]}]);
    all.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "pinned"},
        "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer", "allowedTopologies": here}));
    for (i, namespace) in NAMESPACES.iter().enumerate() {
        let name = format!("volume-{i}");
        let there = json!([{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In",
            "values": [zone(dice)]}]}]);
        all.push(json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "late",
                "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": name},
                "nodeAffinity": {"required": {"nodeSelectorTerms": there}}}}));
        all.push(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "bound", "namespace": namespace,
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "late", "volumeName": name,
                "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Bound"}}));
    }
}
