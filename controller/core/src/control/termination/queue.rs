//! Pods that are to leave their nodes, and how. (spec 40 §§6.4–6.5)

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::pod::Pod;

use crate::control::ask::{Ask, Event, Refusal, Reply, Target};
use crate::control::desk::{Desk, Part};
use crate::control::view::View;
use crate::pods;

/// What happens when its time comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The pod is deleted, whatever speaks against it.
    Deadline,
    /// The pod is left where it is.
    Timeout,
}

/// Until when a pod may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub kind: Kind,
    pub at: Timestamp,
}

impl Bound {
    pub fn deadline(at: Timestamp) -> Self {
        Self { kind: Kind::Deadline, at }
    }

    pub fn timeout(at: Timestamp) -> Self {
        Self { kind: Kind::Timeout, at }
    }
}

/// Pods by uid: one that is made anew under the same name is another one.
#[derive(Debug, Default)]
pub struct Queue {
    entries: BTreeMap<String, Entry>,
    /// Refusals to tell of: node, pod, whether several budgets hold it.
    refused: Vec<(String, String, bool)>,
}

#[derive(Debug)]
struct Entry {
    bound: Option<Bound>,
    node: String,
    reason: String,
}

impl Queue {
    /// Lets go of pods that are not there any more.
    pub fn begin(&mut self, view: &View<'_>) {
        if self.entries.is_empty() {
            return;
        }
        let live: std::collections::BTreeSet<&str> =
            view.world.pods.iter().filter(|p| p.node_name.is_some()).map(|p| p.uid.as_str()).collect();
        self.entries.retain(|uid, _| live.contains(uid.as_str()));
    }

    /// Puts a pod in. Of two bounds of one kind the earlier counts; a deadline,
    /// or none, takes the place of a timeout and keeps it.
    pub fn add(&mut self, pod: &Pod, bound: Option<Bound>, node: &str, reason: &str) {
        let Some(entry) = self.entries.get_mut(&pod.uid) else {
            let entry = Entry { bound, node: node.to_owned(), reason: reason.to_owned() };
            self.entries.insert(pod.uid.clone(), entry);
            return;
        };
        let timed = |b: Option<Bound>| b.is_some_and(|b| b.kind == Kind::Timeout);
        entry.bound = match (entry.bound, bound) {
            (held, new) if timed(held) && !timed(new) => new,
            (held, new) if !timed(held) && timed(new) => held,
            (Some(held), Some(new)) => Some(Bound { at: held.at.min(new.at), ..held }),
            (held, new) => held.or(new),
        };
        reason.clone_into(&mut entry.reason);
    }

    /// Asks for what is due of one pod.
    pub fn work(&mut self, pod: &Pod, view: &View<'_>, part: Part, desk: &mut Desk) {
        let Some(entry) = self.entries.get(&pod.uid) else { return };
        let target = Target::pod(&pod.namespace, &pod.name);
        match entry.bound {
            Some(Bound { kind: Kind::Timeout, at }) if at <= view.now => {
                self.entries.remove(&pod.uid);
                return;
            }
            Some(Bound { kind: Kind::Deadline, at }) if needs_force(pod, at, view.now) => {
                let grace = at.duration_since(view.now).as_secs().max(1);
                let ask = Ask::Delete { target: target.clone(), uid: pod.uid.clone(), grace_seconds: Some(grace) };
                if desk.ask(part, ask) {
                    let whole = pod.spec.termination_grace_period_seconds;
                    let own = whole.map_or_else(|| "none".to_owned(), |s| format!("{s}s"));
                    let message = format!(
                        "Deleting the pod to accommodate the terminationTime {at} of the node. The pod was granted \
                         {grace} seconds of grace-period of its {own} terminationGracePeriodSeconds. This bypasses the \
                         PDB of the pod and the do-not-disrupt annotation."
                    );
                    let (uid, reason) = (pod.uid.clone(), "Disrupted");
                    desk.event(part, Event { about: target, uid, warning: false, reason, message });
                }
                return;
            }
            _ => {}
        }
        if pods::is_evictable(pod, view.now) {
            desk.ask(part, Ask::Evict { pod: target, uid: pod.uid.clone() });
        }
    }

    /// What became of an eviction.
    pub fn evicted(&mut self, pod: &Target, uid: &str, reply: &Reply, desk: &mut Desk) {
        let code = match reply {
            Reply::Done | Reply::Object(_) => "200",
            Reply::Refused(Refusal::NotFound) => "404",
            Reply::Refused(Refusal::Conflict) => "409",
            Reply::Refused(Refusal::Budget { .. }) => "429",
            Reply::Refused(_) => "500",
            Reply::Launched(_) | Reply::Instances(_) => return,
        };
        desk.count("pods_eviction_requests_total", &[("code", code)]);
        let Some(entry) = self.entries.get(uid) else { return };
        match reply {
            Reply::Refused(Refusal::NotFound | Refusal::Conflict) => {
                self.entries.remove(uid);
            }
            Reply::Refused(Refusal::Budget { .. } | Refusal::Budgets { .. }) => {
                let several = matches!(reply, Reply::Refused(Refusal::Budgets { .. }));
                self.refused.push((entry.node.clone(), format!("{}/{}", pod.namespace, pod.name), several));
            }
            Reply::Refused(_) => {}
            _ => {
                desk.count("pods_drained_total", &[("reason", &entry.reason)]);
                let message = format!("Evicted pod: {}", entry.reason);
                let event =
                    Event { about: pod.clone(), uid: uid.to_owned(), warning: false, reason: "Evicted", message };
                self.entries.remove(uid);
                desk.event(Part::Termination, event);
            }
        }
    }

    /// Tells nodes which pods hold them up; one that is gone is not told.
    pub fn tell(&mut self, view: &View<'_>, desk: &mut Desk) {
        for (name, pod, several) in std::mem::take(&mut self.refused) {
            let Some(node) = view.world.node(&name) else { continue };
            let message = if several {
                format!("Failed to drain node, evicting pod {pod}: more than one PDB covers it, which is not supported")
            } else {
                format!("Failed to drain node, evicting pod {pod} violates a PDB")
            };
            super::node::warn(node, desk, if several { "budgets" } else { "budget" }, message);
        }
    }

    /// The bound of a pod that is in.
    pub fn bound(&self, uid: &str) -> Option<Option<Bound>> {
        self.entries.get(uid).map(|e| e.bound)
    }
}

/// When the pod has to be deleted so that its grace period ends in time.
pub fn force_time(pod: &Pod, deadline: Timestamp) -> Option<Timestamp> {
    let grace = SignedDuration::from_secs(pod.spec.termination_grace_period_seconds?);
    deadline.saturating_sub(grace).ok()
}

/// Whether only a deletion ends the pod in time. One that ends in time, or in
/// a second, by itself needs none; one without a grace period never does.
pub fn needs_force(pod: &Pod, deadline: Timestamp, now: Timestamp) -> bool {
    match pod.deleted {
        Some(end) => end > deadline.max(now + SignedDuration::from_secs(1)),
        None => force_time(pod, deadline).is_some_and(|at| now > at),
    }
}
