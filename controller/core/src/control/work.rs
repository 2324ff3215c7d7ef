//! What is solved aside, while the brain goes on looking.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use millwright_models::catalog::Catalog;
use millwright_models::world::World;

use crate::consolidate::{self, Audit, AuditError};
use crate::provision::{self, Clock, Decision, PlanError};

/// How far the clock of work that was given up jumps each time somebody looks
/// at it: past any deadline, also past one that is set only then.
const JUMP: Duration = Duration::from_secs(3600);

/// A problem with the snapshot it is about.
#[derive(Debug)]
pub struct Work {
    pub world: Arc<World>,
    pub catalog: Arc<Catalog>,
    pub question: Question,
    pub asked: Timestamp,
    pub cancel: Cancel,
}

/// Tells whoever solves a problem that nobody waits for the answer.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// What is to be decided.
#[derive(Clone, Debug)]
pub enum Question {
    Provision(Box<provision::Options>),
    Consolidate(Box<consolidate::Options>),
}

/// A problem with its answer.
#[derive(Debug)]
pub struct Finding {
    pub world: Arc<World>,
    pub asked: Timestamp,
    pub answer: Answer,
}

/// What was decided.
#[derive(Debug)]
pub enum Answer {
    Provision(Box<Result<Decision, PlanError>>),
    Consolidate(Box<Result<Audit, AuditError>>),
}

impl Cancel {
    /// Nobody waits any more.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Work {
    /// Solves it; takes as long as the options say, or until it is given up:
    /// then every deadline passes at once.
    pub fn run(self, clock: Clock<'_>) -> Finding {
        let Self { world, catalog, question, asked, cancel } = self;
        let jumps = AtomicU32::new(0);
        let hurried = || match cancel.is_set() {
            true => clock() + JUMP.saturating_mul(jumps.fetch_add(1, Ordering::Relaxed).saturating_add(1)),
            false => clock(),
        };
        let answer = match question {
            Question::Provision(options) => {
                Answer::Provision(Box::new(provision::plan(&world, &catalog, &options, &hurried)))
            }
            Question::Consolidate(options) => {
                Answer::Consolidate(Box::new(consolidate::audit(&world, &catalog, &options, &hurried)))
            }
        };
        Finding { world, asked, answer }
    }
}
