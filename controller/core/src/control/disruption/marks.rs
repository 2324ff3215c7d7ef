//! The marks of a node that is about to go: its taint, and the condition
//! `DisruptionReason` of its claim.

use jiff::Timestamp;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::node::{NO_SCHEDULE, Node, Taint};

use crate::control::ask::{Ask, Target};
use crate::control::conditions::{Conditions, Truth};
use crate::control::edit::Edit;
use crate::pods::DISRUPTED;

fn is_mark(taint: &Taint) -> bool {
    taint.key == DISRUPTED && taint.effect == NO_SCHEDULE
}

/// Whether the node carries the taint.
pub fn is_tainted(node: &Node) -> bool {
    node.taints.iter().any(is_mark)
}

/// Adds the taint, if it is missing.
pub fn taint(node: &Node) -> Option<Ask> {
    let mark = Taint::new(DISRUPTED, "", NO_SCHEDULE);
    let have = node.written_taints().filter(|t| !is_mark(t)).cloned();
    with_taints(node, &have.chain([mark]).collect::<Vec<_>>())
}

/// Takes the taint away.
pub fn untaint(node: &Node) -> Option<Ask> {
    with_taints(node, &node.written_taints().filter(|t| !is_mark(t)).cloned().collect::<Vec<_>>())
}

fn with_taints(node: &Node, taints: &[Taint]) -> Option<Ask> {
    let mut edit = Edit::new(Target::node(&node.meta.name), &node.meta);
    edit.taints(node, taints);
    edit.ask()
}

/// A condition as it ought to be: a reason and a message, or none to have it
/// removed.
pub type Wanted<'a> = (&'a str, Option<(&'a str, &'a str)>);

/// Sets and removes conditions of a claim; none if they are right already.
pub fn conditions(claim: &NodeClaim, wanted: &[Wanted<'_>], now: Timestamp) -> Option<Ask> {
    let differs = |(kind, value): &Wanted<'_>| {
        let have = claim.conditions.iter().find(|c| c.kind == *kind);
        match (have, value) {
            (None, None) => false,
            (Some(c), Some((reason, message))) => c.status != "True" || c.reason != *reason || c.message != *message,
            _ => true,
        }
    };
    // Others bring their own conditions up to date in their own time.
    if !wanted.iter().any(differs) {
        return None;
    }
    let mut all = Conditions::of_claim(claim, now);
    for (kind, value) in wanted {
        match value {
            Some((reason, message)) => all.set(kind, Truth::True, reason, message),
            None => all.remove(kind),
        }
    }
    let mut edit = Edit::new(Target::claim(&claim.meta.name), &claim.meta);
    edit.conditions(all.changed());
    edit.ask()
}
