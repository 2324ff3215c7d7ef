//! What a disruption may do to a pod. (spec 30 §§1 and 7.1)

use jiff::Timestamp;
use millwright_models::karpenter::labels::DO_NOT_DISRUPT;
use millwright_models::kube::node::{NO_SCHEDULE, Taint};
use millwright_models::kube::pod::Pod;

use crate::duration;

/// Taint of a node that is about to go.
pub const DISRUPTED: &str = "karpenter.sh/disrupted";

/// How a pod's own annotation protects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shield {
    /// There is no annotation.
    None,
    /// For as long as the pod runs, or until it starts and beyond.
    Lasting,
    /// Until this time.
    Until(Timestamp),
    /// Over since this time.
    Elapsed(Timestamp),
    /// The value is neither `true` nor a positive duration: no protection.
    Invalid,
}

impl Shield {
    /// Whether it protects at the time it was taken for.
    pub fn holds(self) -> bool {
        matches!(self, Self::Lasting | Self::Until(_))
    }
}

/// The shield of `pod` at `now`.
pub fn shield(pod: &Pod, now: Timestamp) -> Shield {
    let Some(value) = pod.annotations.get(DO_NOT_DISRUPT) else { return Shield::None };
    if value == "true" {
        return Shield::Lasting;
    }
    let Some(span) = duration::parse(value).filter(|d| d.is_positive()) else { return Shield::Invalid };
    let Some(end) = pod.started.map(|start| start.saturating_add(span).unwrap_or(Timestamp::MAX)) else {
        return Shield::Lasting;
    };
    if now < end { Shield::Until(end) } else { Shield::Elapsed(end) }
}

/// Neither terminal nor terminating.
pub fn is_active(pod: &Pod) -> bool {
    !pod.is_terminal() && pod.deleted.is_none()
}

/// An active pod whose annotation protects it.
pub fn is_shielded(pod: &Pod, now: Timestamp) -> bool {
    is_active(pod) && shield(pod, now).holds()
}

/// Stays on a node that is being drained.
pub fn tolerates_disruption(pod: &Pod) -> bool {
    let taint = Taint::new(DISRUPTED, "", NO_SCHEDULE);
    pod.spec.tolerations.iter().any(|t| t.tolerates(&taint))
}

/// May be evicted as far as the pod itself decides.
pub fn is_evictable(pod: &Pod, now: Timestamp) -> bool {
    is_active(pod) && !tolerates_disruption(pod) && !pod.is_static && !shield(pod, now).holds()
}

/// Nobody makes it anew once it is evicted.
pub fn is_bare(pod: &Pod) -> bool {
    pod.owner.is_none() && !pod.is_static
}
