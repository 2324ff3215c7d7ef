//! Which pods have to move once their node goes.

use super::pod::Pod;
use super::policy::PodDisruptionBudget;
use crate::karpenter::labels::DO_NOT_DISRUPT;
use crate::world::World;

/// Whether a bound pod will need a new place when its node goes: it is made
/// anew, and neither its annotation nor a budget holds it where it is.
/// (spec 20 §2.2)
pub fn must_move(world: &World, pod: &Pod) -> bool {
    pod.is_reschedulable() && pod.annotations.get(DO_NOT_DISRUPT).is_none_or(|v| v != "true") && !is_blocked(world, pod)
}

/// More than one budget covers the pod, or one that never lets a pod go.
fn is_blocked(world: &World, pod: &Pod) -> bool {
    let covers = |b: &&PodDisruptionBudget| {
        b.meta.namespace == pod.namespace && b.selector.as_ref().is_some_and(|s| s.matches(&pod.labels))
    };
    let mut budgets = world.budgets.iter().filter(covers);
    let Some(budget) = budgets.next() else { return false };
    if budgets.next().is_some() {
        return true;
    }
    let unready = pod.conditions.iter().any(|c| c.kind == "Ready" && c.status == "False");
    let never = matches!(budget.max_unavailable.as_deref(), Some("0" | "0%"))
        || budget.min_available.as_deref() == Some("100%");
    never && !(budget.always_allow_unhealthy && unready)
}
