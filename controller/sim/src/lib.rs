//! A cluster and its provider, simulated, with a controller in it.
//!
//! One seed decides everything: which cluster, what goes wrong, when each
//! message arrives. Nothing here reads a clock or starts a thread, so a seed
//! that fails fails again, event by event.

pub mod agenda;
pub mod clients;
pub mod control_plane;
pub mod dice;
pub mod faults;
pub mod history;
pub mod invariants;
pub mod json;
pub mod provider;
pub mod server;
pub mod simulation;
pub mod stage;
pub mod violation;
pub mod worlds;

pub use simulation::{MakeBrain, Options, Report, Simulation, run};
pub use violation::Violation;
