//! Events and counts of a pass. (10-api §14)

use std::time::Duration;

use jiff::Timestamp;
use millwright_models::kube::pod::Pod;
use millwright_models::world::World;

use crate::control::ask::{Event, Target};
use crate::control::desk::{Desk, Part};
use crate::control::ledger::OverLimit;
use crate::control::view::View;
use crate::nodes::StateNode;
use crate::provision::Decision;
use crate::provision::events::{self, Limiter};

/// A pod by namespace, name and uid.
type Name<'a> = (&'a str, &'a str, &'a str);

/// What the plan is worth.
pub fn figures(decision: &Decision, desk: &mut Desk) {
    desk.count("scheduling_passes_total", &[("engine", decision.engine.as_str())]);
}

/// A pod's place is a node that exists, or a claim on its way.
pub fn nominated(limiter: &mut Limiter, pod: Name<'_>, node: &StateNode<'_>, now: Timestamp, desk: &mut Desk) {
    let claim = node.claim.map(|c| format!("nodeclaim/{}", c.meta.name));
    let real = node.node.map(|n| format!("node/{}", n.meta.name));
    let places: Vec<String> = claim.into_iter().chain(real).collect();
    nomination(limiter, pod, format!("Pod should schedule on: {}", places.join(", ")), now, desk);
}

/// Tells a nomination at the rate that the API server can bear.
pub fn nomination(limiter: &mut Limiter, pod: Name<'_>, message: String, now: Timestamp, desk: &mut Desk) {
    let full = format!("{}/{}", pod.0, pod.1);
    let told = events::Event::Nominated { pod: full, target: events::Target::Existing(String::new()) };
    if limiter.admits(&told, clock(now)) {
        let about = Target::pod(pod.0, pod.1);
        desk.event(
            Part::Provision,
            Event { about, uid: pod.2.to_owned(), warning: false, reason: "Nominated", message },
        );
    }
}

/// Pods that have no place, and why.
pub fn failures(limiter: &mut Limiter, view: &View<'_>, world: &World, decision: &Decision, desk: &mut Desk) {
    for (p, why) in &decision.unscheduled {
        let pod = &world.pods[*p];
        let message = why.join("; ");
        if view.world.pod(&pod.namespace, &pod.name).is_none_or(|now| now.uid != pod.uid || now.node_name.is_some()) {
            continue;
        }
        let told = events::Event::FailedScheduling { pod: pod.full_name(), message: message.clone() };
        if limiter.admits(&told, clock(view.now)) {
            desk.event(Part::Provision, failure(pod, &message));
        }
    }
}

/// A claim that a limit stands against.
pub fn over_limit(pods: &[&Pod], over: &OverLimit, desk: &mut Desk) {
    for pod in pods {
        desk.event(Part::Provision, failure(pod, &over.to_string()));
    }
}

fn failure(pod: &Pod, why: &str) -> Event {
    Event {
        about: Target::pod(&pod.namespace, &pod.name),
        uid: pod.uid.clone(),
        warning: true,
        reason: "FailedScheduling",
        message: format!("Failed to schedule pod, {why}"),
    }
}

fn clock(now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(now.as_millisecond()).unwrap_or(0))
}
