//! Counters of the life of claims. (spec 10 §15)

use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;

use super::desk::Desk;
use crate::duration;

/// A claim that the controller itself sends on its way out.
pub fn disrupted(desk: &mut Desk, claim: &NodeClaim, reason: &str) {
    let grace = claim.termination_grace_period.as_deref().and_then(duration::parse);
    let mode = match grace {
        None => "graceful",
        Some(grace) if grace.is_positive() => "eventual",
        Some(_) => "forceful",
    };
    desk.count(
        "nodeclaims_disrupted_total",
        &[
            ("reason", reason),
            ("nodepool", label(claim, labels::NODEPOOL)),
            ("capacity_type", label(claim, labels::CAPACITY_TYPE)),
            ("consolidation_policy", ""),
            ("termination_mode", mode),
        ],
    );
}

/// A label of a claim, empty if it has none.
pub fn label<'c>(claim: &'c NodeClaim, key: &str) -> &'c str {
    claim.meta.labels.get(key).map(String::as_str).unwrap_or_default()
}
