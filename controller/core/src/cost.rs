//! What evicting pods and nodes counts for. (spec 30 §2)

use jiff::{SignedDuration, Timestamp};
use millwright_models::catalog::Gates;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::pod::Pod;

use crate::duration;

const DISRUPTION_COST: &str = "karpenter.sh/disruption-cost";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Of one pod: 1 for an ordinary one, within ±10.
pub fn of_eviction(pod: &Pod, gates: &Gates) -> f64 {
    let number = |key: &str| pod.annotations.get(key).map(|v| v.parse::<i32>().ok());
    let own = number(DISRUPTION_COST);
    // A value that cannot be read has no stand-in.
    let deletion = match own {
        None if !gates.pod_deletion_cost_management => number(DELETION_COST).flatten(),
        own => own.flatten(),
    };
    let deletion = deletion.map_or(0.0, |c| f64::from(c) / f64::from(1 << 27));
    let priority = f64::from(pod.spec.priority.unwrap_or(0)) / f64::from(1 << 25);
    (1.0 + deletion + priority).clamp(-10.0, 10.0)
}

/// Of moving the pods of a node elsewhere: 1 for the node and its
/// reschedulable pods, none of them below 0.
pub fn of_rescheduling<'p>(pods: impl Iterator<Item = &'p Pod>, gates: &Gates) -> f64 {
    1.0 + pods.filter(|p| p.is_reschedulable()).map(|p| of_eviction(p, gates).max(0.0)).sum::<f64>()
}

/// Whether a rescheduling cost is that of a node without anything to move.
pub fn is_empty(rescheduling: f64) -> bool {
    rescheduling <= 1.0
}

/// The share of a claim's life that is left; 1 where it never expires.
pub fn lifetime_remaining(claim: &NodeClaim, now: Timestamp) -> f64 {
    let whole = claim.expire_after.as_deref().and_then(duration::parse);
    let (Some(whole), Some(born)) = (whole, claim.meta.creation_timestamp) else { return 1.0 };
    if !whole.is_positive() {
        return 0.0;
    }
    let age: SignedDuration = now.duration_since(born);
    ((whole.as_secs_f64() - age.as_secs_f64()) / whole.as_secs_f64()).clamp(0.0, 1.0)
}

/// Of all pods on a node, daemons too, less the older the node is.
pub fn of_disruption<'p>(pods: impl Iterator<Item = &'p Pod>, claim: &NodeClaim, gates: &Gates, now: Timestamp) -> f64 {
    pods.map(|p| of_eviction(p, gates)).sum::<f64>() * lifetime_remaining(claim, now)
}
