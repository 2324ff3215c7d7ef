//! Names that the life of claims and nodes is written with. (spec 40 §1)

use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodepool::NodeClassRef;
use millwright_models::kube::node::Node;

/// Finalizer of NodeClaims and Nodes.
pub const TERMINATION: &str = "karpenter.sh/termination";
/// Label: taints are not copied to the node.
pub const DO_NOT_SYNC_TAINTS: &str = "karpenter.sh/do-not-sync-taints";
/// Taint key of a node that has not registered, `NoExecute`.
pub const UNREGISTERED: &str = "karpenter.sh/unregistered";
/// Label that takes a node out of load balancers.
pub const EXCLUDE_BALANCERS: (&str, &str) = ("node.kubernetes.io/exclude-from-external-load-balancers", "karpenter");
/// Annotation: when the drain must be over.
pub const DEADLINE: &str = "karpenter.sh/nodeclaim-termination-timestamp";
/// Annotation of a node that we hold, and the key of the taint that holds one
/// that was open before.
pub const HOLD: &str = "millwright.dev/hold";
/// Annotation: until when it is held at most.
pub const HOLD_UNTIL: &str = "millwright.dev/hold-until";

/// Conditions of a NodeClaim.
pub const LAUNCHED: &str = "Launched";
pub const REGISTERED: &str = "Registered";
pub const INITIALIZED: &str = "Initialized";
pub const CONSOLIDATABLE: &str = "Consolidatable";
pub const DRIFTED: &str = "Drifted";
pub const DISRUPTION_REASON: &str = "DisruptionReason";
pub const DRAINED: &str = "Drained";
pub const VOLUMES_DETACHED: &str = "VolumesDetached";
pub const INSTANCE_TERMINATING: &str = "InstanceTerminating";
pub const CONSISTENT: &str = "ConsistentStateFound";
pub const REBOOTING: &str = "Rebooting";
/// Conditions of a NodePool.
pub const VALIDATED: &str = "ValidationSucceeded";
pub const CLASS_READY: &str = "NodeClassReady";
pub const HEALTHY: &str = "NodeRegistrationHealthy";
/// The condition that sums up.
pub const READY: &str = "Ready";

/// Whether the provider knows node classes of this kind. Everything else is
/// left alone.
pub fn is_managed(class: &NodeClassRef) -> bool {
    class.group == labels::KARPENTER_AWS && class.kind == "EC2NodeClass"
}

/// Whether a node belongs to a claim of a kind that the provider knows.
pub fn is_managed_node(node: &Node) -> bool {
    node.meta.labels.contains_key(labels::EC2_NODE_CLASS)
}
