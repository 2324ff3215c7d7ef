//! The world Millwright decides on.
//!
//! Kubernetes and Karpenter objects as far as they matter, the EC2 catalogue,
//! a validated snapshot of both ([`world::World`]), and the compiler that
//! turns it into the solver's terms ([`lower`]) and back.
//!
//! Pure: no clock, no I/O, no async runtime, no API client.
#![forbid(unsafe_code)]

pub mod catalog;
mod faults;
pub mod greedy;
pub mod karpenter;
pub mod kube;
pub mod lift;
pub mod lower;
pub mod quantity;
pub mod reader;
pub mod redact;
pub mod requirements;
pub mod resources;
pub mod rules;
pub mod world;
