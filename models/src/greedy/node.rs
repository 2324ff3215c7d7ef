//! Existing nodes as targets (spec 20 §7).

use std::collections::BTreeMap;

use super::book::{Book, ReqId};
use super::daemon::Daemon;
use super::port::{HostPort, host_ports};
use super::standing::Standing;
use super::taint::{TaintBook, TaintsId};
use super::topology::{Host, Target};
use super::volume::{Attached, Storage};
use crate::kube::pod::Pod;
use crate::requirements::Requirements;
use crate::resources::Resources;

/// A node with what is left of it.
#[derive(Debug)]
pub(super) struct NodeState {
    pub req: ReqId,
    pub taints: TaintsId,
    /// Free amounts by dimension.
    pub free: Vec<i64>,
    /// Some resource is overdrawn, so nothing more fits.
    pub overdrawn: bool,
    pub ports: Vec<HostPort>,
    pub attached: Attached,
    /// Attach limit per driver; absent is unlimited.
    pub attach_limits: BTreeMap<String, u32>,
    pub placed: Vec<usize>,
}

/// What it takes to describe a node.
pub(super) struct Survey<'a> {
    pub daemons: &'a [Daemon<'a>],
    pub dims: &'a [String],
    pub storage: &'a Storage<'a>,
    /// Keys that some rule looks at.
    pub keys: &'a std::collections::BTreeSet<String>,
}

impl Survey<'_> {
    /// The labels that some rule looks at, hostname apart.
    pub fn labels(&self, node: &Standing<'_>) -> Requirements {
        let all = Requirements::from_labels(node.labels);
        all.iter().filter(|r| self.keys.contains(&r.key)).cloned().collect()
    }

    /// The node with its running pods.
    pub fn node(
        &self,
        book: &mut Book,
        taints: &mut TaintBook,
        place: usize,
        node: &Standing<'_>,
        pods: &[&Pod],
        limits: BTreeMap<String, u32>,
    ) -> NodeState {
        let req = book.id(self.labels(node));
        let (mut free, mut present, mut expected) =
            (node.allocatable.clone(), Resources::default(), Resources::default());
        let (mut ports, mut attached) = (Vec::new(), Attached::default());
        for pod in pods {
            free.sub(&pod.requests);
            if pod.is_daemon() {
                present.add(&pod.requests);
            }
            ports.extend(host_ports(&pod.spec));
            for (driver, claims) in self.storage.attached(pod) {
                attached.entry(driver).or_default().extend(claims);
            }
        }
        for daemon in self.daemons {
            if daemon.on_node(book, req, &node.taints, Host::Node(place, node.hostname)) {
                expected.add(daemon.requests);
            }
        }
        for (name, amount) in expected.iter() {
            let missing = amount.saturating_sub(present.get(name)).max(0);
            free.set(name, free.get(name).saturating_sub(missing));
        }
        let overdrawn = free.iter().any(|(_, amount)| amount < 0);
        NodeState {
            req,
            taints: taints.taints_id(&node.taints),
            free: self.dims.iter().map(|d| free.get(d)).collect(),
            overdrawn,
            ports,
            attached,
            attach_limits: limits,
            placed: Vec::new(),
        }
    }
}

impl NodeState {
    pub fn target<'a>(&self, place: usize, hostname: &'a str) -> Target<'a> {
        Target { req: self.req, taints: self.taints, host: Host::Node(place, hostname) }
    }
}
