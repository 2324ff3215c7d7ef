//! Certified vector bin packing over priced offerings.
//!
//! The crate knows no Kubernetes, no cloud, no clock and no I/O. An
//! [`Instance`](instance::Instance) states the problem in integers, a
//! [`Plan`](plan::Plan) answers it, a
//! [`Certificate`](certificate::Certificate) proves how far that answer can be
//! from the best one, and [`check`] re-verifies both with code of its own.
#![deny(unsafe_code)]

pub mod arrival;
pub mod bound;
pub mod certificate;
pub mod check;
pub mod consolidate;
pub mod engine;
pub mod exact;
pub mod explain;
pub mod firstfit;
pub mod fluid;
pub mod highs;
pub mod instance;
pub mod plan;
pub mod sat;
pub mod search;
pub mod units;
