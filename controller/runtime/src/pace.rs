//! No more than so many per second, after a burst.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A token bucket.
#[derive(Debug)]
pub struct Pace {
    per_second: f64,
    burst: f64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tokens: f64,
    at: Instant,
}

impl Pace {
    /// A full bucket of `burst` that fills at `per_second`.
    pub fn new(per_second: f64, burst: f64) -> Self {
        let burst = burst.max(1.0);
        Self {
            per_second: per_second.max(0.001),
            burst,
            state: Mutex::new(State { tokens: burst, at: Instant::now() }),
        }
    }

    /// Waits for a turn.
    pub async fn turn(&self) {
        let wait = self.take(Instant::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    /// Takes a token if there is one.
    pub fn try_turn(&self) -> bool {
        let mut state = self.filled(Instant::now());
        let is_free = state.tokens >= 1.0;
        if is_free {
            state.tokens -= 1.0;
        }
        is_free
    }

    /// Takes a token, lent if need be, and tells how long until it is due.
    fn take(&self, now: Instant) -> Duration {
        let mut state = self.filled(now);
        state.tokens -= 1.0;
        Duration::from_secs_f64((-state.tokens).max(0.0) / self.per_second)
    }

    fn filled(&self, now: Instant) -> std::sync::MutexGuard<'_, State> {
        // The state is two numbers: a panic elsewhere cannot have broken it.
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let passed = now.saturating_duration_since(state.at).as_secs_f64();
        state.tokens = (state.tokens + passed * self.per_second).min(self.burst);
        state.at = state.at.max(now);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_then_each_waits_its_turn() {
        let pace = Pace::new(10.0, 3.0);
        let now = Instant::now();
        let waits: Vec<u128> = (0..5).map(|_| pace.take(now).as_millis()).collect();
        assert_eq!(waits[..3], [0, 0, 0]);
        assert!((90..=100).contains(&waits[3]) && (190..=200).contains(&waits[4]), "{waits:?}");
        let later = now + Duration::from_secs(10);
        assert_eq!((0..3).map(|_| pace.take(later).as_millis()).collect::<Vec<_>>(), [0, 0, 0]);
        assert!(!pace.try_turn() || pace.take(later).as_millis() > 0);
    }
}
