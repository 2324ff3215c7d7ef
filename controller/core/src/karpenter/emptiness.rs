//! Empty nodes go at once, all that the budgets allow. (spec 30 §10)

use millwright_models::greedy::GreedyPlan;

use super::Method;
use super::pass::{Command, Pass};
use crate::budgets::Reason;
use crate::candidates::Candidate;

impl Pass<'_, '_> {
    pub(super) fn empty(&self) -> Option<Command> {
        let mut left = self.remaining(Reason::Empty);
        let taken: Vec<&Candidate<'_>> = self.emptiable().into_iter().filter(|c| left.take(c)).collect();
        (!taken.is_empty()).then(|| self.command(Method::Emptiness, &taken, GreedyPlan::default()))
    }
}
