//! Whether this process may still write.
//!
//! Another one takes the lease over once it has not been renewed for its
//! duration. A clock that runs a little fast and a request on its way need
//! room, so writing ends a good while earlier, by this process's own clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Shared between whoever renews the lease and whoever writes.
#[derive(Clone, Debug)]
pub struct Fence {
    began: Instant,
    /// Milliseconds since `began` until which writing is allowed.
    until: Arc<AtomicU64>,
}

impl Fence {
    /// Closed until the lease is held.
    pub fn closed() -> Self {
        Self { began: Instant::now(), until: Arc::new(AtomicU64::new(0)) }
    }

    /// Open for good: leader election is off.
    pub fn open() -> Self {
        Self { began: Instant::now(), until: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// The lease was renewed by a request sent at `sent`; it allows writing for
    /// `span` from then.
    pub fn renew(&self, sent: Instant, span: Duration) {
        let until = (sent + span).saturating_duration_since(self.began);
        self.until.store(u64::try_from(until.as_millis()).unwrap_or(u64::MAX), Ordering::Release);
    }

    /// The lease is lost or given back.
    pub fn close(&self) {
        self.until.store(0, Ordering::Release);
    }

    pub fn holds(&self) -> bool {
        self.holds_at(Instant::now())
    }

    fn holds_at(&self, now: Instant) -> bool {
        let now = now.saturating_duration_since(self.began).as_millis();
        now < u128::from(self.until.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_closes_by_itself_when_nobody_renews() {
        let fence = Fence::closed();
        let start = Instant::now();
        assert!(!fence.holds_at(start));
        fence.renew(start, Duration::from_secs(10));
        assert!(fence.holds_at(start + Duration::from_secs(9)));
        assert!(!fence.holds_at(start + Duration::from_secs(11)));
        let copy = fence.clone();
        copy.renew(start + Duration::from_secs(8), Duration::from_secs(10));
        assert!(fence.holds_at(start + Duration::from_secs(17)), "copies share it");
        fence.close();
        assert!(!copy.holds_at(start));
        assert!(Fence::open().holds_at(start + Duration::from_secs(86_400)));
    }
}
