//! Nodes that drifted are replaced one by one, at whatever price.
//! (spec 30 §17.2)

use jiff::Timestamp;

use super::Method;
use super::pass::{Command, Pass};
use crate::budgets::Reason;
use crate::candidates::{Candidate, Class};
use crate::consolidate::drifted;

impl Pass<'_, '_> {
    /// The first drifted node whose pods have a place.
    pub(super) fn drift(&self) -> Option<Command> {
        let mut left = self.remaining(Reason::Drifted);
        for c in self.drifters() {
            if !left.take(&c) {
                continue;
            }
            if let Ok(plan) = self.simulate(&[&c], false) {
                return Some(self.command(Method::Drift, &[&c], plan));
            }
        }
        None
    }

    /// Candidates that drifted: those without pods to move first, then those
    /// that drifted first.
    pub fn drifters(&self) -> Vec<Candidate<'_>> {
        let scene = self.scene;
        let drifted = (0..scene.nodes.len()).filter(|n| drifted(scene, *n).is_some());
        let mut all: Vec<_> = drifted.filter_map(|n| scene.candidate(n, Class::Eventual).ok()).collect();
        all.retain(|c| c.pool.is_some_and(|p| p.replicas.is_none()));
        let since = |c: &Candidate<'_>| {
            let condition = scene.nodes[c.node].condition("Drifted").filter(|c| c.status == "True");
            condition.and_then(|c| c.last_transition_time).unwrap_or(Timestamp::MAX)
        };
        all.sort_by_key(|c| (!c.pods.is_empty(), since(c), c.node));
        all
    }
}
