//! One node at a time, pool by pool in turn. (spec 30 §12)

use std::collections::{BTreeMap, VecDeque};

use super::pass::{Command, Pass};
use super::{Method, Refusal};
use crate::budgets::Reason;
use crate::candidates::Candidate;

impl<'w> Pass<'_, 'w> {
    /// The first candidate that may go alone.
    pub(super) fn single(&self) -> Option<Command> {
        let left = self.remaining(Reason::Underutilized);
        for c in self.in_turn() {
            if (self.stop)() {
                return None;
            }
            if !left.allows(c) {
                continue;
            }
            if let Ok(command) = self.alone(c) {
                return Some(command);
            }
        }
        None
    }

    /// One node as a command.
    pub fn alone(&self, c: &Candidate<'_>) -> Result<Command, Refusal> {
        // The best case is that the node goes and nothing comes.
        self.judge(&[c], c.price)?;
        let command = self.decide(Method::Single, &[c])?;
        self.judge(&[c], command.savings)?;
        Ok(command)
    }

    /// The first candidate of each pool, then the second of each, and so on;
    /// pools by name.
    pub fn in_turn(&self) -> Vec<&Candidate<'w>> {
        let mut of_pool: BTreeMap<&str, VecDeque<&Candidate<'w>>> = BTreeMap::new();
        for c in self.consolidatable() {
            of_pool.entry(c.pool.map_or("", |p| p.name())).or_default().push_back(c);
        }
        let mut out = Vec::new();
        while of_pool.values().any(|q| !q.is_empty()) {
            out.extend(of_pool.values_mut().filter_map(VecDeque::pop_front));
        }
        out
    }
}
