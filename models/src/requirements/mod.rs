//! The requirement algebra: what a node's labels may be.
//!
//! Semantics: `spec/20-scheduling.md` §3.

mod conflict;
mod requirement;
mod set;
#[cfg(test)]
mod tests;

pub use conflict::{Conflict, RequirementError};
pub use requirement::Requirement;
pub use set::{Requirements, nothing, well_known};
