//! Whether enough is known to decide anything.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::kinds::Watched;

/// How far a watch has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Its first list is not complete.
    Waiting,
    /// Everything it had was seen.
    Listed,
    /// The API server does not know the kind, or does not let us read it.
    Absent,
}

/// Open once each watch has its first list. Kinds that decisions need close it
/// again when they vanish.
#[derive(Clone, Debug)]
pub struct Gate {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    known: BTreeMap<&'static str, (bool, Known)>,
    closed_since: Option<Instant>,
}

impl Gate {
    pub fn new(kinds: &[Watched]) -> Self {
        let known = kinds.iter().map(|k| (k.kind, (k.required, Known::Waiting))).collect();
        Self { state: Arc::new(Mutex::new(State { known, closed_since: Some(Instant::now()) })) }
    }

    /// Notes how far the watch of `kind` has come.
    pub fn note(&self, kind: &Watched, known: Known) {
        let mut state = self.lock();
        state.known.insert(kind.kind, (kind.required, known));
        let open = state.is_open();
        state.closed_since = if open { None } else { state.closed_since.or_else(|| Some(Instant::now())) };
    }

    pub fn is_open(&self) -> bool {
        self.lock().is_open()
    }

    /// How long it has been closed.
    pub fn closed_for(&self) -> Duration {
        self.lock().closed_since.map(|at| at.elapsed()).unwrap_or_default()
    }

    /// Kinds that keep it closed.
    pub fn missing(&self) -> Vec<&'static str> {
        let state = self.lock();
        state.known.iter().filter(|(_, s)| !is_known(**s)).map(|(kind, _)| *kind).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Each change is one insertion: a panic elsewhere cannot have broken it.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl State {
    fn is_open(&self) -> bool {
        self.known.values().all(|s| is_known(*s))
    }
}

fn is_known((required, known): (bool, Known)) -> bool {
    known == Known::Listed || (known == Known::Absent && !required)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::watched;
    use millwright_models::catalog::Gates;

    #[test]
    fn it_opens_when_all_lists_are_there_and_closes_when_a_needed_kind_goes() {
        let kinds = watched(&Gates::default());
        let gate = Gate::new(&kinds);
        assert_eq!(gate.missing().len(), kinds.len());
        for kind in &kinds {
            assert!(!gate.is_open());
            gate.note(kind, if kind.required { Known::Listed } else { Known::Absent });
        }
        assert!(gate.is_open() && gate.closed_for().is_zero());
        let pools = kinds.iter().find(|k| k.kind == "NodePool").unwrap();
        gate.note(pools, Known::Absent);
        assert_eq!((gate.is_open(), gate.missing()), (false, vec!["NodePool"]));
    }
}
