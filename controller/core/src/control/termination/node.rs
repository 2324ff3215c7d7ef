//! The finalizer of a Node. (spec 40 §6.2)

use jiff::Timestamp;
use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::meta::Labels;
use millwright_models::kube::node::{NO_SCHEDULE, Node, Taint};

use super::drain::Drain;
use super::{Ending, Termination, expiring};
use crate::control::ask::{Ask, Event, Target};
use crate::control::desk::{Desk, Part};
use crate::control::edit::Edit;
use crate::control::keys::{DEADLINE, EXCLUDE_BALANCERS, TERMINATION};
use crate::control::lifecycle::is_ready;
use crate::control::view::View;
use crate::pods::DISRUPTED;

impl Termination {
    /// One step of a node that is being deleted.
    pub(super) fn node(
        &mut self,
        node: &Node,
        claim: Option<&NodeClaim>,
        place: usize,
        view: &View<'_>,
        desk: &mut Desk,
    ) {
        if let Some(claim) = claim.filter(|c| c.meta.deletion_timestamp.is_none()) {
            let (target, uid) = (Target::claim(&claim.meta.name), claim.meta.uid.clone());
            desk.ask(Part::Termination, Ask::Delete { target, uid, grace_seconds: None });
        }
        if !is_ready(node) && !node.provider_id.is_empty() {
            match self.machines.known.get(&node.provider_id) {
                Some((false, _)) => return release(node, desk),
                Some((true, _)) => {}
                None => {
                    let name = claim.map_or(&node.meta.name, |c| &c.meta.name).clone();
                    let provider_id = node.provider_id.clone();
                    desk.ask(Part::Termination, Ask::Describe { claim: name, provider_id });
                    return;
                }
            }
        }
        let deadline = match claim.and_then(|c| c.meta.annotations.get(DEADLINE)) {
            None => None,
            Some(text) => match text.parse::<Timestamp>() {
                Ok(deadline) => Some(deadline),
                Err(_) => return warn(node, desk, "deadline", format!("{DEADLINE} is no time: {text}")),
            },
        };
        if let Some(deadline) = deadline {
            expiring(desk, Target::node(&node.meta.name), &node.meta.uid, deadline);
        }
        if let Some(ask) = closed(node) {
            desk.ask(Part::Termination, ask);
            return;
        }
        let mut ending = claim.map(|c| Ending::new(c, view.now));
        let drain = Drain { node, place, deadline, view };
        let reason = claim.map_or(String::new(), reason);
        let done = drain.look(&mut self.queue, ending.as_mut(), &reason, desk)
            && drain.volumes(ending.as_mut(), desk)
            && match &mut ending {
                Some(ending) if !ending.claim.provider_id.is_empty() => self.machines.end(ending, view, desk),
                _ => true,
            };
        if let Some(ending) = ending {
            ending.write(desk);
        }
        if done {
            release(node, desk);
        }
    }
}

/// Why the pods go.
fn reason(claim: &NodeClaim) -> String {
    let condition = claim.conditions.iter().find(|c| c.kind == "DisruptionReason" && c.status == "True");
    condition.map_or_else(|| "Forceful Termination".to_owned(), |c| c.reason.clone())
}

/// Keeps new pods and load balancers away, unless that is so already.
fn closed(node: &Node) -> Option<Ask> {
    let disrupted = Taint::new(DISRUPTED, "", NO_SCHEDULE);
    let mut taints: Vec<Taint> =
        node.written_taints().filter(|t| t.key != DISRUPTED || **t == disrupted).cloned().collect();
    if !taints.contains(&disrupted) {
        taints.push(disrupted);
    }
    let mut edit = Edit::new(Target::node(&node.meta.name), &node.meta);
    edit.taints(node, &taints);
    let (key, value) = EXCLUDE_BALANCERS;
    edit.labels(&node.meta.labels, &Labels::from([(key.to_owned(), value.to_owned())]));
    edit.ask()
}

/// Lets the node go.
fn release(node: &Node, desk: &mut Desk) {
    let mut edit = Edit::new(Target::node(&node.meta.name), &node.meta);
    edit.without_finalizer(&node.meta, TERMINATION);
    let Some(ask) = edit.ask() else { return };
    if desk.ask(Part::Termination, ask) {
        let label = |key: &str| node.meta.labels.get(key).map(String::as_str).unwrap_or_default();
        let labels = [("nodepool", label(labels::NODEPOOL)), ("zone", label(labels::ZONE))];
        desk.count("nodes_terminated_total", &labels);
    }
}

/// Tells why a drain takes its time, once in a while per topic: counts and pods
/// change from second to second.
pub(super) fn warn(node: &Node, desk: &mut Desk, topic: &str, message: String) {
    let (about, uid) = (Target::node(&node.meta.name), node.meta.uid.clone());
    desk.event_as(Part::Termination, Event { about, uid, warning: true, reason: "FailedDraining", message }, topic);
}
