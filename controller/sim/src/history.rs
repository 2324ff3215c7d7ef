//! What happened, for replays and for reports.

use std::collections::VecDeque;
use std::fmt;

use jiff::Timestamp;

/// Events that a report shows.
const KEPT: usize = 30;

/// The last events, and a digest of all.
#[derive(Clone, Debug)]
pub struct History {
    pub start: Timestamp,
    count: u64,
    digest: u64,
    last: VecDeque<Record>,
    /// Keeps every event, not only the last.
    pub is_full: bool,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub number: u64,
    pub at: Timestamp,
    pub what: String,
}

impl History {
    pub fn new(start: Timestamp) -> Self {
        Self { start, count: 0, digest: 0xcbf2_9ce4_8422_2325, last: VecDeque::new(), is_full: false }
    }

    pub fn add(&mut self, at: Timestamp, what: String) {
        self.count += 1;
        for byte in at.as_millisecond().to_le_bytes().into_iter().chain(what.bytes()) {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        if !self.is_full && self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(Record { number: self.count, at, what });
    }

    /// Events so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Equal for equal histories.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    pub fn last(&self) -> impl Iterator<Item = &Record> {
        self.last.iter()
    }
}

/// `12m03.250s` since `start`.
pub struct Since(pub Timestamp, pub Timestamp);

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.1.duration_since(self.0).as_millis();
        write!(f, "{}m{:02}.{:03}s", millis / 60_000, millis / 1000 % 60, millis % 1000)
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for record in &self.last {
            writeln!(f, "  #{} {} {}", record.number, Since(self.start, record.at), record.what)?;
        }
        Ok(())
    }
}
