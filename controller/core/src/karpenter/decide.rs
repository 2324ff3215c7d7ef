//! Whether nodes may go together, and what replaces them.
//! (spec 30 §§13.2 to 14.3)

use millwright_models::catalog::CapacityType;
use millwright_models::greedy::GreedyPlan;
use millwright_models::karpenter::labels::{CAPACITY_TYPE, SPOT};
use millwright_models::requirements::Requirement;
use millwright_solver::instance::Micros;

use super::Method;
use super::pass::{Command, Pass};
use super::price::{admits, best, list, worst};
use super::refusal::{Refusal, SPOT_TYPES};
use crate::balanced::{self, Part};
use crate::candidates::Candidate;

impl Pass<'_, '_> {
    /// Deletes `chosen`, or replaces them by one node that is cheaper whatever
    /// offering its launch gets.
    pub fn decide(&self, method: Method, chosen: &[&Candidate<'_>]) -> Result<Command, Refusal> {
        let plan = self.simulate(chosen, true)?;
        let plan = match plan.claims.len() {
            0 => plan,
            1 => self.replacement(chosen, plan)?,
            n => return Err(Refusal::Several(n)),
        };
        Ok(self.command(method, chosen, plan))
    }

    pub(super) fn command(&self, method: Method, chosen: &[&Candidate<'_>], plan: GreedyPlan) -> Command {
        let comes = plan.claims.iter().map(|c| {
            let first = c.types.first().and_then(|t| best(c, &self.types(&c.pool)[*t as usize]));
            first.map_or(0, |o| o.price)
        });
        let savings = chosen.iter().map(|c| c.price).sum::<Micros>() - comes.sum::<Micros>();
        let mut nodes: Vec<usize> = chosen.iter().map(|c| c.node).collect();
        nodes.sort_unstable();
        Command { method, nodes, plan, savings }
    }

    fn replacement(&self, chosen: &[&Candidate<'_>], mut plan: GreedyPlan) -> Result<GreedyPlan, Refusal> {
        let price: Micros = chosen.iter().map(|c| c.price).sum();
        let claim = &mut plan.claims[0];
        let types = self.types(&claim.pool);
        let was_spot = chosen.iter().all(|c| c.capacity_type == Some(SPOT));
        let spot_to_spot = was_spot && admits(claim, CapacityType::Spot);
        if spot_to_spot {
            if !self.greedy.gates.spot_to_spot_consolidation {
                return Err(Refusal::SpotToSpotOff);
            }
            claim.requirements.add(Requirement::is(CAPACITY_TYPE, SPOT));
        }
        let cheaper = |t: &u32| worst(claim, &types[*t as usize]).is_some_and(|w| w < price);
        let kept: Vec<u32> = claim.types.iter().copied().filter(cheaper).collect();
        if kept.is_empty() {
            return Err(Refusal::NotCheaper);
        }
        if let Some(unmet) = claim.unmet(types, &kept) {
            return Err(Refusal::MinValues(unmet));
        }
        list(claim, types, kept);
        if spot_to_spot && chosen.len() == 1 {
            if claim.types.len() < SPOT_TYPES {
                return Err(Refusal::SpotTypes(claim.types.len()));
            }
            let enough = claim.enough(types, &claim.types);
            claim.types.truncate(SPOT_TYPES.max(enough));
        } else if admits(claim, CapacityType::Spot) && admits(claim, CapacityType::OnDemand) {
            self.narrow_to_spot(&mut plan);
        }
        Ok(plan)
    }

    /// A launch that finds no spot must not fall back on a dearer machine.
    /// Where no type that is left has spot, there is nothing to narrow to.
    fn narrow_to_spot(&self, plan: &mut GreedyPlan) {
        let claim = &mut plan.claims[0];
        let types = self.types(&claim.pool);
        let mut narrow = claim.clone();
        narrow.requirements.add(Requirement::is(CAPACITY_TYPE, SPOT));
        list(&mut narrow, types, claim.types.clone());
        if narrow.cheapest.is_some() {
            *claim = narrow;
        }
    }

    /// What the policies of the pools say to a command. Every Balanced pool
    /// must agree.
    pub(super) fn judge(&self, chosen: &[&Candidate<'_>], savings: Micros) -> Result<(), Refusal> {
        let part = |c: &&Candidate<'_>| c.pool.map(|pool| (pool.clone(), c.price, c.rescheduling));
        let owned: Vec<_> = chosen.iter().filter_map(part).collect();
        let parts: Vec<Part<'_>> = owned
            .iter()
            .map(|(pool, price, rescheduling)| Part { pool, price: *price, rescheduling: *rescheduling })
            .collect();
        if parts.is_empty() {
            return Ok(());
        }
        let scores = balanced::scores(&parts, savings as f64, &self.totals);
        match scores.into_iter().find(|s| !s.approved()) {
            Some(bad) => Err(Refusal::Unbalanced { pool: bad.pool, score: bad.score }),
            None => Ok(()),
        }
    }
}
