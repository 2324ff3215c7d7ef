//! Controllers that run: a brain, what it knows, and what it waits for.

mod mirror;
mod watch;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::brain::Brain;

pub use mirror::{Mirror, version};
pub use watch::{Delivery, Watch};

use crate::provider::Offerings;

/// A controller from its start to its end.
pub struct Client {
    pub brain: Brain,
    pub mirror: Mirror,
    pub watch: Watch,
    pub offerings: Offerings,
    /// It has listed everything once: nothing is decided before.
    pub is_synced: bool,
    /// When it looks next.
    pub look_at: Option<Timestamp>,
    /// How far its clock is ahead.
    pub skew: SignedDuration,
    /// It does nothing before this time.
    pub paused_until: Option<Timestamp>,
    /// Writes that were carried out.
    pub writes: u64,
    /// It dies once this write is carried out.
    pub dies_after: Option<u64>,
    pub since: Timestamp,
    /// Looks in the current second: a brain must not spin.
    pub looks: (i64, u32),
}

impl Client {
    pub fn new(brain: Brain, offerings: Offerings, now: Timestamp) -> Self {
        Self {
            brain,
            mirror: Mirror::default(),
            watch: Watch::default(),
            offerings,
            is_synced: false,
            look_at: None,
            skew: SignedDuration::ZERO,
            paused_until: None,
            writes: 0,
            dies_after: None,
            since: now,
            looks: (0, 0),
        }
    }

    /// Its clock.
    pub fn clock(&self, now: Timestamp) -> Timestamp {
        now + self.skew
    }

    /// Counts a look; tells how many there were in this second.
    pub fn count_look(&mut self, now: Timestamp) -> u32 {
        let second = now.as_second();
        self.looks = if self.looks.0 == second { (second, self.looks.1 + 1) } else { (second, 1) };
        self.looks.1
    }
}
