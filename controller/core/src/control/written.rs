//! NodeClaims as the API has them.

use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::{NodeClassRef, NodePool};
use millwright_models::karpenter::{hash, labels};
use millwright_models::kube::node::Taint;
use millwright_models::kube::selector::{Expression, Operator};
use millwright_models::quantity;
use millwright_models::resources::Resources;
use serde_json::{Map, Value, json};

use super::edit::taint_written;

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
    let mut spec = spec(
        &claim.requirements,
        [&claim.taints, &claim.startup_taints],
        &claim.node_class,
        claim.expire_after.as_deref(),
        claim.termination_grace_period.as_deref(),
    );
    spec["resources"] = json!({"requests": amounts(&claim.requests)});
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": metadata, "spec": spec})
}

/// A claim of a pool's bare template.
pub fn of_template(pool: &NodePool, name: &str) -> Value {
    let template = &pool.template;
    let mut annotations = template.annotations.clone();
    if let Some(hash) = hash::template_hash(template) {
        annotations.insert(hash::ANNOTATION.to_owned(), hash.to_string());
        annotations.insert(hash::VERSION_ANNOTATION.to_owned(), hash::VERSION.to_owned());
    }
    let mut all = template.labels.clone();
    all.insert(labels::NODEPOOL.to_owned(), pool.name().to_owned());
    all.insert(labels::EC2_NODE_CLASS.to_owned(), template.node_class.name.clone());
    let mut metadata = json!({"name": name, "labels": all, "annotations": annotations});
    if !pool.meta.uid.is_empty() {
        metadata["ownerReferences"] = json!([{
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "name": pool.name(),
            "uid": pool.meta.uid,
            "blockOwnerDeletion": true,
        }]);
    }
    let own = Expression {
        key: labels::NODEPOOL.to_owned(),
        operator: Operator::In,
        values: vec![pool.name().to_owned()],
        min_values: None,
    };
    let requirements: Vec<Expression> = template.requirements.iter().cloned().chain([own]).collect();
    let spec = spec(
        &requirements,
        [&template.taints, &template.startup_taints],
        &template.node_class,
        template.expire_after.as_deref(),
        template.termination_grace_period.as_deref(),
    );
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": metadata, "spec": spec})
}

fn spec(
    requirements: &[Expression],
    [taints, startup]: [&Vec<Taint>; 2],
    class: &NodeClassRef,
    expire_after: Option<&str>,
    grace: Option<&str>,
) -> Value {
    let mut spec = json!({
        "requirements": requirements.iter().map(expression).collect::<Vec<_>>(),
        "nodeClassRef": {"group": class.group, "kind": class.kind, "name": class.name},
        "expireAfter": expire_after.unwrap_or("Never"),
    });
    for (name, list) in [("taints", taints), ("startupTaints", startup)] {
        if !list.is_empty() {
            spec[name] = list.iter().map(taint_written).collect();
        }
    }
    if let Some(grace) = grace {
        spec["terminationGracePeriod"] = json!(grace);
    }
    spec
}

fn expression(expression: &Expression) -> Value {
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

/// Amounts as quantities.
pub fn amounts(amounts: &Resources) -> Value {
    let entries = amounts.iter().map(|(name, amount)| (name.to_owned(), json!(quantity::format(name, amount))));
    Value::Object(entries.collect::<Map<String, Value>>())
}
