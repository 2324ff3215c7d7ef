//! What the nodes of a pool offer together. (spec 40 §11)

use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::karpenter::written::amounts;
use millwright_models::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources};
use serde_json::{Value, json};

use crate::control::edit::Edit;
use crate::control::view::View;
use crate::nodes::{Memory, StateNode};

const NODES: &str = "nodes";
const BASE: [&str; 5] = [CPU, EPHEMERAL_STORAGE, MEMORY, NODES, PODS];

/// Writes the counts that are new; tells whether there are any.
pub(super) fn count(pool: &NodePool, view: &View<'_>, memory: &Memory, edit: &mut Edit) -> bool {
    let mut total: Resources = BASE.iter().map(|name| (*name, 0)).collect();
    let mut nodes = 0;
    for node in view.nodes.iter().filter(|n| n.claim.is_some() && n.pool() == Some(pool.name())) {
        if !node.is_marked(memory) {
            total.add(&capacity(node));
            nodes += 1;
        }
    }
    total.set(NODES, nodes);
    let held = &pool.status.resources;
    if *held == total && pool.status.nodes == Some(nodes) {
        return false;
    }
    let mut resources = amounts(&total);
    for (gone, _) in held.iter().filter(|(name, _)| total.entry(name).is_none()) {
        resources[gone] = Value::Null;
    }
    edit.status("resources", resources);
    edit.status("nodes", json!(nodes));
    true
}

/// Of the node once it is initialized; before, of the claim where the node
/// says nothing yet.
fn capacity(node: &StateNode<'_>) -> Resources {
    let (of_node, claim) = (node.node.map(|n| &n.capacity), node.claim.map(|c| &c.capacity));
    match (of_node, claim) {
        (Some(of_node), _) if node.is_initialized() => of_node.clone(),
        (Some(of_node), Some(claim)) if node.is_registered() => {
            let mut all = of_node.clone();
            for (name, amount) in claim.iter().filter(|(name, _)| of_node.get(name) == 0) {
                all.set(name, amount);
            }
            all
        }
        (_, Some(claim)) => claim.clone(),
        (of_node, None) => of_node.cloned().unwrap_or_default(),
    }
}
