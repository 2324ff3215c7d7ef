//! A broken promise, with what led to it.

use std::fmt;

use jiff::Timestamp;

use crate::history::{History, Since};

/// What was broken, by which seed, when.
#[derive(Clone, Debug)]
pub struct Violation {
    pub seed: u64,
    pub at: Timestamp,
    pub rule: &'static str,
    pub message: String,
    pub history: History,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, at, rule, message, history } = self;
        let since = Since(history.start, *at);
        writeln!(f, "seed {seed}: {rule} broken at {since}, event {}: {message}", history.count())?;
        write!(f, "{history}")
    }
}

impl std::error::Error for Violation {}
