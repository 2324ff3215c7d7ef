//! Boolean satisfiability: formulas, answers under a limit, and tight
//! placements with exclusions as the one problem that needs it.
//!
//! Varisat solves. It has no limit of its own and cannot be interrupted, but
//! it stops when its proof cannot be written: the proof goes to a counter that
//! fails after so many bytes, which stand for conflicts. (Its DRAT proofs know
//! no assumptions, so it is its own format that is written.)

mod budget;
mod formula;
mod placement;
mod sums;

#[cfg(test)]
mod tests;

pub use formula::{Answer, Formula, Lit};
pub use placement::{Exclusion, Placement, Tight, place};
