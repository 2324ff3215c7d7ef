//! What each pool uses of its limits: nodes, claims on their way at the most
//! they could come to, and claims that are only being asked for. Everything
//! that buys asks here, so that nothing is bought twice from one room.

use std::collections::BTreeMap;

use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::selector::Operator;
use millwright_models::resources::Resources;
use serde_json::Value;

use super::ask::{Ask, Kind};
use super::desk::Desk;
use super::view::View;
use crate::nodes::StateNode;
use crate::pods::DISRUPTED;

const NODES: &str = "nodes";

/// Usage of the pools that have limits.
pub struct Ledger<'v, 'w> {
    view: &'v View<'w>,
    used: BTreeMap<String, Resources>,
}

/// A limit that stands against a purchase.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("NodePool {pool} would use {used} of {limit} {resource}")]
pub struct OverLimit {
    pub pool: String,
    pub resource: String,
    pub used: i64,
    pub limit: i64,
}

impl<'v, 'w> Ledger<'v, 'w> {
    /// Counts what there is and what is being asked for.
    pub fn new(view: &'v View<'w>, desk: &Desk) -> Self {
        let mut ledger = Self { view, used: BTreeMap::new() };
        for node in view.nodes.iter().filter(|n| !is_leaving(n)) {
            let Some(pool) = node.pool().and_then(|p| view.world.node_pool(p)).filter(|p| has_limits(p)) else {
                continue;
            };
            let amount = ledger.of_node(node, pool);
            ledger.add(pool.name(), &amount);
        }
        for sent in desk.under_way() {
            let Ask::Create { target, object } = &sent.ask else { continue };
            if target.kind != Kind::NodeClaim || view.world.node_claim(&target.name).is_some() {
                continue;
            }
            let Some(pool) = pool_of(object).and_then(|p| view.world.node_pool(p)).filter(|p| has_limits(p)) else {
                continue;
            };
            let amount = ledger.of_types(pool, &types_of(object));
            ledger.add(pool.name(), &amount);
        }
        ledger
    }

    /// Enters a claim to be bought, unless a limit stands against it.
    pub fn enter(&mut self, object: &Value) -> Result<(), OverLimit> {
        let Some(pool) = pool_of(object).and_then(|p| self.view.world.node_pool(p)).filter(|p| has_limits(p)) else {
            return Ok(());
        };
        let amount = self.of_types(pool, &types_of(object));
        let mut used = self.used.get(pool.name()).cloned().unwrap_or_default();
        used.add(&amount);
        for (resource, limit) in limits(pool) {
            if used.get(&resource) > limit && amount.get(&resource) > 0 {
                let pool = pool.name().to_owned();
                return Err(OverLimit { pool, used: used.get(&resource), resource, limit });
            }
        }
        self.used.insert(pool.name().to_owned(), used);
        Ok(())
    }

    /// A limit that the pool is beyond already. Replacements may be bought up
    /// to here, since what they replace goes.
    pub fn exceeded(&self, pool: &NodePool) -> Option<OverLimit> {
        let used = self.used.get(pool.name())?;
        limits(pool).find(|(resource, limit)| used.get(resource) > *limit).map(|(resource, limit)| OverLimit {
            pool: pool.name().to_owned(),
            used: used.get(&resource),
            resource,
            limit,
        })
    }

    fn add(&mut self, pool: &str, amount: &Resources) {
        self.used.entry(pool.to_owned()).or_default().add(amount);
    }

    fn of_node(&self, node: &StateNode<'w>, pool: &NodePool) -> Resources {
        let mut amount = node.node.map(|n| n.capacity.clone()).unwrap_or_default();
        if let Some(claim) = node.claim {
            if claim.capacity.is_empty() && node.node.is_none() {
                return self.of_types(pool, &types_of_claim(claim));
            }
            amount.raise(&claim.capacity);
        }
        amount.set(NODES, 1);
        amount
    }

    /// The most that a claim of one of these types can come to.
    fn of_types(&self, pool: &NodePool, names: &[String]) -> Resources {
        let types = self.view.types.get(pool.name()).and_then(|types| types.as_ref().ok());
        let mut most = Resources::default();
        for kind in types.into_iter().flat_map(|t| &t.types).filter(|t| names.iter().any(|n| **n == *t.name)) {
            most.raise(&kind.capacity);
        }
        most.set(NODES, 1);
        most
    }
}

/// On its way out by its own word or its taint.
fn is_leaving(node: &StateNode<'_>) -> bool {
    let deleting = node.claim.is_some_and(|c| c.meta.deletion_timestamp.is_some())
        || node.node.is_some_and(|n| n.meta.deletion_timestamp.is_some());
    deleting || node.is_terminating_instance() || node.node.is_some_and(|n| n.taints.iter().any(|t| t.key == DISRUPTED))
}

fn has_limits(pool: &NodePool) -> bool {
    !pool.limits.is_empty() || pool.node_limit.is_some()
}

fn limits(pool: &NodePool) -> impl Iterator<Item = (String, i64)> + '_ {
    let nodes = pool.node_limit.map(|n| (NODES.to_owned(), n));
    pool.limits.iter().map(|(r, l)| (r.to_owned(), l)).chain(nodes)
}

/// The pool of a claim that is to be made.
pub fn pool_of(object: &Value) -> Option<&str> {
    object["metadata"]["labels"][labels::NODEPOOL].as_str().or_else(|| {
        let values = requirement(object, labels::NODEPOOL)?;
        values.first()?.as_str()
    })
}

fn requirement<'v>(object: &'v Value, key: &str) -> Option<&'v Vec<Value>> {
    let all = object["spec"]["requirements"].as_array()?;
    all.iter().find(|r| r["key"] == key && r["operator"] == "In")?["values"].as_array()
}

fn types_of(object: &Value) -> Vec<String> {
    let values = requirement(object, labels::INSTANCE_TYPE);
    values.into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

fn types_of_claim(claim: &NodeClaim) -> Vec<String> {
    let of_type = claim.requirements.iter().find(|r| r.key == labels::INSTANCE_TYPE && r.operator == Operator::In);
    of_type.map(|r| r.values.clone()).unwrap_or_default()
}
