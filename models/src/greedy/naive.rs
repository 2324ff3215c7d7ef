//! The search for a claim without any of its short cuts, to compare with.

use super::pass::{Candidate, Pass};
use super::port::conflict;
use super::topology::{Host, HostNames};
use super::volume::exceeded;

impl Pass<'_> {
    /// The claim that the pod joins, found by asking every one of them
    /// everything afresh.
    pub(super) fn naive_claim(&mut self, candidate: Candidate<'_>) -> Option<usize> {
        let order = self.ranks.take();
        let found = order.iter().map(|c| *c as usize).find(|c| self.naive_accepts(*c, candidate));
        self.ranks.give_back(order);
        found
    }

    fn naive_accepts(&mut self, number: usize, candidate: Candidate<'_>) -> bool {
        let (shape, variant) = (candidate.shape, candidate.variant);
        let names = HostNames(&self.hostnames);
        if !self.topology.naive_host(shape, variant, names, Host::Claim(number)) {
            return false;
        }
        let (template, req) = (self.claims[number].template, self.claims[number].req);
        let ways = self.narrowings(template, req, candidate);
        let claim = &self.claims[number];
        let kinds = &self.templates[template];
        let demand = &self.demands[shape.demand];
        let total: Vec<i64> = claim.total.iter().zip(demand).map(|(a, b)| a + b).collect();
        let holds = |t: usize| {
            let limit = |driver: &str| kinds.attach_limit(t, driver);
            let group = kinds.daemon_groups.iter().find(|g| g.types.get(t));
            total.iter().enumerate().all(|(dim, wanted)| kinds.steps.free(dim, t) >= *wanted)
                && exceeded(&claim.attached, &shape.attached, limit).is_none()
                && group.is_none_or(|g| !conflict(&shape.ports, &g.ports))
        };
        let roomy: Vec<usize> = claim.types.iter().filter(|t| holds(*t)).collect();
        !conflict(&shape.ports, &claim.ports)
            && ways.into_iter().any(|way| {
                let set = self.book.set(way);
                roomy.iter().any(|t| {
                    let kind = &kinds.types[*t];
                    let offered = kind.offerings.iter().any(|o| o.available && super::template::fits(set, o));
                    offered && set.intersects(&kind.requirements).is_ok()
                })
            })
    }
}
