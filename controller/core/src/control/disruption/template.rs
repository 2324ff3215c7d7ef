//! A claim as a pool's template alone has it: of static pools.

use millwright_models::karpenter::hash;
use millwright_models::karpenter::labels::NODEPOOL;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::node::Taint;
use serde_json::{Value, json};

/// A claim of `pool` without a plan behind it.
pub fn claim(pool: &NodePool) -> Value {
    let template = &pool.template;
    let mut labels = template.labels.clone();
    labels.insert(NODEPOOL.to_owned(), pool.name().to_owned());
    let mut annotations = template.annotations.clone();
    if let Some(hash) = hash::template_hash(template) {
        annotations.insert(hash::ANNOTATION.to_owned(), hash.to_string());
        annotations.insert(hash::VERSION_ANNOTATION.to_owned(), hash::VERSION.to_owned());
    }
    let mut requirements: Vec<Value> = template
        .requirements
        .iter()
        .map(|e| {
            let mut out = json!({"key": e.key, "operator": format!("{:?}", e.operator)});
            if !e.values.is_empty() {
                out["values"] = json!(e.values);
            }
            if let Some(least) = e.min_values {
                out["minValues"] = json!(least);
            }
            out
        })
        .collect();
    requirements.push(json!({"key": NODEPOOL, "operator": "In", "values": [pool.name()]}));
    let class = &template.node_class;
    let mut spec = json!({
        "requirements": requirements,
        "resources": {"requests": {}},
        "nodeClassRef": {"group": class.group, "kind": class.kind, "name": class.name},
        "expireAfter": template.expire_after.clone().unwrap_or_else(|| "Never".to_owned()),
    });
    for (key, taints) in [("taints", &template.taints), ("startupTaints", &template.startup_taints)] {
        if !taints.is_empty() {
            spec[key] = taints.iter().map(written).collect();
        }
    }
    if let Some(grace) = &template.termination_grace_period {
        spec["terminationGracePeriod"] = json!(grace);
    }
    let mut metadata = json!({"labels": labels, "annotations": annotations});
    if !pool.meta.uid.is_empty() {
        metadata["ownerReferences"] = json!([{
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "name": pool.name(),
            "uid": pool.meta.uid,
            "blockOwnerDeletion": true,
        }]);
    }
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": metadata, "spec": spec})
}

fn written(taint: &Taint) -> Value {
    let mut value = json!({"key": taint.key, "effect": taint.effect});
    if !taint.value.is_empty() {
        value["value"] = json!(taint.value);
    }
    value
}
