use std::time::Duration;

use super::{Clock, Merit};
use crate::instance::Instance;
use crate::plan::Plan;

/// The best plan so far.
pub struct Incumbent<'a> {
    instance: &'a Instance,
    clock: Clock<'a>,
    /// When there was a plan for the first time.
    first: Option<Duration>,
    plan: Option<(Plan, &'static str, Merit)>,
}

impl<'a> Incumbent<'a> {
    /// None yet.
    pub fn new(instance: &'a Instance, clock: Clock<'a>) -> Self {
        Incumbent { instance, clock, first: None, plan: None }
    }

    /// Takes a plan if it is better and the checker accepts it; whether it did.
    pub fn offer(&mut self, plan: Plan, source: &'static str) -> bool {
        let merit = Merit::of(self.instance, &plan);
        let taken = self.plan.as_ref().is_none_or(|b| merit < b.2) && crate::check::plan(self.instance, &plan).is_ok();
        if taken {
            self.take_in(plan, source, merit);
        }
        taken
    }

    /// Takes a plan that the checker has accepted if it is better.
    pub fn offer_checked(&mut self, plan: Plan, source: &'static str) {
        let merit = Merit::of(self.instance, &plan);
        if self.plan.as_ref().is_none_or(|b| merit < b.2) {
            self.take_in(plan, source, merit);
        }
    }

    fn take_in(&mut self, plan: Plan, source: &'static str, merit: Merit) {
        if self.first.is_none() {
            self.first = Some((self.clock)());
        }
        self.plan = Some((plan, source, merit));
    }

    /// When there was a plan for the first time.
    pub fn first(&self) -> Option<Duration> {
        self.first
    }

    /// The plan.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref().map(|p| &p.0)
    }

    /// The plan and who found it.
    pub fn take(self) -> Option<(Plan, &'static str)> {
        self.plan.map(|p| (p.0, p.1))
    }
}
