//! NodeClaims as the API has them.

use serde_json::{Map, Value, json};

use super::nodeclaim::NodeClaim;
use super::nodepool::{NodeClassRef, NodePool};
use super::{hash, labels};
use crate::kube::meta::Labels;
use crate::kube::node::Taint;
use crate::kube::selector::{Expression, Operator};
use crate::quantity;
use crate::resources::Resources;

/// What a provider needs to know of a claim to buy a machine for it.
pub fn claim(claim: &NodeClaim) -> Value {
    let meta = &claim.meta;
    let mut metadata = json!({
        "name": meta.name,
        "uid": meta.uid,
        "labels": meta.labels,
        "annotations": meta.annotations,
    });
    if let Some(created) = meta.creation_timestamp {
        metadata["creationTimestamp"] = json!(created.to_string());
    }
    let spec = spec(
        claim.requirements.iter().map(expression).collect(),
        Some(&claim.requests),
        [&claim.taints, &claim.startup_taints],
        &claim.node_class,
        claim.expire_after.as_deref(),
        claim.termination_grace_period.as_deref(),
    );
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": metadata, "spec": spec})
}

/// A claim of a pool's bare template.
pub fn of_template(pool: &NodePool, name: &str) -> Value {
    let template = &pool.template;
    let mut all = template.labels.clone();
    all.insert(labels::NODEPOOL.to_owned(), pool.name().to_owned());
    all.insert(labels::EC2_NODE_CLASS.to_owned(), template.node_class.name.clone());
    let metadata = metadata(pool, json!({"name": name}), &all);
    let own = Expression {
        key: labels::NODEPOOL.to_owned(),
        operator: Operator::In,
        values: vec![pool.name().to_owned()],
        min_values: None,
    };
    let spec = spec(
        template.requirements.iter().chain([&own]).map(expression).collect(),
        None,
        [&template.taints, &template.startup_taints],
        &template.node_class,
        template.expire_after.as_deref(),
        template.termination_grace_period.as_deref(),
    );
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": metadata, "spec": spec})
}

/// Metadata of a claim of `pool`: whose it is, and by which template. `named`
/// has its name, or how names begin.
pub fn metadata(pool: &NodePool, named: Value, labels: &Labels) -> Value {
    let mut annotations = pool.template.annotations.clone();
    if let Some(hash) = hash::template_hash(&pool.template) {
        annotations.insert(hash::ANNOTATION.to_owned(), hash.to_string());
        annotations.insert(hash::VERSION_ANNOTATION.to_owned(), hash::VERSION.to_owned());
    }
    let mut metadata = named;
    metadata["labels"] = json!(labels);
    metadata["annotations"] = json!(annotations);
    if !pool.meta.uid.is_empty() {
        metadata["ownerReferences"] = json!([{
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "name": pool.name(),
            "uid": pool.meta.uid,
            "blockOwnerDeletion": true,
        }]);
    }
    metadata
}

/// `spec` of a claim; the requirements are written already.
pub fn spec(
    requirements: Vec<Value>,
    requests: Option<&Resources>,
    [taints, startup]: [&Vec<Taint>; 2],
    class: &NodeClassRef,
    expire_after: Option<&str>,
    grace: Option<&str>,
) -> Value {
    let mut spec = json!({"requirements": requirements});
    if let Some(requests) = requests {
        spec["resources"] = json!({"requests": amounts(requests)});
    }
    spec["nodeClassRef"] = json!({"group": class.group, "kind": class.kind, "name": class.name});
    spec["expireAfter"] = json!(expire_after.unwrap_or("Never"));
    for (name, list) in [("taints", taints), ("startupTaints", startup)] {
        if !list.is_empty() {
            spec[name] = list.iter().map(taint).collect();
        }
    }
    if let Some(grace) = grace {
        spec["terminationGracePeriod"] = json!(grace);
    }
    spec
}

/// A requirement.
pub fn expression(expression: &Expression) -> Value {
    let operator = match expression.operator {
        Operator::In => "In",
        Operator::NotIn => "NotIn",
        Operator::Exists => "Exists",
        Operator::DoesNotExist => "DoesNotExist",
        Operator::Gt => "Gt",
        Operator::Lt => "Lt",
        Operator::Gte => "Gte",
        Operator::Lte => "Lte",
    };
    let mut value = json!({"key": expression.key, "operator": operator});
    if !expression.values.is_empty() {
        value["values"] = json!(expression.values);
    }
    if let Some(least) = expression.min_values {
        value["minValues"] = json!(least);
    }
    value
}

/// A taint.
pub fn taint(taint: &Taint) -> Value {
    let mut value = json!({"key": taint.key, "effect": taint.effect});
    if !taint.value.is_empty() {
        value["value"] = json!(taint.value);
    }
    if let Some(at) = taint.time_added {
        value["timeAdded"] = json!(at.to_string());
    }
    value
}

/// Amounts as quantities.
pub fn amounts(amounts: &Resources) -> Value {
    let entries = amounts.iter().map(|(name, amount)| (name.to_owned(), json!(quantity::format(name, amount))));
    Value::Object(entries.collect::<Map<String, Value>>())
}
