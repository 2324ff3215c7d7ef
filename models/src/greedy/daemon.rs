//! DaemonSets' share of new and existing nodes (spec 20 §4.4, §4.5).

use super::book::{Book, ReqId};
use super::constraints::{add_term, is_preference, split_host};
use super::port::{HostPort, host_ports};
use super::topology::Host;
use crate::kube::node::{Taint, untolerated};
use crate::kube::pod::Toleration;
use crate::kube::workload::DaemonSet;
use crate::requirements::{Requirement, Requirements};
use crate::resources::Resources;

/// What a DaemonSet asks of a node.
#[derive(Debug)]
pub(super) struct Daemon<'a> {
    pub requests: &'a Resources,
    pub ports: Vec<HostPort>,
    tolerations: &'a [Toleration],
    /// Any of these.
    alternatives: Vec<(ReqId, Option<Requirement>)>,
}

impl<'a> Daemon<'a> {
    pub fn new(book: &mut Book, set: &'a DaemonSet) -> Self {
        let selector = Requirements::from_labels(&set.spec.node_selector);
        let affinity = set.spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
        let terms = affinity.and_then(|a| a.required.as_ref()).map(|r| r.node_selector_terms.as_slice());
        let mut sets: Vec<_> = terms
            .unwrap_or_default()
            .iter()
            .map(|t| {
                let mut all = selector.clone();
                add_term(&mut all, t);
                all
            })
            .collect();
        if sets.is_empty() {
            sets.push(selector);
        }
        let split = sets.into_iter().map(split_host);
        Self {
            requests: &set.requests,
            ports: host_ports(&set.spec),
            tolerations: &set.spec.tolerations,
            alternatives: split.map(|(set, host)| (book.id(set), host)).collect(),
        }
    }

    /// The keys it looks at.
    pub fn keys(&self, book: &Book) -> Vec<String> {
        self.alternatives.iter().flat_map(|(r, _)| book.set(*r).keys().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// Which of a template's types would run it.
    pub fn on_types<'b>(
        &self,
        book: &mut Book,
        template: ReqId,
        taints: &[Taint],
        types: impl Iterator<Item = &'b Requirements>,
    ) -> Vec<bool> {
        let hard: Vec<Taint> = taints.iter().filter(|t| !is_preference(t)).cloned().collect();
        let tolerated = untolerated(&hard, self.tolerations).is_none();
        let fresh = Host::Claim(0);
        let possible = self.alternatives.iter().filter(|(_, host)| tolerated && fresh.satisfies(host.as_ref()));
        let possible: Vec<ReqId> = possible.map(|(r, _)| *r).filter(|r| book.join(template, *r).is_some()).collect();
        types.map(|t| possible.iter().any(|r| book.set(*r).intersects(t).is_ok())).collect()
    }

    /// Whether it runs on an existing node; only its first term counts.
    pub fn on_node(&self, book: &mut Book, labels: ReqId, taints: &[Taint], host: Host<'_>) -> bool {
        untolerated(taints, self.tolerations).is_none()
            && self
                .alternatives
                .first()
                .is_none_or(|(r, rule)| host.satisfies(rule.as_ref()) && book.satisfies(labels, *r))
    }
}
