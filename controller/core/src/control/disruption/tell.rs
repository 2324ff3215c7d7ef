//! Events and counts of disruption. (spec 30 §24)

use crate::control::ask::{Event, Target};
use crate::control::desk::{Desk, Part};
use crate::control::view::View;
use crate::nodes::StateNode;

use super::command::{Candidate, Command, Method};

/// Tells something of a node and its claim.
pub fn both(node: &StateNode<'_>, reason: &'static str, message: &str, desk: &mut Desk) {
    let of_node = node.node.map(|n| (Target::node(&n.meta.name), n.meta.uid.clone()));
    let of_claim = node.claim.map(|c| (Target::claim(&c.meta.name), c.meta.uid.clone()));
    for (about, uid) in of_node.into_iter().chain(of_claim) {
        desk.event(Part::Disruption, Event { about, uid, warning: false, reason, message: message.to_owned() });
    }
}

/// Why a node cannot be disrupted.
pub fn blocked(node: &StateNode<'_>, why: &str, desk: &mut Desk) {
    both(node, "DisruptionBlocked", &format!("Cannot disrupt: {why}"), desk);
}

/// A command has begun.
pub fn begun(command: &Command, desk: &mut Desk) {
    let labels =
        [("decision", command.decision()), ("reason", command.label()), ("consolidation_type", command.kind())];
    desk.count("voluntary_disruption_decisions_total", &labels);
    let pools: std::collections::BTreeSet<&str> = command.candidates.iter().map(|c| c.pool.as_str()).collect();
    for pool in pools {
        let with_pool = [labels[0], labels[1], labels[2], ("nodepool", pool)];
        desk.count("voluntary_disruption_decisions_by_nodepool_total", &with_pool);
    }
}

/// A proposal did not stand its wait.
pub fn rejected(view: &View<'_>, command: &Command, why: &str, desk: &mut Desk) {
    for candidate in &command.candidates {
        desk.count("voluntary_disruption_failed_validations_total", &[("consolidation_type", command.kind())]);
        if command.method == Method::Emptiness {
            continue;
        }
        let saved = command.savings as f64 / 1e6;
        let message = format!("{}: {why}, would have saved ${saved:.2} an hour", command.words());
        if let Some(node) = view.nodes.iter().find(|n| n.name() == candidate.node) {
            both(node, "ConsolidationRejected", &message, desk);
        }
    }
}

/// A command came to nothing.
pub fn failed(command: &Command, unready: usize, desk: &mut Desk) {
    let labels =
        [("decision", command.decision()), ("reason", command.label()), ("consolidation_type", command.kind())];
    for _ in 0..unready {
        desk.count("voluntary_disruption_queue_failures_total", &labels);
    }
}

/// The claim of a candidate is being deleted.
pub fn deleted(view: &View<'_>, command: &Command, candidate: &Candidate, desk: &mut Desk) {
    let policy = if command.method == Method::Consolidation || command.method == Method::Emptiness {
        snake(&candidate.policy)
    } else {
        String::new()
    };
    let labels = [
        ("reason", command.label()),
        ("nodepool", candidate.pool.as_str()),
        ("capacity_type", candidate.capacity_type.as_str()),
        ("consolidation_policy", policy.as_str()),
        ("termination_mode", candidate.termination),
    ];
    desk.count("nodeclaims_disrupted_total", &labels);
    for _ in &candidate.pods {
        desk.count("pods_disruption_initiated_total", &labels);
    }
    let reason = command.reason.as_str();
    if let Some(node) = view.nodes.iter().find(|n| n.name() == candidate.node) {
        if let Some(real) = node.node {
            told(Target::node(&real.meta.name), &real.meta.uid, format!("Disrupting Node: {reason}"), desk);
        }
        if let Some(claim) = node.claim {
            told(Target::claim(&claim.meta.name), &claim.meta.uid, format!("Disrupting NodeClaim: {reason}"), desk);
        }
    }
}

fn told(about: Target, uid: &str, message: String, desk: &mut Desk) {
    let event = Event { about, uid: uid.to_owned(), warning: false, reason: "DisruptionTerminating", message };
    desk.event(Part::Disruption, event);
}

/// A replacement is launched and not ready.
pub fn waiting(view: &View<'_>, name: &str, reason: &str, desk: &mut Desk) {
    let Some(claim) = view.world.node_claim(name) else { return };
    let texts = [
        ("DisruptionLaunching", format!("Launching NodeClaim: {reason}")),
        ("DisruptionWaitingReadiness", "Waiting on readiness to continue disruption".to_owned()),
    ];
    for (reason, message) in texts {
        let about = Target::claim(name);
        desk.event(Part::Disruption, Event { about, uid: claim.meta.uid.clone(), warning: false, reason, message });
    }
}

/// `WhenEmpty` as `when_empty`.
fn snake(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}
