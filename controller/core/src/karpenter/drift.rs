//! Nodes that drifted are replaced one by one, at whatever price.
//! (spec 30 §§17.2 and 19)

use millwright_models::greedy::{GreedyOptions, GreedyPlan};

use super::pass::{Command, Pass};
use super::{Method, Refusal};
use crate::budgets::Reason;
use crate::candidates::Candidate;
use crate::consolidate::drifters;
use crate::terminate_first::{credited, held};

impl Pass<'_, '_> {
    /// The first drifted node whose pods have a place.
    pub(super) fn drift(&self) -> Option<Command> {
        let mut left = self.remaining(Reason::Drifted);
        for c in drifters(self.scene) {
            if !left.take(&c) {
                continue;
            }
            if let Ok((plan, method)) = self.moved(&c, self.greedy.gates.terminate_first_drift) {
                return Some(self.command(method, &[&c], plan));
            }
        }
        None
    }

    /// Where the pods of a node go that must go, at whatever price. With the
    /// gate of terminate-first, a node that holds the slot of a reservation
    /// which its own pods need goes before its successor comes.
    pub fn moved(&self, c: &Candidate<'_>, gate: bool) -> Result<(GreedyPlan, Method), Refusal> {
        let refusal = match self.simulate(&[c], false) {
            Ok(plan) => return Ok((plan, Method::Drift)),
            Err(refusal) => refusal,
        };
        let slot = held(self.scene.nodes[c.node].labels()).filter(|_| gate);
        let Some(slot) = slot.filter(|_| matches!(refusal, Refusal::Homeless { .. })) else { return Err(refusal) };
        let mut any = false;
        let with_slot = self.pools.iter().map(|(pool, types)| {
            let more = credited(types, slot);
            any |= more.is_some();
            (*pool, more.unwrap_or_else(|| types.clone()))
        });
        let pools = with_slot.collect::<Vec<_>>();
        if !any {
            return Err(refusal);
        }
        let greedy = GreedyOptions { strict_reservations: true, ..self.greedy };
        match self.simulate_with(&pools, &greedy, &[c], false) {
            // What its pods need is bought once the slot is free.
            Ok(plan) => Ok((GreedyPlan { claims: Vec::new(), ..plan }, Method::TerminateFirst)),
            Err(_) => Err(refusal),
        }
    }
}
