//! Many nodes for one: a binary search over prefixes. (spec 30 §11)

use millwright_solver::instance::Micros;

use super::pass::{Command, Pass};
use super::price::{list, worst};
use super::{Method, Refusal};
use crate::budgets::Reason;
use crate::candidates::Candidate;

/// The longest prefix that is tried, less one.
const LONGEST: usize = 100;

impl Pass<'_, '_> {
    /// The longest prefix of the candidates that the search finds to go. It
    /// takes feasibility to be monotone, which it is not.
    pub(super) fn multi(&self) -> Option<Command> {
        let mut left = self.remaining(Reason::Underutilized);
        let taken: Vec<_> = self.consolidatable().into_iter().filter(|c| left.take(c)).collect();
        if taken.len() < 2 {
            return None;
        }
        let (mut low, mut high) = (1, LONGEST.min(taken.len() - 1));
        let mut best = None;
        while low <= high && !(self.stop)() {
            let middle = (low + high) / 2;
            match self.batch(&taken[..=middle]) {
                Ok(command) => {
                    best = Some(command);
                    low = middle + 1;
                }
                Err(_) => high = middle - 1,
            }
        }
        best
    }

    /// Several nodes as one command.
    pub fn batch(&self, chosen: &[&Candidate<'_>]) -> Result<Command, Refusal> {
        let mut command = self.decide(Method::Multi, chosen)?;
        if !command.plan.claims.is_empty() {
            self.no_same_type(chosen, &mut command)?;
            command = self.command(Method::Multi, chosen, command.plan);
        }
        self.judge(chosen, command.savings)?;
        Ok(command)
    }

    /// Keeps types that cost less than every node of the same type that goes
    /// and might come back: otherwise three would become one, and the next
    /// look would find that one again.
    fn no_same_type(&self, chosen: &[&Candidate<'_>], command: &mut Command) -> Result<(), Refusal> {
        let claim = &mut command.plan.claims[0];
        let types = self.types(&claim.pool);
        let listed =
            |c: &&&Candidate<'_>| claim.types.iter().any(|t| Some(&*types[*t as usize].name) == c.instance_type);
        let Some(limit) = chosen.iter().filter(listed).map(|c| c.price).min() else { return Ok(()) };
        let cheaper = |t: &u32| worst(claim, &types[*t as usize]).unwrap_or(Micros::MAX) < limit;
        let kept: Vec<u32> = claim.types.iter().copied().filter(cheaper).collect();
        if kept.is_empty() {
            return Err(Refusal::SameType);
        }
        if let Some(unmet) = claim.unmet(types, &kept) {
            return Err(Refusal::MinValues(unmet));
        }
        list(claim, types, kept);
        Ok(())
    }
}
