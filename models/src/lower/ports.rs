//! Host ports. (spec 20 §11.4)

use std::collections::{BTreeMap, BTreeSet};

use crate::kube::pod::PodSpec;

/// A port taken on the node itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPort {
    pub port: u16,
    pub protocol: String,
    /// Empty for every address.
    pub ip: String,
}

impl HostPort {
    /// Whether two pods with these ports exclude each other on a node.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || self.ip.is_empty() || other.ip.is_empty())
    }
}

/// The host ports of a pod, sorted, without repetition.
pub fn host_ports(spec: &PodSpec) -> Vec<HostPort> {
    let mut ports: Vec<HostPort> = spec
        .containers
        .iter()
        .flat_map(|c| &c.ports)
        .filter(|p| p.host_port != 0)
        .map(|p| HostPort {
            port: p.host_port,
            protocol: if p.protocol.is_empty() { "TCP".to_owned() } else { p.protocol.clone() },
            ip: if p.host_ip == "0.0.0.0" || p.host_ip == "::" { String::new() } else { p.host_ip.clone() },
        })
        .collect();
    ports.sort();
    ports.dedup();
    ports
}

/// Whether any port of one list excludes any of the other.
pub fn conflict(a: &[HostPort], b: &[HostPort]) -> bool {
    a.iter().any(|x| b.iter().any(|y| x.conflicts(y)))
}

/// One exclusion: who carries it and whom it keeps away.
pub struct PortRule {
    pub owners: Vec<HostPort>,
    pub against: Vec<HostPort>,
}

/// Exclusions over the ports in use: for each port and protocol one per
/// address in use.
pub fn port_rules<'p>(ports: impl Iterator<Item = &'p HostPort>) -> Vec<PortRule> {
    let mut groups: BTreeMap<(u16, &str), BTreeSet<&HostPort>> = BTreeMap::new();
    for p in ports {
        groups.entry((p.port, &p.protocol)).or_default().insert(p);
    }
    let mut rules = Vec::new();
    for group in groups.values() {
        for &owner in group {
            let against = group.iter().filter(|p| p.conflicts(owner)).map(|p| (*p).clone()).collect();
            rules.push(PortRule { owners: vec![owner.clone()], against });
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(ip: &str, port: u16, protocol: &str) -> HostPort {
        HostPort { port, protocol: protocol.into(), ip: ip.into() }
    }

    #[test]
    fn sch_138_conflicts() {
        let tcp = port("", 8080, "TCP");
        assert!(tcp.conflicts(&tcp));
        assert!(!tcp.conflicts(&port("", 8080, "UDP")));
        assert!(!port("10.0.0.1", 8080, "TCP").conflicts(&port("10.0.0.2", 8080, "TCP")));
        assert!(port("10.0.0.1", 8080, "TCP").conflicts(&tcp));
    }

    #[test]
    fn each_address_excludes_itself_and_the_wildcard() {
        let all = [port("", 80, "TCP"), port("10.0.0.1", 80, "TCP"), port("10.0.0.2", 80, "TCP")];
        let rules = port_rules(all.iter());
        let sizes: Vec<usize> = rules.iter().map(|r| r.against.len()).collect();
        assert_eq!(sizes, [3, 2, 2]);
    }
}
