use super::Merit;
use crate::instance::Instance;
use crate::plan::Plan;

/// The best plan so far.
pub struct Incumbent<'a> {
    instance: &'a Instance,
    plan: Option<(Plan, &'static str, Merit)>,
}

impl<'a> Incumbent<'a> {
    /// None yet.
    pub fn new(instance: &'a Instance) -> Self {
        Incumbent { instance, plan: None }
    }

    /// Takes a plan if it is better and the checker accepts it; whether it did.
    pub fn offer(&mut self, plan: Plan, source: &'static str) -> bool {
        let merit = Merit::of(self.instance, &plan);
        let taken = self.plan.as_ref().is_none_or(|b| merit < b.2) && crate::check::plan(self.instance, &plan).is_ok();
        if taken {
            self.plan = Some((plan, source, merit));
        }
        taken
    }

    /// Takes a plan that the checker has accepted if it is better.
    pub fn offer_checked(&mut self, plan: Plan, source: &'static str) {
        let merit = Merit::of(self.instance, &plan);
        if self.plan.as_ref().is_none_or(|b| merit < b.2) {
            self.plan = Some((plan, source, merit));
        }
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
