//! Millwright's decisions as pure functions.
//!
//! `(snapshot, settings, time, seed) → decision`: no clock, no I/O, no async.
//! How much time has passed comes in as a function of the caller.
#![forbid(unsafe_code)]

pub mod against;
pub mod balanced;
pub mod budgets;
pub mod buffers;
pub mod candidates;
pub mod consolidatable;
pub mod consolidate;
pub mod control;
pub mod cost;
pub mod drift;
pub mod duration;
pub mod expire;
pub mod explain;
pub mod karpenter;
pub mod launch;
pub mod nodes;
pub mod offered;
pub mod pdb;
pub mod pods;
pub mod provision;
pub mod repair;
pub mod static_pools;
pub mod terminate_first;
