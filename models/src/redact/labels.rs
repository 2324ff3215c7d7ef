//! Which texts say nothing about a cluster's owner.

use crate::karpenter::labels::{EC2_NODE_CLASS, HOSTNAME, NODEPOOL, RESERVATION_ID};

/// Beginnings of keys that Kubernetes, Karpenter and EC2 give.
const KEYS: [&str; 10] = [
    "node.kubernetes.io/",
    "node-role.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "topology.kubernetes.io/",
    "topology.k8s.aws/",
    "topology.ebs.csi.aws.com/",
    "failure-domain.beta.kubernetes.io/",
    "karpenter.sh/",
    "karpenter.k8s.aws/",
    "millwright.dev/",
];
/// Further keys.
const SINGLE: [&str; 8] = [
    HOSTNAME,
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "kubernetes.io/metadata.name",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/instance-type",
    "metadata.name",
];
/// Known keys whose values name things of the owner's.
const NAMING: [&str; 6] =
    [HOSTNAME, NODEPOOL, EC2_NODE_CLASS, RESERVATION_ID, "kubernetes.io/metadata.name", "metadata.name"];
/// Names, and addresses that stand for any.
const NAMES: [&str; 9] = [
    "default",
    "default-scheduler",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "system-node-critical",
    "system-cluster-critical",
    "0.0.0.0",
    "::",
];
/// Annotations of others that decide something.
const ANNOTATIONS: [&str; 2] =
    ["controller.kubernetes.io/pod-deletion-cost", "cluster-autoscaler.kubernetes.io/safe-to-evict"];
/// Annotations of ours that hold names.
const NAMED: [&str; 2] = ["millwright.dev/slots", "millwright.dev/landing"];

pub fn is_key_public(key: &str) -> bool {
    key.is_empty() || SINGLE.contains(&key) || KEYS.iter().any(|prefix| key.starts_with(prefix))
}

/// Numbers stay numbers, since requirements compare them.
pub fn is_value_public(key: &str, value: &str) -> bool {
    let plain = value.is_empty() || value == "true" || value == "false" || value.parse::<i64>().is_ok();
    plain || (is_key_public(key) && !key.is_empty() && !NAMING.contains(&key))
}

/// Names that every cluster has.
pub fn is_name_public(name: &str) -> bool {
    name.is_empty() || NAMES.contains(&name)
}

/// Whether an annotation is kept: it decides something and its value is a
/// time, a number or a word, and no name.
pub fn is_annotation_kept(key: &str, value: &str) -> bool {
    let known = key.starts_with("karpenter.sh/") || key.starts_with("karpenter.k8s.aws/");
    let ours = key.starts_with("millwright.dev/") && !NAMED.contains(&key);
    let short = value.len() <= 64 && value.chars().all(|c| c.is_ascii_alphanumeric() || "-:.+ ".contains(c));
    short && (known || ours || ANNOTATIONS.contains(&key))
}
