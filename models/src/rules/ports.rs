//! NodePorts.

use super::refusal::Refusal;
use crate::kube::pod::PodSpec;

const ANY: &str = "0.0.0.0";

/// A port of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct HostPort {
    port: u16,
    protocol: String,
    ip: String,
}

/// Host ports of what runs as long as the pod: containers and sidecars.
pub(super) fn of(spec: &PodSpec) -> Vec<HostPort> {
    let sidecars = spec.init_containers.iter().filter(|c| c.restart_policy == "Always");
    let or = |text: &str, default: &str| if text.is_empty() { default.to_owned() } else { text.to_owned() };
    let ports = sidecars.chain(&spec.containers).flat_map(|c| &c.ports).filter(|p| p.host_port > 0);
    ports.map(|p| HostPort { port: p.host_port, protocol: or(&p.protocol, "TCP"), ip: or(&p.host_ip, ANY) }).collect()
}

/// Whether all of `wanted` are free; a pod's own ports never clash.
pub(super) fn free(wanted: &[HostPort], used: &[HostPort]) -> Result<(), Refusal> {
    match wanted.iter().find(|w| used.iter().any(|u| w.clashes(u))) {
        None => Ok(()),
        Some(HostPort { port, protocol, ip }) => {
            Err(Refusal::Port { ip: ip.clone(), protocol: protocol.clone(), port: *port })
        }
    }
}

impl HostPort {
    fn clashes(&self, other: &Self) -> bool {
        let ips = self.ip == other.ip || self.ip == ANY || other.ip == ANY;
        ips && self.port == other.port && self.protocol == other.protocol
    }
}
