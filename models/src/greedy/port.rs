//! Host ports: spec 20 §11.4.

use crate::kube::pod::PodSpec;

/// A port a pod takes on its node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct HostPort {
    ip: String,
    port: u16,
    protocol: String,
}

impl HostPort {
    fn conflicts(&self, other: &Self) -> bool {
        let any = |ip: &str| ip == "0.0.0.0" || ip == "::";
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || any(&self.ip) || any(&other.ip))
    }
}

/// The host ports of a pod's containers; init containers do not count.
pub(super) fn host_ports(spec: &PodSpec) -> Vec<HostPort> {
    let ports = spec.containers.iter().flat_map(|c| &c.ports).filter(|p| p.host_port != 0);
    let or = |text: &str, default: &str| if text.is_empty() { default.to_owned() } else { text.to_owned() };
    let mut all: Vec<HostPort> = ports
        .map(|p| HostPort { ip: or(&p.host_ip, "0.0.0.0"), port: p.host_port, protocol: or(&p.protocol, "TCP") })
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Whether any of `wanted` is taken.
pub(super) fn conflict(wanted: &[HostPort], taken: &[HostPort]) -> bool {
    wanted.iter().any(|w| taken.iter().any(|t| w.conflicts(t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sch_138_only_overlapping_addresses_conflict() {
        let port = |ip: &str, port, protocol: &str| HostPort { ip: ip.into(), port, protocol: protocol.into() };
        let one = [port("10.0.0.1", 8080, "TCP")];
        assert!(!conflict(&one, &[port("10.0.0.2", 8080, "TCP")]));
        assert!(!conflict(&one, &[port("10.0.0.1", 8080, "UDP")]));
        assert!(conflict(&one, &[port("0.0.0.0", 8080, "TCP")]));
        assert!(conflict(&one, &[port("::", 8080, "TCP")]));
        assert!(!conflict(&one, &[port("0.0.0.0", 8081, "TCP")]));
    }
}
