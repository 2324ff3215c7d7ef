//! The virtual clock and what is to happen.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

/// Things to come, in order of time, then of entry.
#[derive(Debug)]
pub struct Agenda<H> {
    now: Timestamp,
    entries: u64,
    queue: BTreeMap<(Timestamp, u64), H>,
}

impl<H> Agenda<H> {
    pub fn new(now: Timestamp) -> Self {
        Self { now, entries: 0, queue: BTreeMap::new() }
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Lets `happening` come at `at`, or now if that is past.
    pub fn at(&mut self, at: Timestamp, happening: H) {
        self.entries += 1;
        self.queue.insert((at.max(self.now), self.entries), happening);
    }

    pub fn after(&mut self, delay: SignedDuration, happening: H) {
        self.at(self.now + delay, happening);
    }

    /// Moves the clock to the next thing that comes before `end`, else to
    /// `end`.
    pub fn next(&mut self, end: Timestamp) -> Option<H> {
        match self.queue.first_entry() {
            Some(entry) if entry.key().0 <= end => {
                self.now = entry.key().0;
                Some(entry.remove())
            }
            _ => {
                self.now = self.now.max(end);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_in_order_and_the_clock_stops_at_the_end() {
        let start = Timestamp::UNIX_EPOCH;
        let second = SignedDuration::from_secs(1);
        let mut agenda = Agenda::new(start);
        agenda.after(second, "b");
        agenda.after(SignedDuration::ZERO, "a");
        agenda.after(second, "c");
        agenda.after(second * 9, "z");
        let end = start + second * 2;
        let order: Vec<_> = std::iter::from_fn(|| agenda.next(end)).collect();
        assert_eq!(order, ["a", "b", "c"]);
        assert_eq!(agenda.now(), end);
        agenda.at(start, "late");
        assert_eq!((agenda.next(end), agenda.now()), (Some("late"), end));
    }
}
