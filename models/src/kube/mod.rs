//! The part of the Kubernetes API that decides where pods can run.

pub mod meta;
pub mod node;
pub mod pod;
pub mod policy;
pub mod selector;
pub mod volume;
pub mod workload;
