//! Whether a claim has been quiet for long enough. (spec 30 §9.3)

use jiff::Timestamp;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::NodePool;

use crate::duration;

/// What the condition `Consolidatable` should say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consolidatable {
    Yes,
    /// The pool says `consolidateAfter: Never`.
    Never,
    /// The claim is not initialized.
    Uninitialized,
    /// Not before this time.
    From(Timestamp),
}

/// Judges a claim of `pool` at `now`. `initialized` is what is known of the
/// claim beside its condition; a claim without a time for it counts as quiet.
pub fn consolidatable(claim: &NodeClaim, pool: &NodePool, initialized: bool, now: Timestamp) -> Consolidatable {
    let Some(after) = &pool.disruption.consolidate_after else { return Consolidatable::Never };
    let condition = claim.conditions.iter().find(|c| c.kind == "Initialized");
    if !condition.map_or(initialized, |c| c.status == "True") {
        return Consolidatable::Uninitialized;
    }
    let since = claim.last_pod_event.or_else(|| condition.and_then(|c| c.last_transition_time));
    let (Some(since), Some(after)) = (since, duration::parse(after)) else { return Consolidatable::Yes };
    match since.checked_add(after) {
        Ok(end) if now < end => Consolidatable::From(end),
        _ => Consolidatable::Yes,
    }
}
