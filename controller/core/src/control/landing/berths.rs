//! Nodes and claims that have slots, and which of those still count.

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::meta::Labels;
use millwright_models::kube::node::{NO_SCHEDULE, Node, Taint};

use crate::control::settings::Placement;
use crate::control::slots::{HOLD, HOLD_UNTIL, LANDED, LANDING, SLOTS, Slots};
use crate::control::view::View;
use crate::nodes::StateNode;
use crate::pods::DISRUPTED;

/// A node, or a claim without one, that pods are planned for.
#[derive(Clone, Debug)]
pub struct Berth {
    /// Position in [`View::nodes`].
    pub at: usize,
    /// Of the node, of the claim while there is none.
    pub name: String,
    pub slots: Slots,
    /// It was cordoned as it registered: nothing of the scheduler's can be on
    /// its way to it.
    pub is_new: bool,
}

/// Whether a node is held by us, be it by a cordon or by a taint.
pub fn is_held(node: &Node) -> bool {
    node.meta.annotations.contains_key(HOLD)
}

/// Whether it is a taint that holds it.
pub fn is_tainted(node: &Node) -> bool {
    node.taints.iter().any(is_hold)
}

/// Whether a taint is our hold.
pub fn is_hold(taint: &Taint) -> bool {
    taint.key == HOLD && taint.effect == NO_SCHEDULE
}

/// Whether somebody else has cordoned the node. A cordon under a hold is
/// theirs if we hold by taint; where we hold by the cordon itself nobody can
/// add one.
pub fn is_closed(node: &Node) -> bool {
    node.unschedulable && (!is_held(node) || is_tainted(node))
}

/// Whether somebody has taken away what holds a held node.
pub fn is_opened(node: &Node) -> bool {
    is_held(node) && !node.unschedulable && !is_tainted(node)
}

/// Until when a held node is held at most; what cannot be read is over.
pub fn held_until(node: &Node) -> Timestamp {
    let until = node.meta.annotations.get(HOLD_UNTIL).and_then(|v| v.parse().ok());
    until.unwrap_or(Timestamp::UNIX_EPOCH)
}

/// What is written on a held node itself.
pub fn slots_on(node: &Node) -> Option<Slots> {
    read(&node.meta.annotations, LANDING)
}

/// On its way out: being deleted, or tainted for it.
pub fn is_leaving(node: &StateNode<'_>) -> bool {
    let deleting = node.claim.is_some_and(|c| c.meta.deletion_timestamp.is_some())
        || node.node.is_some_and(|n| n.meta.deletion_timestamp.is_some());
    deleting || node.is_terminating_instance() || node.node.is_some_and(|n| n.taints.iter().any(|t| t.key == DISRUPTED))
}

/// All berths of a look, in the order of the view.
pub fn berths(view: &View<'_>) -> Vec<Berth> {
    let of = |(at, node): (usize, &StateNode<'_>)| {
        let (slots, is_new) = slots_of(view, node)?;
        Some(Berth { at, name: node.name().to_owned(), slots, is_new })
    };
    view.nodes.iter().enumerate().filter_map(of).collect()
}

/// The slots of a node that still count, and whether those of its claim are
/// among them.
pub fn slots_of(view: &View<'_>, node: &StateNode<'_>) -> Option<(Slots, bool)> {
    if is_leaving(node) {
        return None;
    }
    let of_claim = node.claim.filter(|_| claim_counts(view, node)).and_then(|c| read(&c.meta.annotations, SLOTS));
    let of_node = node.node.filter(|n| is_held(n)).and_then(slots_on);
    match (of_claim, of_node) {
        (None, None) => None,
        (Some(new), None) => Some((new, true)),
        (None, Some(old)) => Some((old, false)),
        (Some(new), Some(more)) => Some((Slots { since: None, ..new.with(&more) }, true)),
    }
}

fn read(annotations: &Labels, key: &str) -> Option<Slots> {
    Slots::read(annotations.get(key)?)
}

/// Until the node has registered, and from then on as long as it is held;
/// where nothing is held, until it has been ready for as long as a hold lasts.
fn claim_counts(view: &View<'_>, node: &StateNode<'_>) -> bool {
    let Some(real) = node.node.filter(|_| node.is_registered()) else { return true };
    if real.meta.annotations.contains_key(LANDED) {
        return false;
    }
    if is_held(real) {
        return true;
    }
    view.settings.placement != Placement::Bind
        && initialized_at(node).is_none_or(|at| view.now.duration_since(at) < view.settings.hold)
        && (node.is_initialized() || !has_waited(view, node))
}

/// Nothing shows when it will be ready, and it has had its time.
fn has_waited(view: &View<'_>, node: &StateNode<'_>) -> bool {
    let born = node.node.and_then(|n| n.meta.creation_timestamp);
    let most = view.settings.registration_timeout.saturating_add(view.settings.hold);
    born.is_some_and(|born| view.now.duration_since(born) > most)
}

/// When the claim says that its node became ready for pods.
pub fn initialized_at(node: &StateNode<'_>) -> Option<Timestamp> {
    let condition = node.condition("Initialized").filter(|c| c.status == "True")?;
    condition.last_transition_time
}

/// Until when a hold on a node that registers now is to stand: it ends by its
/// own timer once the node is ready, and at the latest when the claim would be
/// given up.
pub fn first_until(view: &View<'_>) -> Timestamp {
    let most: SignedDuration = view.settings.registration_timeout.saturating_add(view.settings.hold);
    view.now.saturating_add(most).unwrap_or(Timestamp::MAX)
}
