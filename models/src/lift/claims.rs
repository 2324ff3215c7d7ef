//! Planned nodes as NodeClaims. (10-api §4.3)

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::PlannedNode;
use crate::karpenter::{hash, labels};
use crate::kube::selector::{Expression, Operator};
use crate::lower::Lowered;
use crate::quantity;
use crate::resources::Resources;
use crate::world::World;

/// NodeClaims to apply, one per planned node, in the same order.
pub fn node_claims(world: &World, lowered: &Lowered<'_>, nodes: &[PlannedNode]) -> Vec<Value> {
    nodes.iter().map(|n| node_claim(world, lowered, n)).collect()
}

fn node_claim(world: &World, lowered: &Lowered<'_>, node: &PlannedNode) -> Value {
    let row = &lowered.offers.rows[node.row];
    let offers = &lowered.offers.pools[row.pool];
    let pool = offers.pool;
    let template = &pool.template;
    let mut requests = Resources::default();
    for &p in &node.pods {
        requests.add(&world.pods[p].requests);
    }
    let room = &lowered.offers.ptype(row).allocatable;
    for (d, name) in lowered.dims.resources.iter().enumerate() {
        // What the DaemonSets take is the difference of allocatable and capacity left.
        let daemons = room.get(name) - lowered.instance.bins[node.row].capacity[d];
        if requests.entry(name).is_some() && daemons > 0 {
            requests.set(name, requests.get(name).saturating_add(daemons));
        }
    }
    let mut metadata = json!({
        "generateName": format!("{}-", pool.name()),
        "labels": offers.variants[row.variant],
    });
    let mut annotations = template.annotations.clone();
    if let Some(hash) = hash::template_hash(template) {
        annotations.insert(hash::ANNOTATION.to_owned(), hash.to_string());
        annotations.insert(hash::VERSION_ANNOTATION.to_owned(), hash::VERSION.to_owned());
    }
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
    let mut spec = json!({
        "requirements": requirements(lowered, node),
        "resources": {"requests": amounts(&requests)},
        "nodeClassRef": {
            "group": template.node_class.group,
            "kind": template.node_class.kind,
            "name": template.node_class.name,
        },
        "expireAfter": template.expire_after.clone().unwrap_or_else(|| "Never".to_owned()),
    });
    for (name, taints) in [("taints", &template.taints), ("startupTaints", &template.startup_taints)] {
        if !taints.is_empty() {
            spec[name] = taints
                .iter()
                .map(|t| {
                    let mut taint = json!({"key": t.key, "effect": t.effect});
                    if !t.value.is_empty() {
                        taint["value"] = json!(t.value);
                    }
                    taint
                })
                .collect();
        }
    }
    if let Some(grace) = &template.termination_grace_period {
        spec["terminationGracePeriod"] = json!(grace);
    }
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": metadata, "spec": spec})
}

/// Pool requirements, narrowed to what was planned.
fn requirements(lowered: &Lowered<'_>, node: &PlannedNode) -> Vec<Value> {
    let row = &lowered.offers.rows[node.row];
    let pool = &lowered.offers.pools[row.pool];
    let mut types = node.instance_types.clone();
    types.sort();
    let mut pins: BTreeMap<&str, Vec<String>> = BTreeMap::from([
        (labels::INSTANCE_TYPE, types),
        (labels::ZONE, vec![node.zone.clone()]),
        (labels::CAPACITY_TYPE, vec![node.capacity_type.clone()]),
        (labels::OS, vec![row.os.to_string()]),
        (labels::NODEPOOL, vec![node.pool.clone()]),
    ]);
    if let Some(id) = &node.reservation {
        pins.insert(labels::RESERVATION_ID, vec![id.clone()]);
    }
    let mut out: Vec<Value> = Vec::new();
    for e in &pool.pool.template.requirements {
        if let Some(value) = pool.variants[row.variant].get(&e.key) {
            pins.entry(&e.key).or_insert_with(|| vec![value.clone()]);
        }
        if !pins.contains_key(e.key.as_str()) {
            out.push(expression(e));
        }
    }
    let least =
        |key: &str| pool.pool.template.requirements.iter().filter(|e| e.key == key).filter_map(|e| e.min_values).max();
    for (key, values) in pins {
        out.push(expression(&Expression {
            key: key.to_owned(),
            operator: Operator::In,
            values,
            min_values: least(key),
        }));
    }
    out
}

fn expression(e: &Expression) -> Value {
    let mut out = json!({"key": e.key, "operator": format!("{:?}", e.operator)});
    if !e.values.is_empty() {
        out["values"] = json!(e.values);
    }
    if let Some(n) = e.min_values {
        out["minValues"] = json!(n);
    }
    out
}

fn amounts(resources: &Resources) -> Value {
    resources.iter().map(|(name, amount)| (name.to_owned(), json!(quantity::format(name, amount)))).collect()
}
