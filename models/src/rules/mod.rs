//! The filters of kube-scheduler (v1.37), re-implemented as an oracle.
//!
//! Everything here works on Kubernetes objects alone and shares nothing with
//! the compiler or the solver: a plan that both agree on was judged twice.
//!
//! Covered: NodeName, NodeUnschedulable, TaintToleration, NodeAffinity,
//! NodePorts, NodeResourcesFit, VolumeBinding and VolumeZone as far as bound
//! volumes and allowed topologies go, NodeVolumeLimits, PodTopologySpread and
//! InterPodAffinity. Not covered: DynamicResources, static binding of unbound
//! volumes, storage capacity, ReadWriteOncePod, scheduling gates.

mod between;
mod class;
mod counters;
mod labels;
mod landing;
mod picks;
mod ports;
mod refusal;
mod replay;
mod search;
mod spread;
mod state;
mod storage;
mod taints;
mod tally;
mod topology;

#[cfg(test)]
mod tests;

pub use landing::{Stuck, landing_order};
pub use refusal::{Refusal, StateError};
pub use replay::{Annoyed, Placement, landing_steps, replay, replay_adversarial};
pub use state::State;
