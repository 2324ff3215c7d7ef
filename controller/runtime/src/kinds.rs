//! What is watched.

use millwright_models::catalog::Gates;

/// A kind with the collection that holds all of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    pub api_version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    /// Without it nothing is decided; else it may be absent or forbidden.
    pub required: bool,
}

impl Watched {
    const fn new(api_version: &'static str, kind: &'static str, plural: &'static str, required: bool) -> Self {
        Self { api_version, kind, plural, required }
    }

    /// The collection of all namespaces.
    pub fn path(&self) -> String {
        let root = if self.api_version.contains('/') { "/apis" } else { "/api" };
        format!("{root}/{}/{}", self.api_version, self.plural)
    }
}

const ALWAYS: [Watched; 16] = [
    Watched::new("v1", "Pod", "pods", true),
    Watched::new("v1", "Node", "nodes", true),
    Watched::new("karpenter.sh/v1", "NodePool", "nodepools", true),
    Watched::new("karpenter.sh/v1", "NodeClaim", "nodeclaims", true),
    Watched::new("karpenter.k8s.aws/v1", "EC2NodeClass", "ec2nodeclasses", false),
    Watched::new("apps/v1", "DaemonSet", "daemonsets", true),
    Watched::new("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true),
    Watched::new("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    Watched::new("v1", "PersistentVolume", "persistentvolumes", true),
    Watched::new("storage.k8s.io/v1", "StorageClass", "storageclasses", true),
    Watched::new("storage.k8s.io/v1", "CSINode", "csinodes", true),
    Watched::new("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", true),
    Watched::new("v1", "Namespace", "namespaces", true),
    Watched::new("v1", "LimitRange", "limitranges", false),
    Watched::new("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false),
    Watched::new("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", false),
];

const OVERLAYS: [Watched; 1] = [Watched::new("karpenter.sh/v1alpha1", "NodeOverlay", "nodeoverlays", false)];

/// Buffers, and what they take their pods from.
const BUFFERS: [Watched; 5] = [
    Watched::new("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "capacitybuffers", false),
    Watched::new("v1", "PodTemplate", "podtemplates", false),
    Watched::new("apps/v1", "Deployment", "deployments", false),
    Watched::new("apps/v1", "StatefulSet", "statefulsets", false),
    Watched::new("apps/v1", "ReplicaSet", "replicasets", false),
];

/// Everything that decisions under these gates look at.
pub fn watched(gates: &Gates) -> Vec<Watched> {
    let mut all = ALWAYS.to_vec();
    if gates.node_overlay {
        all.extend(OVERLAYS);
    }
    if gates.capacity_buffer {
        all.extend(BUFFERS);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_and_gates() {
        let all = watched(&Gates { node_overlay: true, capacity_buffer: true, ..Gates::default() });
        let paths: Vec<String> = all.iter().map(Watched::path).collect();
        assert!(paths.contains(&"/api/v1/pods".to_owned()));
        assert!(paths.contains(&"/apis/karpenter.sh/v1/nodeclaims".to_owned()));
        assert!(paths.contains(&"/apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers".to_owned()));
        assert_eq!(all.len(), 22);
        assert_eq!(watched(&Gates::default()).len(), 16);
    }
}
