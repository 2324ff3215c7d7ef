//! The kinds that are read.

/// A kind whose objects matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Pod,
    PodTemplate,
    Node,
    Deployment,
    StatefulSet,
    ReplicaSet,
    ReplicationController,
    Job,
    DaemonSet,
    NodePool,
    NodeClaim,
    NodeOverlay,
    Ec2NodeClass,
    CapacityBuffer,
    PersistentVolumeClaim,
    PersistentVolume,
    StorageClass,
    CsiNode,
    VolumeAttachment,
    ResourceSlice,
    PodDisruptionBudget,
    PriorityClass,
    RuntimeClass,
    LimitRange,
    Namespace,
    Service,
}

const KINDS: [(&str, &str, Kind); 26] = [
    ("", "Pod", Kind::Pod),
    ("", "PodTemplate", Kind::PodTemplate),
    ("", "Node", Kind::Node),
    ("apps", "Deployment", Kind::Deployment),
    ("apps", "StatefulSet", Kind::StatefulSet),
    ("apps", "ReplicaSet", Kind::ReplicaSet),
    ("", "ReplicationController", Kind::ReplicationController),
    ("batch", "Job", Kind::Job),
    ("apps", "DaemonSet", Kind::DaemonSet),
    ("karpenter.sh", "NodePool", Kind::NodePool),
    ("karpenter.sh", "NodeClaim", Kind::NodeClaim),
    ("karpenter.sh", "NodeOverlay", Kind::NodeOverlay),
    ("karpenter.k8s.aws", "EC2NodeClass", Kind::Ec2NodeClass),
    ("autoscaling.x-k8s.io", "CapacityBuffer", Kind::CapacityBuffer),
    ("", "PersistentVolumeClaim", Kind::PersistentVolumeClaim),
    ("", "PersistentVolume", Kind::PersistentVolume),
    ("storage.k8s.io", "StorageClass", Kind::StorageClass),
    ("storage.k8s.io", "CSINode", Kind::CsiNode),
    ("storage.k8s.io", "VolumeAttachment", Kind::VolumeAttachment),
    ("resource.k8s.io", "ResourceSlice", Kind::ResourceSlice),
    ("policy", "PodDisruptionBudget", Kind::PodDisruptionBudget),
    ("scheduling.k8s.io", "PriorityClass", Kind::PriorityClass),
    ("node.k8s.io", "RuntimeClass", Kind::RuntimeClass),
    ("", "LimitRange", Kind::LimitRange),
    ("", "Namespace", Kind::Namespace),
    ("", "Service", Kind::Service),
];

/// The kinds that are read: API group and name.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|(group, name, _)| (*group, *name))
}

impl Kind {
    /// The kind of this name in the group of `api_version`.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        KINDS.iter().find(|(g, name, _)| *g == group && *name == kind).map(|(_, _, kind)| *kind)
    }

    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, _, kind)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// Whether objects of the kind live in a namespace.
    pub fn is_namespaced(self) -> bool {
        !matches!(
            self,
            Self::Node
                | Self::NodePool
                | Self::NodeClaim
                | Self::NodeOverlay
                | Self::Ec2NodeClass
                | Self::PersistentVolume
                | Self::StorageClass
                | Self::CsiNode
                | Self::VolumeAttachment
                | Self::ResourceSlice
                | Self::PriorityClass
                | Self::RuntimeClass
                | Self::Namespace
        )
    }

    /// `Pod default/web`, `Node n1`.
    pub fn object(self, namespace: &str, name: &str) -> String {
        let name = if name.is_empty() { "(no name)" } else { name };
        match (self.is_namespaced(), namespace) {
            (false, _) => format!("{} {name}", self.name()),
            (true, "") => format!("{} default/{name}", self.name()),
            (true, _) => format!("{} {namespace}/{name}", self.name()),
        }
    }
}
