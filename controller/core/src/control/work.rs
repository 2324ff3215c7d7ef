//! What is solved aside, while the brain goes on looking.

use std::sync::Arc;

use jiff::Timestamp;
use millwright_models::catalog::Catalog;
use millwright_models::world::World;

use crate::consolidate::{self, Audit, AuditError};
use crate::provision::{self, Clock, Decision, PlanError};

/// A problem with the snapshot it is about.
#[derive(Debug)]
pub struct Work {
    pub world: Arc<World>,
    pub catalog: Arc<Catalog>,
    pub question: Question,
    pub asked: Timestamp,
}

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

impl Work {
    /// Solves it; takes as long as the options say.
    pub fn run(self, clock: Clock<'_>) -> Finding {
        let Self { world, catalog, question, asked } = self;
        let answer = match question {
            Question::Provision(options) => {
                Answer::Provision(Box::new(provision::plan(&world, &catalog, &options, clock)))
            }
            Question::Consolidate(options) => {
                Answer::Consolidate(Box::new(consolidate::audit(&world, &catalog, &options, clock)))
            }
        };
        Finding { world, asked, answer }
    }
}
