//! The certificate as it stands in a plan's JSON, and its re-check.
//!
//! Version 2, which has roundings. Positions of the solver become names: pods by an example, bins
//! by pool, type, zone and capacity type, domains by their label values.

mod audit;
mod names;
mod read;
mod verify;
mod words;
mod write;

pub use read::ProofError;
pub use verify::{Verdict, verify};
pub use write::to_json;

/// Version of the format.
pub const VERSION: u64 = 2;
