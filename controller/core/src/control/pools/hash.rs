//! The drift hash of a pool's template, on the pool and its claims.
//! (spec 30 §17.1)

use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::karpenter::{hash, labels};
use millwright_models::kube::meta::Labels;

use crate::control::ask::Target;
use crate::control::desk::{Desk, Part};
use crate::control::edit::Edit;
use crate::control::keys::DRIFTED;
use crate::control::view::View;

/// Where the pool was hashed by another version, its claims move to ours
/// first: those that have not drifted take the new hash. True once all have.
pub(super) fn claims(pool: &NodePool, view: &View<'_>, desk: &mut Desk) -> bool {
    if pool.meta.annotations.get(hash::VERSION_ANNOTATION).is_some_and(|v| v == hash::VERSION) {
        return true;
    }
    let Some(wanted) = wanted(pool) else { return false };
    let version = Labels::from([(hash::VERSION_ANNOTATION.to_owned(), hash::VERSION.to_owned())]);
    let mut all = true;
    for claim in &view.world.node_claims {
        let held = &claim.meta.annotations;
        if claim.meta.labels.get(labels::NODEPOOL).is_none_or(|p| p != pool.name())
            || held.get(hash::VERSION_ANNOTATION).is_some_and(|v| v == hash::VERSION)
        {
            continue;
        }
        all = false;
        let mut edit = Edit::new(Target::claim(&claim.meta.name), &claim.meta);
        let drifted = claim.conditions.iter().any(|c| c.kind == DRIFTED);
        edit.annotations(held, if drifted { &version } else { &wanted });
        if let Some(ask) = edit.ask() {
            desk.ask(Part::Pools, ask);
        }
    }
    all
}

/// Writes the pool's own.
pub(super) fn pool(pool: &NodePool, edit: &mut Edit) {
    if let Some(wanted) = wanted(pool) {
        edit.annotations(&pool.meta.annotations, &wanted);
    }
}

fn wanted(pool: &NodePool) -> Option<Labels> {
    let hash = hash::template_hash(&pool.template)?;
    Some(Labels::from([
        (hash::ANNOTATION.to_owned(), hash.to_string()),
        (hash::VERSION_ANNOTATION.to_owned(), hash::VERSION.to_owned()),
    ]))
}
