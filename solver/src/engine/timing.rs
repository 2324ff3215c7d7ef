use super::{Clock, Options};
use std::time::Duration;

/// When search must end so that the answer is ready in time.
pub struct Timing<'a> {
    clock: Clock<'a>,
    deadline: Option<Duration>,
    reserve: Duration,
}

impl<'a> Timing<'a> {
    /// With iterations set, no clock decides.
    pub fn new(options: &Options, clock: Clock<'a>) -> Self {
        let deadline = options.deadline.filter(|_| options.iterations.is_none());
        Timing { clock, deadline, reserve: Duration::ZERO }
    }

    /// Whether search must end.
    pub fn up(&self) -> bool {
        self.deadline.is_some_and(|d| (self.clock)() + self.reserve >= d)
    }

    /// Runs a landing (plan and check) and keeps as much time back for the
    /// last one.
    pub fn landing<T>(&mut self, land: impl FnOnce() -> T) -> T {
        if self.deadline.is_none() {
            return land();
        }
        let start = (self.clock)();
        let out = land();
        let took = (self.clock)().saturating_sub(start);
        self.reserve = self.reserve.max(took + took / 4);
        out
    }
}
