//! Placing a pod on a claim opened earlier in the pass (spec 20 §8).

use super::bits::Bits;
use super::book::ReqId;
use super::pass::{Candidate, Pass};
use super::port::conflict;
use super::reserved::ReservationId;
use super::template::Template;
use super::topology::{Host, HostKind, HostNames, Target};
use super::volume::{Attached, exceeded};

/// What a claim becomes with one more pod.
#[derive(Debug)]
pub(super) struct Admission {
    pub req: ReqId,
    pub types: Bits,
    pub total: Vec<i64>,
    pub held: Option<std::collections::BTreeSet<ReservationId>>,
}

impl Pass<'_> {
    /// The claim with the fewest pods that accepts this one takes it.
    pub(super) fn try_claims(&mut self, candidate: Candidate<'_>) -> bool {
        let n = self.claims.len();
        if n == 0 {
            return false;
        }
        let mut reject = std::mem::take(&mut self.reject);
        reject.copy_from(&self.refusals.claims[candidate.shape.demand]);
        let pod = (candidate.shape, candidate.variant);
        self.topology.reject_hosts(pod, HostNames(&self.hostnames), HostKind::Claim, &mut reject, n);
        let found = self.find_claim(candidate, &mut reject);
        #[cfg(test)]
        assert_eq!(
            found.as_ref().map(|(claim, _)| *claim),
            self.naive_claim(candidate),
            "short cuts change the answer"
        );
        self.reject = reject;
        match found {
            Some((claim, admission)) => {
                self.join_claim(claim, admission, candidate);
                true
            }
            None => false,
        }
    }

    fn find_claim(&mut self, candidate: Candidate<'_>, reject: &mut Bits) -> Option<(usize, Admission)> {
        let order = self.ranks.take();
        let found = order.iter().map(|c| *c as usize).find_map(|claim| {
            if reject.get(claim) {
                return None;
            }
            let class = self.claims[claim].class;
            if self.claim_class_refuses(class, claim, candidate) {
                reject.or(&self.claim_classes.members[class]);
                return None;
            }
            self.claim_accepts(claim, candidate).map(|admission| (claim, admission))
        });
        self.ranks.give_back(order);
        found
    }

    /// Whether all claims of a class refuse the pod, hosts and amounts apart.
    fn claim_class_refuses(&mut self, class: usize, claim: usize, candidate: Candidate<'_>) -> bool {
        if let Some(verdict) = self.claim_classes.verdict(class, self.round) {
            return verdict.is_empty();
        }
        let (template, req) = (self.claims[claim].template, self.claims[claim].req);
        let verdict = self.narrowings(template, req, candidate);
        let refuses = verdict.is_empty();
        self.claim_classes.decide(class, self.round, verdict);
        refuses
    }

    /// What the pod would make of a claim's requirements, per way to reach
    /// its volumes; empty if taints, requirements or topology refuse it.
    pub(super) fn narrowings(&mut self, template: usize, req: ReqId, candidate: Candidate<'_>) -> Vec<ReqId> {
        let Candidate { shape, variant, .. } = candidate;
        let fresh = Host::Claim(0);
        let welcome = self.taints.tolerates(variant.tolerations, self.templates[template].taints)
            && fresh.satisfies(variant.full_host.as_ref());
        let Some(joined) = Some(req).filter(|_| welcome).and_then(|r| self.book.join(r, variant.full)) else {
            return Vec::new();
        };
        let mut ways: Vec<ReqId> = Vec::new();
        if shape.alternatives.is_empty() {
            ways.push(joined);
        }
        for way in shape.alternatives.iter().filter(|a| fresh.satisfies(a.host.as_ref())) {
            ways.extend(self.book.join(joined, way.req));
        }
        ways.iter().filter_map(|r| self.topology.narrow(&mut self.book, shape, variant, *r)).collect()
    }

    /// What the claim itself answers: amounts, types, ports, volumes.
    fn claim_accepts(&mut self, claim: usize, candidate: Candidate<'_>) -> Option<Admission> {
        let shape = candidate.shape;
        let held = &self.claims[claim];
        let demand = &self.demands[shape.demand];
        let template = &mut self.templates[held.template];
        if demand.iter().zip(&held.room).any(|(wanted, room)| wanted > room) {
            self.refusals.claims[shape.demand].set(claim);
            return None;
        }
        if !shape.ports.is_empty() && conflict(&shape.ports, &held.ports) {
            return None;
        }
        let total: Vec<i64> = held.total.iter().zip(demand).map(|(a, b)| a.saturating_add(*b)).collect();
        let mut types = held.types.clone();
        template.steps.retain(&mut types, &total);
        if types.is_empty() {
            self.refusals.claims[shape.demand].set(claim);
            return None;
        }
        let plain = shape.ports.is_empty() && shape.attached.is_empty();
        if !plain {
            retain_ports_and_volumes(template, &mut types, candidate, &held.attached);
        }
        let verdict = self.claim_classes.verdict(held.class, self.round).unwrap_or_default();
        for req in verdict {
            if self.refusals.narrowed.get(&(shape.demand, *req)).is_some_and(|b| b.get(claim)) {
                continue;
            }
            let class = template.class(&self.book, *req);
            let mut left = types.clone();
            if *req != held.req {
                left.and(&class.types);
            }
            if left.is_empty() || class.min_values.iter().any(|m| !m.is_met(&left)) {
                if plain {
                    self.refusals.narrowed.entry((shape.demand, *req)).or_default().set(claim);
                }
                continue;
            }
            let mut wanted = None;
            if template.has_reservations {
                let strict = self.options.strict_reservations;
                match self.reservations.wanted(&class, &left, &held.held, strict) {
                    Ok(ids) => wanted = Some(ids),
                    Err(_) => continue,
                }
            }
            return Some(Admission { req: *req, types: left, total, held: wanted });
        }
        None
    }

    /// Commits the pod to the claim.
    fn join_claim(&mut self, claim: usize, admission: Admission, candidate: Candidate<'_>) {
        self.ranks.promote(claim);
        self.commit(claim, admission, candidate);
    }

    /// Writes an admission down, for a new claim too.
    pub(super) fn commit(&mut self, number: usize, admission: Admission, candidate: Candidate<'_>) {
        let Candidate { shape, variant, pod } = candidate;
        let claim = &mut self.claims[number];
        let template = &self.templates[claim.template];
        if claim.req != admission.req || claim.pods.is_empty() {
            self.claim_classes.members[claim.class].clear(number);
            claim.class = self.claim_classes.id((claim.template, admission.req));
            self.claim_classes.members[claim.class].set(number);
            claim.req = admission.req;
        }
        let shrunk = claim.types != admission.types || claim.pods.is_empty();
        if shrunk {
            claim.types = admission.types;
            template.steps.largest(&claim.types, &mut claim.most);
        }
        claim.total = admission.total;
        for ((room, most), total) in claim.room.iter_mut().zip(&claim.most).zip(&claim.total) {
            *room = most.saturating_sub(*total);
        }
        if let Some(wanted) = admission.held {
            self.reservations.exchange(&mut claim.held, wanted);
        }
        claim.pods.push(pod);
        claim.ports.extend(shape.ports.iter().cloned());
        for (driver, claims) in &shape.attached {
            claim.attached.entry(driver.clone()).or_default().extend(claims.iter().cloned());
        }
        let target = Target { req: claim.req, taints: template.taints, host: Host::Claim(number) };
        self.topology.record(&mut self.book, &mut self.taints, (shape, variant), target);
    }
}

/// Drops types whose DaemonSets take a port of the pod's, or that cannot
/// attach the volumes.
pub(super) fn retain_ports_and_volumes(
    template: &Template<'_>,
    types: &mut Bits,
    candidate: Candidate<'_>,
    attached: &Attached,
) {
    for group in &template.daemon_groups {
        if conflict(&candidate.shape.ports, &group.ports) {
            types.and_not(&group.types);
        }
    }
    if !candidate.shape.attached.is_empty() {
        let over = |t: &usize| {
            let limit = |driver: &str| template.attach_limit(*t, driver);
            exceeded(attached, &candidate.shape.attached, limit).is_some()
        };
        let out: Vec<usize> = types.iter().filter(over).collect();
        out.into_iter().for_each(|t| types.clear(t));
    }
}
