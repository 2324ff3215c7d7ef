//! When a pass starts: the batch window. (spec 20 §1.2)
//!
//! The window only decides when. A pass looks at all pods that wait, not at
//! those that triggered it.

use std::collections::BTreeSet;
use std::time::Duration;

/// How long to wait for a first trigger before saying that there is none.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// Collects triggers until they pause, or for long enough.
#[derive(Clone, Debug)]
pub struct Window {
    idle: Duration,
    max: Duration,
    seen: BTreeSet<String>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A pass runs; whether a trigger came meanwhile.
    Busy { armed: bool },
    /// Waits for a first trigger.
    Waiting { since: Duration },
    /// Collects.
    Open { since: Duration, last: Duration },
}

/// What a look at the window says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Look again then, or at the next trigger.
    Wait(Duration),
    /// Nothing came for a while.
    Nothing,
    /// The batch is closed: a pass is due.
    Pass,
}

impl Window {
    pub fn new(idle: Duration, max: Duration) -> Self {
        Self { idle, max, seen: BTreeSet::new(), state: State::Busy { armed: false } }
    }

    /// The loop is ready for the next batch.
    pub fn listen(&mut self, now: Duration) {
        self.state = match self.state {
            State::Busy { armed: true } => State::Open { since: now, last: now },
            _ => State::Waiting { since: now },
        };
    }

    /// Something wants a pass. An element that is known already changes
    /// nothing; a trigger without one always counts.
    pub fn trigger(&mut self, element: Option<&str>, now: Duration) {
        if element.is_some_and(|uid| !self.seen.insert(uid.to_owned())) {
            return;
        }
        self.state = match self.state {
            State::Busy { .. } => State::Busy { armed: true },
            State::Waiting { .. } => State::Open { since: now, last: now },
            State::Open { since, .. } => State::Open { since, last: now },
        };
    }

    /// Whether a pass is due.
    pub fn look(&mut self, now: Duration) -> Look {
        let (due, look) = match self.state {
            State::Busy { .. } => return Look::Wait(now + PATIENCE),
            State::Waiting { since } => (since + PATIENCE, Look::Nothing),
            State::Open { since, last } => ((last + self.idle).min(since + self.max), Look::Pass),
        };
        if now < due {
            return Look::Wait(due);
        }
        self.seen.clear();
        self.state = State::Busy { armed: false };
        if look == Look::Nothing {
            self.listen(now);
        }
        look
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// The time at which a pass starts after these triggers.
    fn pass(triggers: &[(u64, Option<&str>)]) -> Option<Duration> {
        let mut window = Window::new(ms(1000), ms(10_000));
        window.listen(ms(0));
        let mut triggers = triggers.iter().peekable();
        for now in 0..60_000 {
            while let Some((_, uid)) = triggers.next_if(|(at, _)| *at == now) {
                window.trigger(*uid, ms(now));
            }
            if window.look(ms(now)) == Look::Pass {
                return Some(ms(now));
            }
        }
        None
    }

    #[test]
    fn sch_001_one_pod_waits_for_the_idle_time() {
        assert_eq!(pass(&[(0, Some("a"))]), Some(ms(1000)));
    }

    #[test]
    fn sch_002_a_stream_of_pods_waits_for_the_maximum() {
        let names: Vec<String> = (0..29).map(|i| format!("p{i}")).collect();
        let stream: Vec<_> = names.iter().enumerate().map(|(i, n)| (i as u64 * 700, Some(n.as_str()))).collect();
        assert_eq!(pass(&stream), Some(ms(10_000)));
    }

    #[test]
    fn sch_003_the_same_pod_again_extends_nothing() {
        let again: Vec<_> = (0..20).map(|i| (i * 300, Some("a"))).collect();
        assert_eq!(pass(&again), Some(ms(1000)));
    }

    #[test]
    fn sch_004_a_second_pod_restarts_the_idle_time() {
        assert_eq!(pass(&[(0, Some("a")), (800, Some("b"))]), Some(ms(1800)));
    }

    #[test]
    fn sch_005_without_a_trigger_there_is_no_pass() {
        assert_eq!(pass(&[]), None);
        let mut window = Window::new(ms(1000), ms(10_000));
        window.listen(ms(0));
        assert_eq!(window.look(ms(999)), Look::Wait(ms(1000)));
        assert_eq!(window.look(ms(1000)), Look::Nothing);
        assert_eq!(window.look(ms(1500)), Look::Wait(ms(2000)));
    }

    #[test]
    fn sch_009_a_pod_may_trigger_again_after_its_pass() {
        let mut window = Window::new(ms(1000), ms(10_000));
        window.listen(ms(0));
        window.trigger(Some("a"), ms(0));
        assert_eq!(window.look(ms(1000)), Look::Pass);
        window.trigger(Some("a"), ms(10_000));
        window.listen(ms(10_100));
        assert_eq!(window.look(ms(10_200)), Look::Wait(ms(11_100)), "it came while the pass ran");
        assert_eq!(window.look(ms(11_100)), Look::Pass);
    }

    #[test]
    fn sch_264_a_trigger_without_an_element_always_counts() {
        assert_eq!(pass(&[(0, None)]), Some(ms(1000)));
        assert_eq!(pass(&[(0, None), (900, None)]), Some(ms(1900)));
    }
}
