//! The conditions that tell what disruption thinks of a claim:
//! `Consolidatable` and `Drifted`. (spec 30 §§9.3 and 17.1)

use jiff::Timestamp;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::NodePool;

use super::marks;
use crate::consolidatable::{Consolidatable, consolidatable};
use crate::control::desk::{Desk, Part};
use crate::control::view::View;
use crate::drift::{Drift, drift};
use crate::nodes::StateNode;

/// How a node has drifted from its pool, if it has.
pub fn drifted(view: &View<'_>, node: &StateNode<'_>) -> Option<Drift> {
    let claim = node.claim.filter(|c| c.meta.deletion_timestamp.is_none() && c.is("Launched"))?;
    let pool = pool_of(view, claim)?;
    let class = view.world.node_class(&pool.template.node_class.name);
    drift(claim, pool, class, view.catalog, view.now)
}

fn pool_of<'v>(view: &View<'v>, claim: &NodeClaim) -> Option<&'v NodePool> {
    view.world.node_pool(claim.meta.labels.get(millwright_models::karpenter::labels::NODEPOOL)?)
}

/// Brings the conditions of every claim up to date.
pub fn set(view: &View<'_>, desk: &mut Desk) {
    for node in &view.nodes {
        let Some(claim) = node.claim.filter(|c| c.meta.deletion_timestamp.is_none()) else { continue };
        let Some(pool) = pool_of(view, claim) else { continue };
        let drift = drifted(view, node).map(Drift::as_str);
        let quiet = pool.replicas.is_none() && is_quiet(claim, pool, view.now, desk);
        let wanted = [
            ("Consolidatable", quiet.then_some(("Consolidatable", ""))),
            ("Drifted", drift.map(|reason| (reason, reason))),
        ];
        if let Some(ask) = marks::conditions(claim, &wanted, view.now) {
            desk.ask(Part::Disruption, ask);
        }
    }
}

fn is_quiet(claim: &NodeClaim, pool: &NodePool, now: Timestamp, desk: &mut Desk) -> bool {
    match consolidatable(claim, pool, false, now) {
        Consolidatable::Yes => true,
        Consolidatable::Never | Consolidatable::Uninitialized => false,
        Consolidatable::From(at) => {
            desk.wake(at);
            false
        }
    }
}
