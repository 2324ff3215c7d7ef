//! How much is known of a node that was open until we cordoned it.
//!
//! The scheduler may have decided for it just before, and its decision shows
//! half a second later at the latest. Only pods listed after that count.

use jiff::{SignedDuration, Timestamp};

use crate::control::ask::Ask;
use crate::control::desk::{Desk, Part};

/// A pod that the scheduler had assumed on the node is bound by then.
const SETTLES: SignedDuration = SignedDuration::from_millis(500);
const RETRY: SignedDuration = SignedDuration::from_secs(1);

/// Steps to a fresh list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// The cordon was first seen then.
    Seen(Timestamp),
    /// A list is on its way.
    Asked,
    /// No list was to be had.
    Failed(Timestamp),
    /// The snapshot holds a list that is young enough.
    Listed,
}

impl Fresh {
    /// Asks for what is missing. Tells whether nothing is.
    pub fn step(&mut self, now: Timestamp, node: &str, desk: &mut Desk) -> bool {
        let due = match *self {
            Self::Listed => return true,
            Self::Asked => return false,
            Self::Seen(at) => at + SETTLES,
            Self::Failed(at) => at + RETRY,
        };
        if now < due {
            desk.wake(due);
        } else if desk.ask(Part::Landing, Ask::Refresh { node: node.to_owned() }) {
            *self = Self::Asked;
        }
        false
    }
}
