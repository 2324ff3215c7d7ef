//! The kinds that the API server stores.

use millwright_core::control::ask;

/// A kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Namespace,
    NodePool,
    NodeClass,
    NodeClaim,
    Node,
    Pod,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Budget,
    CapacityBuffer,
}

impl Kind {
    pub const ALL: [Self; 11] = [
        Self::Namespace,
        Self::NodePool,
        Self::NodeClass,
        Self::NodeClaim,
        Self::Node,
        Self::Pod,
        Self::ReplicaSet,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::Budget,
        Self::CapacityBuffer,
    ];

    pub fn api_version(self) -> &'static str {
        match self {
            Self::Namespace | Self::Node | Self::Pod => "v1",
            Self::NodePool | Self::NodeClaim => "karpenter.sh/v1",
            Self::NodeClass => "karpenter.k8s.aws/v1",
            Self::ReplicaSet | Self::StatefulSet | Self::DaemonSet => "apps/v1",
            Self::Budget => "policy/v1",
            Self::CapacityBuffer => "autoscaling.x-k8s.io/v1beta1",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Namespace => "Namespace",
            Self::NodePool => "NodePool",
            Self::NodeClass => "EC2NodeClass",
            Self::NodeClaim => "NodeClaim",
            Self::Node => "Node",
            Self::Pod => "Pod",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Budget => "PodDisruptionBudget",
            Self::CapacityBuffer => "CapacityBuffer",
        }
    }

    /// The kind that an object says it is.
    pub fn of(api_version: &str, name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.api_version() == api_version && k.name() == name)
    }

    pub fn is_namespaced(self) -> bool {
        !matches!(self, Self::Namespace | Self::NodePool | Self::NodeClass | Self::NodeClaim | Self::Node)
    }

    /// Creation drops what these say about their status; Nodes keep it.
    pub fn is_born_without_status(self) -> bool {
        !matches!(self, Self::Node | Self::Namespace)
    }

    /// The kind as the controller writes it.
    pub fn written(self) -> Option<ask::Kind> {
        match self {
            Self::Pod => Some(ask::Kind::Pod),
            Self::Node => Some(ask::Kind::Node),
            Self::NodeClaim => Some(ask::Kind::NodeClaim),
            Self::NodePool => Some(ask::Kind::NodePool),
            Self::NodeClass => Some(ask::Kind::NodeClass),
            Self::CapacityBuffer => Some(ask::Kind::CapacityBuffer),
            _ => None,
        }
    }
}

impl From<ask::Kind> for Kind {
    fn from(kind: ask::Kind) -> Self {
        match kind {
            ask::Kind::Pod => Self::Pod,
            ask::Kind::Node => Self::Node,
            ask::Kind::NodeClaim => Self::NodeClaim,
            ask::Kind::NodePool => Self::NodePool,
            ask::Kind::NodeClass => Self::NodeClass,
            ask::Kind::CapacityBuffer => Self::CapacityBuffer,
        }
    }
}
