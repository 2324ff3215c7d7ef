use super::{Clock, Options};
use std::time::Duration;

/// When search must end so that the answer is ready in time.
#[derive(Clone, Copy)]
pub struct Timing<'a> {
    clock: Clock<'a>,
    deadline: Option<Duration>,
    reserve: Duration,
    /// Share of the time that search gets where it does not run beside the
    /// proof.
    share: f64,
}

impl<'a> Timing<'a> {
    /// With iterations set, no clock decides.
    pub fn new(options: &Options, clock: Clock<'a>) -> Self {
        let deadline = options.deadline.filter(|_| options.iterations.is_none());
        Timing { clock, deadline, reserve: Duration::ZERO, share: 1.0 }
    }

    /// Whether search must end.
    pub fn up(&self) -> bool {
        self.deadline.is_some_and(|d| (self.clock)() + self.reserve >= d.mul_f64(self.share))
    }

    /// Seconds until the answer is due; without end where no clock decides.
    pub fn left(&self) -> f64 {
        let left = |d: Duration| d.saturating_sub((self.clock)() + self.reserve).as_secs_f64();
        self.deadline.map_or(f64::INFINITY, left)
    }

    /// The same with the deadline at a share of the whole.
    pub fn early(&self, share: f64) -> Self {
        Timing { deadline: self.deadline.map(|d| d.mul_f64(share)), ..*self }
    }

    /// The same, ending at a share of the time.
    pub fn part(&self, share: f64) -> Self {
        Timing { share: self.share * share, ..*self }
    }

    /// The same, keeping back at least what `other` does.
    pub fn reserving(&self, other: &Timing) -> Self {
        Timing { reserve: self.reserve.max(other.reserve), ..*self }
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

    /// For the proof: it ends a little before the deadline, to be written
    /// down and checked.
    pub fn proof(&self) -> Timing<'a> {
        let reserve = self.deadline.map_or(Duration::ZERO, |d| (d / 12).min(Duration::from_millis(300)));
        Timing { reserve, share: 1.0, ..*self }
    }

    /// The same with nothing kept back.
    pub fn due(&self) -> Timing<'a> {
        Timing { reserve: Duration::ZERO, share: 1.0, ..*self }
    }

    /// For a search that leaves the proof its time.
    pub fn shared(&self) -> Timing<'a> {
        Timing { share: 0.7, ..*self }
    }
}
