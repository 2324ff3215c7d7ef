//! The part of the Kubernetes API that decides where pods can run.

pub mod device;
pub mod eviction;
pub mod meta;
pub mod node;
mod pending;
pub mod pod;
pub mod policy;
pub mod requests;
pub mod selector;
pub(crate) mod validate;
pub mod volume;
pub mod workload;
