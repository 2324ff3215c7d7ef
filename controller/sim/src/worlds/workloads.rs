//! Workloads, their budgets, and DaemonSets.

use serde_json::{Value, json};

use super::pools::DEDICATED;
use crate::dice::Dice;

/// None to two DaemonSets, in a small cluster one at most; the first runs
/// everywhere.
pub fn daemon_sets(dice: &mut Dice, is_small: bool) -> Vec<Value> {
    let count = dice.between(0, if is_small { 1 } else { 2 });
    let set = |i: i64| {
        let tolerations = if i == 0 { json!([{"operator": "Exists"}]) } else { json!([]) };
        let requests = json!({"cpu": format!("{}m", 50 + 50 * i), "memory": format!("{}Mi", 64 << i)});
        json!({
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": format!("agent-{i}"), "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"app": format!("agent-{i}")}},
                "template": {
                    "metadata": {"labels": {"app": format!("agent-{i}")}},
                    "spec": {
                        "containers": [{"name": "agent", "resources": {"requests": requests}}],
                        "tolerations": tolerations,
                        "terminationGracePeriodSeconds": 5,
                    },
                },
            },
        })
    };
    (0..count).map(set).collect()
}

/// Two to eight ReplicaSets and StatefulSets, some with a budget; in a small
/// cluster one to three of few pods.
pub fn workloads(dice: &mut Dice, zones: &[String], is_small: bool) -> Vec<Value> {
    let (least, most, pods) = if is_small { (1, 3, 4) } else { (2, 8, 7) };
    let count = dice.between(least, most);
    (0..count).flat_map(|i| workload(dice, i, zones, pods)).collect()
}

fn workload(dice: &mut Dice, number: i64, zones: &[String], pods: i64) -> Vec<Value> {
    let app = format!("app-{number}");
    let labels = json!({"app": app});
    let mut spec = json!({
        "containers": [{"name": "main", "resources": {"requests": {
            "cpu": format!("{}m", dice.of([100, 250, 400, 700, 1000, 1600, 2500])),
            "memory": format!("{}Mi", dice.of([128, 512, 900, 1500, 3000, 6000])),
        }}}],
        "terminationGracePeriodSeconds": dice.of([0, 1, 10, 30, 60]),
    });
    if dice.chance(0.35) {
        let key = dice.of(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
        let skew = if key == "kubernetes.io/hostname" { dice.between(1, 3) } else { 1 };
        spec["topologySpreadConstraints"] = json!([{
            "maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": labels},
        }]);
    } else if dice.chance(0.2) {
        spec["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}},
        ]}});
    }
    if dice.chance(0.15) {
        spec["nodeSelector"] = json!({"topology.kubernetes.io/zone": dice.pick(zones)});
    }
    if dice.chance(0.4) {
        spec["tolerations"] = json!([{"key": DEDICATED, "operator": "Exists"}]);
    }
    let mut template = json!({"metadata": {"labels": labels}, "spec": spec});
    if dice.chance(0.1) {
        template["metadata"]["annotations"] = json!({"karpenter.sh/do-not-disrupt": "true"});
    }
    let kind = if dice.chance(0.25) { "StatefulSet" } else { "ReplicaSet" };
    let mut all = vec![json!({
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": app, "namespace": "default"},
        "spec": {"replicas": dice.between(1, pods), "selector": {"matchLabels": labels}, "template": template},
    })];
    if dice.chance(0.5) {
        let mut budget = json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"selector": {"matchLabels": labels}},
        });
        let (field, value) = match dice.between(0, 4) {
            0 => ("minAvailable", json!("50%")),
            1 => ("minAvailable", json!(1)),
            2 => ("maxUnavailable", json!("30%")),
            _ => ("maxUnavailable", json!(1)),
        };
        budget["spec"][field] = value;
        all.push(budget);
    }
    all
}
