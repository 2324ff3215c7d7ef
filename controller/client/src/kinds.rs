//! The kinds that decisions read, and where the server keeps them.

/// Objects per page of a list.
const PAGE: usize = 500;

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

    /// A page of the collection: the first, or the one that `token` leads to.
    pub fn page(&self, token: &str) -> String {
        let go_on = if token.is_empty() { String::new() } else { format!("&continue={}", escaped(token)) };
        format!("{}?limit={PAGE}{go_on}", self.path())
    }
}

/// What every decision reads.
pub const ALWAYS: [Watched; 16] = [
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

/// Changes of prices and capacities.
pub const OVERLAYS: [Watched; 1] = [Watched::new("karpenter.sh/v1alpha1", "NodeOverlay", "nodeoverlays", false)];

/// Buffers of capacity, and what they take their pods from.
pub const BUFFERS: [Watched; 5] = [
    Watched::new("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "capacitybuffers", false),
    Watched::new("v1", "PodTemplate", "podtemplates", false),
    Watched::new("apps/v1", "Deployment", "deployments", false),
    Watched::new("apps/v1", "StatefulSet", "statefulsets", false),
    Watched::new("apps/v1", "ReplicaSet", "replicasets", false),
];

/// What only a snapshot holds.
pub(crate) const FURTHER: [Watched; 2] = [
    Watched::new("resource.k8s.io/v1", "ResourceSlice", "resourceslices", false),
    Watched::new("v1", "Service", "services", false),
];

/// A token as a part of a query.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(char::from(byte)),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_a_query() {
        assert_eq!(ALWAYS[0].page(""), "/api/v1/pods?limit=500");
        let next = ALWAYS[2].page("eyJ2Ijoi+/==");
        assert_eq!(next, "/apis/karpenter.sh/v1/nodepools?limit=500&continue=eyJ2Ijoi%2B%2F%3D%3D");
    }
}
