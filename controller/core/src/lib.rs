//! Millwright's decisions as pure functions.
//!
//! `(snapshot, settings, time, seed) → decision`: no clock, no I/O, no async.
//! How much time has passed comes in as a function of the caller.
#![forbid(unsafe_code)]

pub mod provision;
