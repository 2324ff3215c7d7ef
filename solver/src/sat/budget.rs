//! A proof writer that fails when its budget is spent.

use std::io::{Error, Write};

/// What one conflict adds to a proof, about: the literals of its lemma, and a
/// hash per clause that it follows from.
const BYTES: u64 = 128;

/// Takes so much of a proof and no more.
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub fn new(conflicts: u64) -> Self {
        Self { left: conflicts.saturating_mul(BYTES) }
    }
}

impl Write for Budget {
    fn write(&mut self, proof: &[u8]) -> std::io::Result<usize> {
        match self.left.checked_sub(proof.len() as u64) {
            Some(left) => self.left = left,
            None => return Err(Error::other("the budget of conflicts is spent")),
        }
        Ok(proof.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
