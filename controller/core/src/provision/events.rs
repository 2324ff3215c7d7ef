//! What a pass tells about its pods: events, nominations, counts.
//! (spec 20 §15, 10-api §14)

use std::collections::BTreeMap;
use std::time::Duration;

use millwright_models::world::World;

use super::Decision;

/// `Nominated` events at once, and per second from then on.
const BURST: f64 = 10.0;
const PER_SECOND: f64 = 5.0;
/// The same pod's failure is told once in this time.
const FAILURE_EVERY: Duration = Duration::from_secs(300);
/// The shortest nomination.
const NOMINATED_FOR: Duration = Duration::from_secs(10);

/// An event on a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It has a place: a node or claim that exists, or the position of a new
    /// claim.
    Nominated { pod: String, target: Target },
    /// It has none.
    FailedScheduling { pod: String, message: String },
}

/// Where a pod goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Existing(String),
    New(usize),
}

/// The events of a decision, those of existing nodes first.
pub fn events(world: &World, decision: &Decision) -> Vec<Event> {
    let pod = |p: &usize| world.pods[*p].full_name();
    let old =
        decision.existing.iter().flat_map(|(node, pods)| pods.iter().map(move |p| (p, Target::Existing(node.clone()))));
    let new = decision.nodes.iter().enumerate().flat_map(|(i, n)| n.pods.iter().map(move |p| (p, Target::New(i))));
    let mut out: Vec<Event> = old.chain(new).map(|(p, target)| Event::Nominated { pod: pod(p), target }).collect();
    let failed = decision.unscheduled.iter();
    out.extend(failed.map(|(p, why)| Event::FailedScheduling { pod: pod(p), message: why.join("; ") }));
    out
}

/// Lets events through at the rate that the API server can bear.
#[derive(Clone, Debug, Default)]
pub struct Limiter {
    /// Tokens left for nominations, and when they were counted.
    tokens: Option<(f64, Duration)>,
    failures: BTreeMap<String, Duration>,
}

impl Limiter {
    /// Whether the event may be sent now.
    pub fn admits(&mut self, event: &Event, now: Duration) -> bool {
        match event {
            Event::Nominated { .. } => {
                let (left, at) = self.tokens.unwrap_or((BURST, now));
                let left = (left + PER_SECOND * now.saturating_sub(at).as_secs_f64()).min(BURST);
                let admitted = left >= 1.0;
                self.tokens = Some((if admitted { left - 1.0 } else { left }, now));
                admitted
            }
            Event::FailedScheduling { pod, .. } => {
                self.failures.retain(|_, told| now.saturating_sub(*told) < FAILURE_EVERY);
                let first = !self.failures.contains_key(pod);
                if first {
                    self.failures.insert(pod.clone(), now);
                }
                first
            }
        }
    }
}

/// How long a node that received pods is kept from voluntary disruption.
pub fn nomination(batch_max: Duration) -> Duration {
    (batch_max * 2).max(NOMINATED_FOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nominated(i: usize) -> Event {
        Event::Nominated { pod: format!("default/p{i}"), target: Target::New(0) }
    }

    #[test]
    fn sch_239_nominations_are_limited_and_failures_told_once() {
        let mut limiter = Limiter::default();
        let sent = |limiter: &mut Limiter, at: u64| {
            (0..100).filter(|i| limiter.admits(&nominated(*i), Duration::from_millis(at))).count()
        };
        assert_eq!(sent(&mut limiter, 0), 10);
        assert_eq!(sent(&mut limiter, 1000), 5);
        assert_eq!(sent(&mut limiter, 60_000), 10, "no more than a burst is saved up");
        let failed = |i: usize| Event::FailedScheduling { pod: format!("default/p{i}"), message: String::new() };
        assert!((0..100).all(|i| limiter.admits(&failed(i), Duration::from_secs(60))), "no limit but one per pod");
        assert!(!limiter.admits(&failed(0), Duration::from_secs(359)));
        assert!(limiter.admits(&failed(0), Duration::from_secs(360)));
    }

    #[test]
    fn sch_122_nominations_last_two_windows() {
        assert_eq!(nomination(Duration::from_secs(10)), Duration::from_secs(20));
        assert_eq!(nomination(Duration::from_secs(2)), Duration::from_secs(10));
    }
}
