//! What goes wrong now and then.

use jiff::SignedDuration;

/// Probabilities per request, news or machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// A patch meets somebody else's.
    pub conflict: f64,
    /// A write is carried out, the answer is lost.
    pub lost: f64,
    /// A request is turned away.
    pub throttled: f64,
    /// News come late, at most by [`Rates::latest`].
    pub late: f64,
    pub latest: SignedDuration,
    /// News wait for others.
    pub batched: f64,
    /// News come twice.
    pub duplicated: f64,
    /// A machine never registers.
    pub never_boots: f64,
    /// A machine takes minutes.
    pub slow_boots: f64,
    /// A machine offers less than promised.
    pub small: f64,
}

impl Rates {
    /// Nothing goes wrong.
    pub fn calm() -> Self {
        Self {
            conflict: 0.0,
            lost: 0.0,
            throttled: 0.0,
            late: 0.0,
            latest: SignedDuration::from_millis(200),
            batched: 0.2,
            duplicated: 0.0,
            never_boots: 0.0,
            slow_boots: 0.0,
            small: 0.0,
        }
    }

    /// What a bad day brings.
    pub fn rough() -> Self {
        Self {
            conflict: 0.01,
            lost: 0.01,
            throttled: 0.01,
            late: 0.03,
            latest: SignedDuration::from_millis(300),
            duplicated: 0.02,
            never_boots: 0.02,
            slow_boots: 0.1,
            small: 0.03,
            ..Self::calm()
        }
    }

    /// Everything at once.
    pub fn wild() -> Self {
        Self {
            conflict: 0.05,
            lost: 0.05,
            throttled: 0.05,
            late: 0.15,
            latest: SignedDuration::from_millis(1500),
            batched: 0.4,
            duplicated: 0.1,
            never_boots: 0.1,
            slow_boots: 0.2,
            small: 0.1,
        }
    }
}
