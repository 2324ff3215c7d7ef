//! Placing a pod on an existing node (spec 20 §7).

use super::pass::{Candidate, Pass};
use super::port::conflict;
use super::topology::{Host, HostKind, HostNames};
use super::volume::exceeded;

impl Pass<'_> {
    /// The first node in order that accepts the pod takes it.
    pub(super) fn try_nodes(&mut self, candidate: Candidate<'_>) -> bool {
        let n = self.nodes.len();
        if n == 0 {
            return false;
        }
        let mut reject = std::mem::take(&mut self.reject);
        reject.copy_from(&self.refusals.nodes[candidate.shape.demand]);
        if candidate.shape.moves {
            reject.or(&self.closed);
        }
        let pod = (candidate.shape, candidate.variant);
        self.topology.reject_hosts(pod, HostNames(&self.hostnames), HostKind::Node, &mut reject, n);
        let found = (0..n).find(|place| {
            !reject.get(*place) && {
                let class = self.class_of_node[*place];
                let ok = self.node_class_accepts(class, *place, candidate);
                if !ok {
                    reject.or(&self.node_classes.members[class]);
                }
                ok && self.node_accepts(*place, candidate)
            }
        });
        self.reject = reject;
        if let Some(place) = found {
            self.put_on_node(place, candidate);
        }
        found.is_some()
    }

    /// What all nodes of a class answer: taints, labels, volumes, topology.
    fn node_class_accepts(&mut self, class: usize, place: usize, candidate: Candidate<'_>) -> bool {
        if let Some(verdict) = self.node_classes.verdict(class, self.round) {
            return !verdict.is_empty();
        }
        let Candidate { shape, variant, .. } = candidate;
        let (req, taints) = (self.nodes[place].req, self.nodes[place].taints);
        let reachable = |book: &mut super::book::Book| {
            shape.alternatives.is_empty() || shape.alternatives.iter().any(|a| book.satisfies(req, a.req))
        };
        let ok = self.taints.tolerates(variant.tolerations, taints)
            && self.book.satisfies(req, variant.full)
            && reachable(&mut self.book)
            && self.topology.accepts_node(&mut self.book, shape, variant, req);
        self.node_classes.decide(class, self.round, if ok { vec![req] } else { Vec::new() });
        ok
    }

    /// What the node answers for itself: amounts, ports, volumes, its name.
    fn node_accepts(&mut self, place: usize, candidate: Candidate<'_>) -> bool {
        let Candidate { shape, variant, .. } = candidate;
        let node = &self.nodes[place];
        let host = Host::Node(place, &self.hostnames[place]);
        if self.demands[shape.demand].iter().zip(&node.free).any(|(wanted, free)| wanted > free) {
            self.refusals.nodes[shape.demand].set(place);
            return false;
        }
        if !host.satisfies(variant.full_host.as_ref()) || conflict(&shape.ports, &node.ports) {
            return false;
        }
        if exceeded(&node.attached, &shape.attached, |d| node.attach_limits.get(d).copied()).is_some() {
            return false;
        }
        let req = node.req;
        let mut alternatives = shape.alternatives.iter();
        shape.alternatives.is_empty()
            || alternatives.any(|a| host.satisfies(a.host.as_ref()) && self.book.satisfies(req, a.req))
    }

    fn put_on_node(&mut self, place: usize, candidate: Candidate<'_>) {
        let Candidate { shape, variant, pod } = candidate;
        let node = &mut self.nodes[place];
        for (free, wanted) in node.free.iter_mut().zip(&self.demands[shape.demand]) {
            *free -= wanted;
        }
        node.ports.extend(shape.ports.iter().cloned());
        for (driver, claims) in &shape.attached {
            node.attached.entry(driver.clone()).or_default().extend(claims.iter().cloned());
        }
        node.placed.push(pod);
        let target = node.target(place, &self.hostnames[place]);
        self.topology.record(&mut self.book, &mut self.taints, (shape, variant), target);
    }
}
