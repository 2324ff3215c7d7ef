//! Buying the machine. (spec 40 §3)

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashSet;

use super::Case;
use crate::control::ask::{Event, Instance, Refusal, Reply, Target};
use crate::control::brain::Shared;
use crate::control::conditions::Truth;
use crate::control::desk::{Desk, Part};
use crate::control::keys::LAUNCHED;
use crate::control::view::View;

/// A purchase is remembered for so long, in case its note in the status is
/// lost.
const MEMORY: SignedDuration = SignedDuration::from_hours(1);
/// Waits after failures: doubling from the first to the second.
const BACKOFF: (SignedDuration, SignedDuration) = (SignedDuration::from_secs(1), SignedDuration::from_secs(60));
/// The longest message of a condition, in bytes.
const LONGEST: usize = 1024;
/// Events on pods at once, and per second from then on.
const BURST: f64 = 10.0;
const PER_SECOND: f64 = 5.0;

/// Purchases by the uid of their claim.
#[derive(Debug, Default)]
pub(super) struct Launches {
    bought: BTreeMap<String, (Instance, Timestamp)>,
    failed: BTreeMap<String, Failure>,
    /// Claims that cannot be bought for, with the reason.
    hopeless: BTreeMap<String, &'static str>,
    /// Claims and messages that are to be told of.
    news: Vec<(String, String)>,
    /// Events that may be told, and when that was counted.
    tokens: Option<(f64, Timestamp)>,
    /// Pods to tell, each with its message.
    letters: Vec<(String, String)>,
}

#[derive(Debug)]
struct Failure {
    reason: String,
    message: String,
    times: u32,
    again: Timestamp,
}

impl Launches {
    pub fn forget(&mut self, live: &FxHashSet<&str>, now: Timestamp) {
        self.bought.retain(|uid, (_, at)| live.contains(uid.as_str()) && now.duration_since(*at) < MEMORY);
        self.failed.retain(|uid, _| live.contains(uid.as_str()));
        self.hopeless.retain(|uid, _| live.contains(uid.as_str()));
    }

    /// Brings the claim up to what is known; tells whether to buy now.
    pub fn look(&mut self, case: &mut Case<'_>, view: &View<'_>, desk: &mut Desk) -> bool {
        let uid = &case.claim.meta.uid;
        if !case.conditions.is(LAUNCHED, Truth::Unknown) {
            self.bought.remove(uid);
            self.failed.remove(uid);
            case.conditions.refresh(LAUNCHED);
            return false;
        }
        if let Some((instance, _)) = self.bought.get(uid) {
            let mut labels = instance.labels.clone();
            labels.extend(case.claim.meta.labels.clone());
            case.edit.labels(&case.claim.meta.labels, &labels);
            case.edit.annotations(&case.claim.meta.annotations, &instance.annotations);
            if !case.edit.has_main() {
                case.edit.status("providerID", instance.provider_id.clone().into());
                case.edit.status("imageID", instance.image_id.clone().into());
                case.edit.status("capacity", instance.capacity.clone());
                case.edit.status("allocatable", instance.allocatable.clone());
                case.conditions.set_true(LAUNCHED);
            }
            return false;
        }
        let Some(failure) = self.failed.get(uid) else { return true };
        case.conditions.set(LAUNCHED, Truth::Unknown, &failure.reason, &failure.message);
        // A time that is past would have the next look come at once, for as
        // long as the purchase takes.
        if failure.again > view.now {
            desk.wake(failure.again);
        }
        failure.again <= view.now
    }

    /// Takes an answer in; names the kind of the error, if it is one.
    pub fn answer(&mut self, claim: &str, uid: &str, reply: &Reply, now: Timestamp) -> Option<&'static str> {
        let refusal = match reply {
            Reply::Launched(instance) => {
                self.failed.remove(uid);
                self.bought.insert(uid.to_owned(), (instance.clone(), now));
                return None;
            }
            Reply::Refused(refusal) => refusal,
            _ => return None,
        };
        let (reason, message) = match refusal {
            Refusal::InsufficientCapacity { message } => {
                self.hopeless.insert(uid.to_owned(), "insufficient_capacity");
                self.news.push((claim.to_owned(), message.clone()));
                return Some("InsufficientCapacityError");
            }
            Refusal::NodeClassNotReady { .. } => {
                self.hopeless.insert(uid.to_owned(), "nodeclass_not_ready");
                return Some("NodeClassNotReadyError");
            }
            Refusal::Create { reason, message } => (reason.clone(), message.clone()),
            other => ("LaunchFailed".to_owned(), shortened(&other.to_string())),
        };
        let times = self.failed.get(uid).map_or(0, |f| f.times);
        let wait = BACKOFF.0.saturating_mul(1 << times.min(10)).min(BACKOFF.1);
        let failure = Failure { reason, message, times: times + 1, again: now + wait };
        self.failed.insert(uid.to_owned(), failure);
        Some("unknown")
    }

    /// Why no machine will ever be had for the claim.
    pub fn verdict(&self, uid: &str) -> Option<&'static str> {
        self.hopeless.get(uid).copied()
    }

    /// Tells claims without a machine, and the pods that were planned onto
    /// them, as fast as the API server can bear.
    pub fn tell(&mut self, view: &View<'_>, shared: &Shared, desk: &mut Desk) {
        for (name, message) in std::mem::take(&mut self.news) {
            let Some(claim) = view.world.node_claim(&name) else { continue };
            let text = format!("NodeClaim {name} event: {message}");
            desk.event(
                Part::Lifecycle,
                Event {
                    about: Target::claim(&name),
                    uid: claim.meta.uid.clone(),
                    warning: true,
                    reason: "InsufficientCapacityError",
                    message: text.clone(),
                },
            );
            let planned = shared.planned.get(&name).into_iter().flatten();
            self.letters.extend(planned.map(|pod| (pod.clone(), text.clone())));
        }
        let (left, at) = self.tokens.unwrap_or((BURST, view.now));
        let passed = view.now.duration_since(at).as_secs_f64().max(0.0);
        let mut left = (left + PER_SECOND * passed).min(BURST);
        let letters = std::mem::take(&mut self.letters);
        let mut letters = letters.into_iter();
        while left >= 1.0 {
            let Some((pod, message)) = letters.next() else { break };
            let names = pod.split_once('/').unwrap_or(("default", &pod));
            let Some(pod) = view.world.pod(names.0, names.1).filter(|p| p.is_pending()) else { continue };
            left -= 1.0;
            desk.event(
                Part::Lifecycle,
                Event {
                    about: Target::pod(&pod.namespace, &pod.name),
                    uid: pod.uid.clone(),
                    warning: true,
                    reason: "InsufficientCapacityError",
                    message,
                },
            );
        }
        self.letters = letters.collect();
        self.tokens = Some((left, view.now));
        if !self.letters.is_empty() {
            desk.wake(view.now + SignedDuration::from_millis(200));
        }
    }
}

fn shortened(message: &str) -> String {
    if message.len() <= LONGEST {
        return message.to_owned();
    }
    let mut end = LONGEST - 3;
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &message[..end])
}
