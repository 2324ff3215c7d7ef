//! Unhealthy nodes: which one is to be repaired, how, and within what time.
//! (spec 30 §20)

mod breaker;
mod legacy;
mod matching;
mod policy;
mod queue;
mod reboot;
#[cfg(test)]
mod tests;

pub use breaker::{Breaker, breaker};
pub use legacy::{Legacy, legacy};
pub use matching::{Verdict, verdict};
pub use policy::{Action, Fault, Policies, Rule};
pub use queue::{Step, Why, queue};
pub use reboot::{Ledger, Reboot, Seen, reboot};
