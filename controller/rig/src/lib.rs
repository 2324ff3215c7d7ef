//! The test room: plans judged by a real Kubernetes control plane.
//!
//! [`plane`] runs a throw-away control plane, [`api`] talks to it, [`objects`]
//! makes what it is to hold, [`room`] clears and fills it, [`legality`] lets the real scheduler carry out
//! plans and tells where it disagrees.
//!
//! Nothing in here is part of Millwright's programs.
#![forbid(unsafe_code)]

pub mod api;
pub mod fidelity;
pub mod legality;
pub mod objects;
pub mod plane;
pub mod room;
