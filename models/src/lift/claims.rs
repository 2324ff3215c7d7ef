//! Planned nodes as NodeClaims. (10-api §4.3)

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::PlannedNode;
use crate::karpenter::{labels, written};
use crate::kube::selector::{Expression, Operator};
use crate::lower::Lowered;
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
    let named = json!({"generateName": format!("{}-", pool.name())});
    let metadata = written::metadata(pool, named, &offers.variants[row.variant]);
    let spec = written::spec(
        requirements(lowered, node),
        Some(&requests),
        [&template.taints, &template.startup_taints],
        &template.node_class,
        template.expire_after.as_deref(),
        template.termination_grace_period.as_deref(),
    );
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
            out.push(written::expression(e));
        }
    }
    let least =
        |key: &str| pool.pool.template.requirements.iter().filter(|e| e.key == key).filter_map(|e| e.min_values).max();
    for (key, values) in pins {
        out.push(written::expression(&Expression {
            key: key.to_owned(),
            operator: Operator::In,
            values,
            min_values: least(key),
        }));
    }
    out
}
