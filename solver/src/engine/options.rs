use crate::certificate::Certificate;
use crate::instance::{InvalidInstance, Micros};
use crate::plan::Plan;
use std::time::Duration;

/// Time since the caller's start. The solver has no clock of its own.
pub type Clock<'a> = &'a (dyn Fn() -> Duration + Sync);

/// How to solve.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of every random choice.
    pub seed: u64,
    /// When the answer is due, on the caller's clock. `None`: until the
    /// search has nothing more to try.
    pub deadline: Option<Duration>,
    /// Rounds of search. If set, no clock decides anything and equal input
    /// gives equal output.
    pub iterations: Option<u64>,
    /// Stop early once cost / bound − 1 is at most this.
    pub stop_gap: f64,
    /// Who solves.
    pub method: Method,
    /// Threads to use; 1 interleaves search and proof.
    pub threads: usize,
    /// Plans from outside to start from. Those that the checker refuses are
    /// passed over.
    pub candidates: Vec<Candidate>,
}

/// A plan from outside: of another planner, or of the last solve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The plan, for the instance to be solved.
    pub plan: Plan,
    /// Named as the [source](Outcome::source) if nothing better is found.
    pub source: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 1,
            deadline: Some(Duration::from_secs(1)),
            iterations: None,
            stop_gap: 0.0,
            method: Method::Auto,
            threads: 2,
            candidates: Vec::new(),
        }
    }
}

/// Who solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Small instances exactly, others by search.
    #[default]
    Auto,
    /// Exactly, or as far as the deadline allows.
    Exact,
    /// By search, also where the instance is small: many answers in little
    /// time, as simulations want them.
    Search,
    /// First fit only.
    Greedy,
}

/// An answer with its proof.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What to do.
    pub plan: Plan,
    /// No plan that serves the same pods in the same tiers costs less, where
    /// the cost is [`Plan::cost`]: with removable nodes what is bought, less
    /// what is removed, plus the charges. Negative if something can be saved.
    pub bound: Micros,
    /// A bound that search proved without a certificate: the cost of an
    /// exact answer.
    pub claimed: Option<Micros>,
    /// Proof of the bound.
    pub certificate: Certificate,
    /// Which member found the plan.
    pub source: &'static str,
    /// Rounds of search done.
    pub rounds: u64,
    /// When the first plan was there that the checker accepted.
    pub first: Option<Duration>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The instance contradicts itself.
    #[error(transparent)]
    Invalid(#[from] InvalidInstance),
    /// Nodes that must go draw more than the budgets allow.
    #[error("the nodes that must go draw more than the budgets allow")]
    Budget,
    /// Every plan that was found failed the check: a defect of the engine.
    #[error("no plan passed the check")]
    NoPlan,
}
