//! Where the parts put their requests: one per object at a time, with
//! back-off after failures.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::ask::{Ask, Event, Refusal, Reply, Target, Ticket};

/// Waits after failures of one object: doubling from the first to the second.
const BACKOFF: (SignedDuration, SignedDuration) = (SignedDuration::from_millis(500), SignedDuration::from_secs(30));
/// The same for a pod that a PodDisruptionBudget holds.
const EVICTION: (SignedDuration, SignedDuration) = (SignedDuration::from_millis(100), SignedDuration::from_secs(10));
/// A write whose effect is not seen yet is not repeated before.
const SETTLE: SignedDuration = SignedDuration::from_secs(2);
/// The same event is told once in this time.
const EVENT_EVERY: SignedDuration = SignedDuration::from_secs(120);

/// The part of the brain that asked and gets the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Lifecycle,
    Termination,
    Garbage,
    Pools,
    Provision,
    Landing,
    Disruption,
    Buffers,
}

/// A request that has not been answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub part: Part,
    pub ask: Ask,
    pub at: Timestamp,
}

/// A request to carry out.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub ticket: Ticket,
    pub part: Part,
    pub ask: Ask,
}

/// A counter that goes up: Prometheus name without prefix, labels in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub name: &'static str,
    pub labels: Vec<(&'static str, String)>,
}

/// What a look came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outbox {
    pub requests: Vec<Request>,
    /// When to look again though nothing happens.
    pub wake: Option<Timestamp>,
    pub counts: Vec<Count>,
}

/// The requests under way and those that wait after a failure.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    last: u64,
    sent: BTreeMap<Ticket, Sent>,
    busy: BTreeMap<Target, Ticket>,
    /// No request for the object before this time.
    quiet: BTreeMap<Target, Timestamp>,
    failures: BTreeMap<Target, u32>,
    told: BTreeMap<(Target, &'static str, String), Timestamp>,
    out: Outbox,
    now: Timestamp,
}

impl Desk {
    /// Begins a look.
    pub fn open(&mut self, now: Timestamp) {
        self.now = now;
        self.quiet.retain(|_, until| *until > now);
        self.told.retain(|_, at| now.duration_since(*at) < EVENT_EVERY);
    }

    /// Ends a look.
    pub fn close(&mut self) -> Outbox {
        if let Some(first) = self.quiet.values().min() {
            let first = *first;
            self.wake(first);
        }
        std::mem::take(&mut self.out)
    }

    /// Whether a request for the object may be put in now.
    pub fn is_free(&self, target: &Target) -> bool {
        !self.busy.contains_key(target) && self.quiet.get(target).is_none_or(|until| *until <= self.now)
    }

    /// Whether a request for the object is under way.
    pub fn is_busy(&self, target: &Target) -> bool {
        self.busy.contains_key(target)
    }

    /// Puts a request in, unless its object is not free. Tells whether it did.
    pub fn ask(&mut self, part: Part, ask: Ask) -> bool {
        let key = ask.key();
        if key.as_ref().is_some_and(|k| !self.is_free(k)) {
            return false;
        }
        self.last += 1;
        let ticket = Ticket(self.last);
        if let Some(key) = key {
            self.busy.insert(key, ticket);
        }
        self.sent.insert(ticket, Sent { part, ask: ask.clone(), at: self.now });
        self.out.requests.push(Request { ticket, part, ask });
        true
    }

    /// Tells an event, unless the same was told a moment ago.
    pub fn event(&mut self, part: Part, event: Event) {
        let message = event.message.clone();
        self.event_as(part, event, &message);
    }

    /// Tells an event, unless one of the same object, reason and `topic` was
    /// told a moment ago, whatever the messages say.
    pub fn event_as(&mut self, part: Part, event: Event, topic: &str) {
        let key = (event.about.clone(), event.reason, topic.to_owned());
        // What is held back sets no time: otherwise a lasting trouble would be
        // told of once and never again.
        if !self.told.contains_key(&key) {
            self.told.insert(key, self.now);
            self.ask(part, Ask::Event(event));
        }
    }

    /// Looks again at this time at the latest.
    pub fn wake(&mut self, at: Timestamp) {
        self.out.wake = Some(self.out.wake.map_or(at, |w| w.min(at)));
    }

    pub fn count(&mut self, name: &'static str, labels: &[(&'static str, &str)]) {
        let labels = labels.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
        self.out.counts.push(Count { name, labels });
    }

    /// Requests that are not answered.
    pub fn under_way(&self) -> impl Iterator<Item = &Sent> {
        self.sent.values()
    }

    /// Takes an answer in; `None` for one that nobody waits for.
    pub fn answer(&mut self, ticket: Ticket, reply: &Reply, now: Timestamp) -> Option<Sent> {
        let sent = self.sent.remove(&ticket)?;
        let Some(key) = sent.ask.key() else { return Some(sent) };
        self.busy.remove(&key);
        match reply {
            // The watch is going to bring its end; a machine that is gone is
            // no news of the object.
            Reply::Refused(Refusal::NotFound) => {
                self.failures.remove(&key);
                if !matches!(sent.ask, Ask::Terminate { .. } | Ask::Describe { .. }) {
                    self.quiet.insert(key, now + SETTLE);
                }
            }
            // The newer version is on its way: soon, but not at once.
            Reply::Refused(Refusal::Conflict) => {
                self.quiet.insert(key, now + SignedDuration::from_millis(100));
            }
            Reply::Refused(refusal) => {
                let held = matches!(refusal, Refusal::Budget { .. } | Refusal::Budgets { .. });
                let (first, last) = if held { EVICTION } else { BACKOFF };
                let failures = self.failures.entry(key.clone()).or_default();
                let wait = first.saturating_mul(1 << (*failures).min(10)).min(last);
                *failures += 1;
                self.quiet.insert(key, now + wait);
            }
            // These show in the snapshot only when the watch brings them.
            Reply::Done if !matches!(sent.ask, Ask::Terminate { .. } | Ask::Describe { .. }) => {
                self.failures.remove(&key);
                self.quiet.insert(key, now + SETTLE);
            }
            _ => {
                self.failures.remove(&key);
            }
        }
        Some(sent)
    }

    /// The watch has brought a new version of the object, or its end.
    pub fn seen(&mut self, target: &Target) {
        if !self.failures.contains_key(target) {
            self.quiet.remove(target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_millis(ms)
    }

    fn delete(name: &str) -> Ask {
        Ask::Delete { target: Target::claim(name), uid: "u".to_owned(), grace_seconds: None }
    }

    fn ticket(desk: &mut Desk) -> Ticket {
        desk.close().requests[0].ticket
    }

    #[test]
    fn one_request_per_object_until_its_answer_and_its_effect() {
        let mut desk = Desk::default();
        desk.open(at(0));
        assert!(desk.ask(Part::Lifecycle, delete("a")));
        assert!(!desk.ask(Part::Garbage, delete("a")));
        assert!(desk.ask(Part::Garbage, delete("b")));
        let ticket = ticket(&mut desk);
        let sent = desk.answer(ticket, &Reply::Done, at(10));
        assert_eq!(sent.map(|s| s.part), Some(Part::Lifecycle));
        assert_eq!(desk.answer(ticket, &Reply::Done, at(10)), None, "an answer counts once");
        desk.open(at(20));
        assert!(!desk.ask(Part::Lifecycle, delete("a")), "the watch has not shown it");
        desk.seen(&Target::claim("a"));
        assert!(desk.ask(Part::Lifecycle, delete("a")));
    }

    #[test]
    fn a_pod_that_a_budget_holds_is_tried_sooner() {
        let mut desk = Desk::default();
        let held = Reply::Refused(Refusal::Budget { message: "no".to_owned() });
        let waits: Vec<i64> = (0..9)
            .map(|n| {
                desk.open(at(100_000 * n));
                let pod = Target::pod("a", "p");
                assert!(desk.ask(Part::Termination, Ask::Evict { pod: pod.clone(), uid: "u".to_owned() }));
                let ticket = ticket(&mut desk);
                desk.answer(ticket, &held, at(100_000 * n));
                desk.quiet[&pod].as_millisecond() - 100_000 * n
            })
            .collect();
        assert_eq!(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    }

    #[test]
    fn what_was_not_found_is_not_asked_for_again_at_once() {
        let gone = Reply::Refused(Refusal::NotFound);
        let terminate = Ask::Terminate { claim: "a".to_owned(), provider_id: "i".to_owned() };
        for (ask, free) in [(delete("a"), false), (terminate, true)] {
            let mut desk = Desk::default();
            desk.open(at(0));
            assert!(desk.ask(Part::Lifecycle, ask));
            let ticket = ticket(&mut desk);
            desk.answer(ticket, &gone, at(0));
            desk.open(at(1));
            assert_eq!(desk.is_free(&Target::claim("a")), free);
            desk.seen(&Target::claim("a"));
            assert!(desk.is_free(&Target::claim("a")));
        }
    }

    #[test]
    fn failures_wait_longer_each_time_and_success_forgets_them() {
        let mut desk = Desk::default();
        let down = Reply::Refused(Refusal::Unavailable { message: "down".to_owned() });
        let mut now = 0;
        let mut waits = Vec::new();
        for _ in 0..8 {
            desk.open(at(now));
            assert!(desk.ask(Part::Lifecycle, delete("a")));
            let ticket = ticket(&mut desk);
            desk.answer(ticket, &down, at(now));
            desk.seen(&Target::claim("a"));
            let outbox = {
                desk.open(at(now));
                assert!(!desk.is_free(&Target::claim("a")), "a new version does not end a back-off");
                desk.close()
            };
            let next = outbox.wake.unwrap().as_millisecond();
            waits.push(next - now);
            now = next;
        }
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    }

    #[test]
    fn an_event_is_told_once_in_two_minutes() {
        let mut desk = Desk::default();
        let event = |message: &str| Event {
            about: Target::node("n"),
            uid: String::new(),
            warning: true,
            reason: "FailedDraining",
            message: message.to_owned(),
        };
        let mut told = |ms: i64, message: &str| {
            desk.open(at(ms));
            desk.event(Part::Termination, event(message));
            desk.close().requests.len()
        };
        assert_eq!(told(0, "a"), 1);
        assert_eq!(told(1000, "a"), 0);
        assert_eq!(told(1000, "b"), 1);
        assert_eq!(told(120_000, "a"), 1);
    }
}
