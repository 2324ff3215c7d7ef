//! Opening a new claim (spec 20 §6.2 step 5, §8).

use std::collections::BTreeSet;

use super::MinValuesPolicy;
use super::bits::Bits;
use super::book::ReqId;
use super::claim::Claim;
use super::on_claims::{Admission, retain_ports_and_volumes};
use super::pass::{Candidate, Outcome, Pass};
use super::template::Class;
use super::topology::HostNames;
use super::volume::Attached;

impl Pass<'_> {
    /// The first template in order that accepts the pod opens a claim for it.
    pub(super) fn try_templates(&mut self, candidate: Candidate<'_>) -> Outcome {
        let names = HostNames(&self.hostnames);
        if self.topology.rejects_fresh_host(candidate.shape, candidate.variant, names).is_some() {
            return Outcome::Refused;
        }
        for template in 0..self.templates.len() {
            match self.admission(template, candidate) {
                Ok(Some((admission, relaxed))) => {
                    self.open(template, admission, relaxed, candidate);
                    return Outcome::Placed;
                }
                Ok(None) => {}
                Err(super::reserved::Deferred) => return Outcome::Deferred,
            }
        }
        Outcome::Refused
    }

    /// What a claim from `template` with the pod alone would be, and whether
    /// its minValues had to be lowered.
    fn admission(
        &mut self,
        template: usize,
        candidate: Candidate<'_>,
    ) -> Result<Option<(Admission, bool)>, super::reserved::Deferred> {
        let Some(types) = self.opening_types(template, candidate) else { return Ok(None) };
        let mut deferred = None;
        for req in self.narrowings(template, self.templates[template].req, candidate) {
            let class = self.templates[template].class(&self.book, req);
            let mut left = types.clone();
            left.and(&class.types);
            if left.is_empty() {
                continue;
            }
            let Some(lowered) = self.lower_min_values(req, &class, &left) else { continue };
            let mut held = None;
            if self.templates[template].has_reservations {
                let strict = self.options.strict_reservations;
                match self.reservations.wanted(&class, &left, &BTreeSet::new(), strict) {
                    Ok(ids) => held = Some(ids),
                    Err(wait) => {
                        deferred = Some(wait).filter(|_| strict);
                        continue;
                    }
                }
            }
            let total = self.demands[candidate.shape.demand].clone();
            return Ok(Some((Admission { req: lowered, types: left, total, held }, lowered != req)));
        }
        deferred.map_or(Ok(None), Err)
    }

    /// Types that limits, amounts, ports and volumes leave to a new claim.
    pub(super) fn opening_types(&self, template: usize, candidate: Candidate<'_>) -> Option<Bits> {
        let template = &self.templates[template];
        let mut types = template.start.clone();
        template.limits.retain(template.types, &mut types).ok()?;
        template.steps.retain(&mut types, &self.demands[candidate.shape.demand]);
        retain_ports_and_volumes(template, &mut types, candidate, &Attached::new());
        (!types.is_empty()).then_some(types)
    }

    /// `req` with minValues that `types` meet; none if policy forbids that.
    fn lower_min_values(&mut self, req: ReqId, class: &Class, types: &Bits) -> Option<ReqId> {
        if class.min_values.iter().all(|m| m.is_met(types)) {
            return Some(req);
        }
        if self.options.min_values_policy == MinValuesPolicy::Strict {
            return None;
        }
        let mut set = self.book.set(req).clone();
        for demand in &class.min_values {
            if let Some(mut requirement) = set.remove(&demand.key) {
                requirement.min_values = Some(demand.need.min(demand.reached(types)));
                set.add(requirement);
            }
        }
        Some(self.book.id(set))
    }

    fn open(&mut self, template: usize, admission: Admission, min_values_relaxed: bool, candidate: Candidate<'_>) {
        let number = self.claims.len();
        let dims = admission.total.len();
        let class = self.claim_classes.id((template, admission.req));
        self.claims.push(Claim {
            template,
            req: admission.req,
            class,
            types: Bits::default(),
            total: Vec::new(),
            most: vec![0; dims],
            room: vec![0; dims],
            pods: Vec::new(),
            ports: Vec::new(),
            attached: Attached::new(),
            held: BTreeSet::new(),
            min_values_relaxed,
        });
        self.ranks.open();
        let opened = &mut self.templates[template];
        opened.limits.open(opened.types, &admission.types);
        self.commit(number, admission, candidate);
    }
}
