//! Label, annotation and taint keys.

pub const HOSTNAME: &str = "kubernetes.io/hostname";
pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const REGION: &str = "topology.kubernetes.io/region";
pub const ARCH: &str = "kubernetes.io/arch";
pub const OS: &str = "kubernetes.io/os";
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
pub const WINDOWS_BUILD: &str = "node.kubernetes.io/windows-build";
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
pub const NODEPOOL: &str = "karpenter.sh/nodepool";
pub const REGISTERED: &str = "karpenter.sh/registered";
pub const INITIALIZED: &str = "karpenter.sh/initialized";
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
pub const RESERVATION_ID: &str = "karpenter.k8s.aws/capacity-reservation-id";
pub const INSTANCE_CATEGORY: &str = "karpenter.k8s.aws/instance-category";
pub const INSTANCE_FAMILY: &str = "karpenter.k8s.aws/instance-family";
pub const INSTANCE_GENERATION: &str = "karpenter.k8s.aws/instance-generation";
pub const INSTANCE_SIZE: &str = "karpenter.k8s.aws/instance-size";
pub const INSTANCE_TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";
pub const EC2_NODE_CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";

pub const ON_DEMAND: &str = "on-demand";
pub const SPOT: &str = "spot";
pub const RESERVED: &str = "reserved";

/// Group of the core kinds.
pub const KARPENTER: &str = "karpenter.sh";
/// Group of the AWS kinds.
pub const KARPENTER_AWS: &str = "karpenter.k8s.aws";

/// Labels that a template need not define for a pod to ask for them, sorted.
pub const WELL_KNOWN: &[&str] = &[
    "karpenter.k8s.aws/capacity-reservation-id",
    "karpenter.k8s.aws/capacity-reservation-interruptible",
    "karpenter.k8s.aws/capacity-reservation-type",
    "karpenter.k8s.aws/instance-accelerator-count",
    "karpenter.k8s.aws/instance-accelerator-manufacturer",
    "karpenter.k8s.aws/instance-accelerator-name",
    "karpenter.k8s.aws/instance-capability-flex",
    "karpenter.k8s.aws/instance-category",
    "karpenter.k8s.aws/instance-cpu",
    "karpenter.k8s.aws/instance-cpu-manufacturer",
    "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
    "karpenter.k8s.aws/instance-ebs-bandwidth",
    "karpenter.k8s.aws/instance-encryption-in-transit-supported",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-generation",
    "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "karpenter.k8s.aws/instance-gpu-memory",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-hypervisor",
    "karpenter.k8s.aws/instance-local-nvme",
    "karpenter.k8s.aws/instance-memory",
    "karpenter.k8s.aws/instance-network-bandwidth",
    "karpenter.k8s.aws/instance-size",
    "karpenter.k8s.aws/instance-tenancy",
    "karpenter.k8s.aws/placement-group-id",
    "karpenter.k8s.aws/placement-group-partition",
    "karpenter.sh/capacity-type",
    "karpenter.sh/nodepool",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "node.kubernetes.io/windows-build",
    "topology.k8s.aws/zone-id",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Domains whose labels only Karpenter sets.
pub const RESTRICTED_DOMAINS: &[&str] = &[KARPENTER, KARPENTER_AWS];

const ALIASES: &[(&str, &str)] = &[
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    ("failure-domain.beta.kubernetes.io/region", REGION),
    ("beta.kubernetes.io/arch", ARCH),
    ("beta.kubernetes.io/os", OS),
    ("beta.kubernetes.io/instance-type", INSTANCE_TYPE),
    ("topology.ebs.csi.aws.com/zone", ZONE),
];

/// Whether pods may ask for `key` though no template defines it.
pub fn is_well_known(key: &str) -> bool {
    WELL_KNOWN.binary_search(&key).is_ok()
}

/// Whether users may not set or ask for `key`.
pub fn is_restricted(key: &str) -> bool {
    if is_well_known(key) {
        return false;
    }
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    key == HOSTNAME
        || RESTRICTED_DOMAINS
            .iter()
            .any(|r| domain.strip_suffix(r).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// The key that `key` is an alias of, or itself.
pub fn normalise(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, target)| target)
}

/// The aliases of `key`.
pub fn aliases(key: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    ALIASES.iter().filter(move |(_, target)| *target == key).map(|(alias, _)| *alias)
}

/// The values a key may have at all, where that is known.
pub fn known_values(key: &str) -> Option<&'static [&'static str]> {
    match key {
        CAPACITY_TYPE => Some(&[SPOT, ON_DEMAND, RESERVED]),
        INSTANCE_TENANCY => Some(&["default", "dedicated"]),
        _ => None,
    }
}

/// Whether `key` is a qualified name: an optional DNS prefix and a name of at
/// most 63 characters.
pub fn is_qualified(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    prefix.is_none_or(is_dns_subdomain) && is_name(name, 63)
}

/// Whether `value` may be a label's value.
pub fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_name(value, 63)
}

fn is_name(text: &str, longest: usize) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= longest
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn is_dns_subdomain(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.len() <= 253
        && text.split('.').all(|part| {
            let bytes = part.as_bytes();
            edge(bytes.first())
                && edge(bytes.last())
                && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_well_known_list_is_sorted() {
        assert!(WELL_KNOWN.is_sorted());
        assert!(WELL_KNOWN.iter().all(|k| is_qualified(k)));
    }

    #[test]
    fn sch_024_to_027_restricted_keys() {
        for key in ["karpenter.sh/foo", "sub.karpenter.sh/foo", HOSTNAME, "karpenter.k8s.aws/nope", REGISTERED] {
            assert!(is_restricted(key), "{key}");
        }
        for key in [NODEPOOL, "node.kubernetes.io/role", "notkarpenter.sh/x", "kops.k8s.io/x", "team", "karpenter.sh"] {
            assert!(!is_restricted(key), "{key}");
        }
    }

    #[test]
    fn names() {
        assert!(is_qualified("a") && is_qualified("example.com/a_b.c-D"));
        assert!(!is_qualified("") && !is_qualified("/a") && !is_qualified("a/") && !is_qualified("Ex.com/a"));
        assert!(!is_qualified("a/b/c") && !is_qualified("-a") && !is_qualified(&"x".repeat(64)));
        assert!(is_label_value("") && is_label_value("v1.2_3") && !is_label_value("a b") && !is_label_value("a-"));
    }
}
