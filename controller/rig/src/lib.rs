//! The test room: plans judged by a real Kubernetes control plane.
//!
//! [`plane`] runs a throw-away control plane, [`api`] talks to it, [`objects`]
//! makes what it is to hold, [`room`] clears and fills it, [`legality`] lets
//! the real scheduler carry out plans and tells where it disagrees,
//! [`fidelity`] measures how much of a plan comes true in three ways of
//! placing pods.
//!
//! Nothing in here is part of Millwright's programs.
#![forbid(unsafe_code)]

pub mod api;
pub mod fidelity;
pub mod legality;
pub mod objects;
pub mod plane;
pub mod room;

/// Tells a line at once: the print macros are held back by the test harness.
#[allow(clippy::explicit_write)] // what is written by hand is not held back
pub fn say(line: &str) {
    use std::io::Write;
    // Nobody listens: nothing to be done.
    drop(writeln!(std::io::stderr(), "rig: {line}"));
}
