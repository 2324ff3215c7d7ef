//! Karpenter's kinds: NodePool, NodeClaim, NodeOverlay, EC2NodeClass, CapacityBuffer.
//!
//! Semantics: `spec/10-api.md`; the node class: `spec/50-aws.md` §1.

pub mod buffer;
pub mod crds;
mod default_pool;
pub mod hash;
pub mod labels;
pub mod nodeclaim;
pub mod nodeclass;
pub mod nodepool;
pub mod overlay;
pub(crate) mod validate;
pub mod written;

pub use default_pool::default_pools;
