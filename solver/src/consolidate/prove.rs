//! The proof, and what its linear relaxation says about which nodes go.

use super::selection::{Effort, select};
use crate::bound::{Certifier, Round, Served};
use crate::engine::Proof;
use crate::instance::Instance;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most columns over which a selection is made.
const COLUMNS: usize = 6_000;

/// What proof and search tell each other.
#[derive(Default)]
pub struct Shared {
    /// The bound so far, in micro-dollars; not yet put to the verifier.
    pub bound: AtomicI64,
    /// Search has what it wants.
    pub done: AtomicBool,
    /// No more comes from here.
    pub over: AtomicBool,
    news: Mutex<News>,
}

#[derive(Default)]
struct News {
    kept: Option<Vec<f64>>,
    selected: Vec<Vec<usize>>,
}

impl Shared {
    /// Nothing known yet.
    pub fn new() -> Self {
        Shared { bound: AtomicI64::new(i64::MIN), ..Shared::default() }
    }

    /// The latest share of each node that the relaxation keeps, once.
    pub fn kept(&self) -> Option<Vec<f64>> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).kept.take()
    }

    /// A selection of nodes that go, once.
    pub fn selected(&self) -> Option<Vec<usize>> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).selected.pop()
    }

    fn tell(&self, kept: Vec<f64>) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).kept = Some(kept);
    }

    fn tell_selected(&self, gone: Vec<usize>) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).selected.push(gone);
    }
}

/// How long to go on.
pub struct Until<'a> {
    /// Most rounds.
    pub rounds: u64,
    /// Rounds that raise nothing after which no more are made.
    pub patience: u64,
    /// Rounds end here to leave time for a selection.
    pub pause: &'a dyn Fn() -> bool,
    /// All ends here.
    pub stop: &'a dyn Fn() -> bool,
    /// What a selection may take.
    pub effort: &'a dyn Fn() -> Effort,
}

/// Raises the bound for the pods served, and tells what the relaxation keeps.
pub fn prove(instance: &Instance, served: &[Served], until: &Until, shared: &Shared) -> Proof {
    let mut certifier = Certifier::new(instance, served);
    let mut best = certifier.fluid();
    shared.bound.fetch_max(best, Ordering::Relaxed);
    let (mut done, mut idle) = (0, 0);
    let mut paused = false;
    loop {
        let ended = done >= until.rounds || idle >= until.patience || (until.stop)();
        let round = if ended { Round::Stopped } else { certifier.round(until.stop) };
        done += 1;
        idle += 1;
        if round == Round::Better {
            idle = 0;
            best = best.max((certifier.estimate() * 1e6).floor() as i64);
            shared.bound.fetch_max(best, Ordering::Relaxed);
        }
        let last = matches!(round, Round::Converged | Round::Stopped);
        // Early solutions of the master lean on pods that nothing serves.
        if certifier.target().is_some() || last {
            shared.tell(certifier.kept());
        }
        if !paused && (last || (until.pause)()) && !shared.done.load(Ordering::Relaxed) {
            paused = true;
            choose(instance, &certifier, served, until, shared);
        }
        if last {
            break;
        }
    }
    shared.over.store(true, Ordering::Relaxed);
    let (bound, certificate) = certifier.best();
    Proof { served: served.to_vec(), bound, certificate: certificate.clone() }
}

/// Selects over the columns found so far.
fn choose(instance: &Instance, certifier: &Certifier, served: &[Served], until: &Until, shared: &Shared) {
    let columns = certifier.columns();
    if columns.is_empty() || columns.len() > COLUMNS {
        return;
    }
    let mut need = vec![0; instance.shapes.len()];
    served.iter().for_each(|&(s, _, n)| need[s] += u64::from(n));
    // A solver that fails costs one choice among many.
    if let Ok(Some(gone)) = select(instance, &columns, &need, (until.effort)()) {
        shared.tell_selected(gone);
    }
}
