//! NodePools and their class.

use serde_json::{Value, json};

use crate::dice::Dice;

/// Taint of the pool that only pods who tolerate it use.
pub const DEDICATED: &str = "example.com/dedicated";

/// A class that is ready.
pub fn node_class(zones: &[String]) -> Value {
    let subnets: Vec<Value> = zones.iter().map(|z| json!({"id": format!("subnet-{z}"), "zone": z})).collect();
    json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {"amiFamily": "AL2023", "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "node"},
        "status": {
            "subnets": subnets,
            "amis": [{"id": "ami-1", "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}],
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Ready", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        },
    })
}

/// One to three pools, the first open to all.
pub fn node_pools(dice: &mut Dice) -> Vec<Value> {
    let count = dice.between(1, 3);
    (0..count).map(|i| node_pool(dice, i)).collect()
}

fn node_pool(dice: &mut Dice, number: i64) -> Value {
    let kinds = match dice.between(0, 3) {
        0 => json!(["spot", "on-demand"]),
        1 if number > 0 => json!(["spot"]),
        _ => json!(["on-demand"]),
    };
    let mut template = json!({
        "requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": kinds},
            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
            {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
        ],
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        "expireAfter": if dice.chance(0.2) { json!(format!("{}m", dice.between(20, 60))) } else { json!("Never") },
    });
    if dice.chance(0.4) {
        template["terminationGracePeriod"] = json!(format!("{}m", dice.between(2, 10)));
    }
    if number == 2 {
        template["taints"] = json!([{"key": DEDICATED, "value": "x", "effect": "NoSchedule"}]);
    }
    let name = match number {
        0 => "general",
        1 => "second",
        _ => "dedicated",
    };
    let nodes = dice.of(["10%", "50%", "100%", "1", "2"]);
    let mut pool = json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {
            "template": {"metadata": {"labels": {"team": format!("t{number}")}}, "spec": template},
            "disruption": {
                "consolidationPolicy": if dice.chance(0.8) { "WhenEmptyOrUnderutilized" } else { "WhenEmpty" },
                "consolidateAfter": dice.of(["0s", "30s", "2m", "Never"]),
                "budgets": [{"nodes": nodes}],
            },
        },
    });
    if dice.chance(0.3) {
        pool["spec"]["limits"] = json!({"cpu": dice.between(8, 48).to_string()});
    }
    if dice.chance(0.3) {
        pool["spec"]["weight"] = json!(dice.between(1, 20));
    }
    pool
}
