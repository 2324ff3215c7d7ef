use crate::arrival::Index;
use crate::fluid;
use crate::instance::Instance;
use crate::plan::Plan;
use crate::search::allot::allot;
use crate::search::model::Model;
use crate::search::offers;
use crate::search::packing::{Packing, Pods};
use crate::search::solution::Solution;
use crate::units::Unit;

/// An instance prepared for search.
pub struct Problem<'a> {
    /// What is being solved.
    pub instance: &'a Instance,
    /// Its index.
    pub index: &'a Index,
    /// Bins worth looking at.
    pub bins: Vec<usize>,
    rho: Vec<f64>,
}

/// One way to give pods tiers and domains, compiled.
pub struct Cast<'a> {
    /// What the packer works on.
    pub model: Model<'a>,
    /// Pods that arrive after packing.
    pub late: Pods,
}

impl<'a> Problem<'a> {
    /// Prunes bins and prices resources.
    pub fn new(instance: &'a Instance, index: &'a Index) -> Self {
        let bins = offers(instance, index);
        let rho = fluid::prices(instance, &bins, &fluid::total_demand(instance));
        Problem { instance, index, bins, rho }
    }

    /// Gives `waiting` (shape, tier, count) domains and compiles the result.
    pub fn cast(&self, waiting: &[(usize, usize, u32)]) -> Cast<'a> {
        let cost = |unit: &Unit, _cell: u32| unit.demand.iter().zip(&self.rho).map(|(&d, p)| d as f64 * p).sum();
        let allotment = allot(self.instance, self.index, &self.bins, waiting, &cost);
        Cast { model: Model::new(self.instance, self.index, &self.bins, allotment.items), late: allotment.late }
    }

    /// Everybody in the first tier.
    pub fn everyone(&self) -> Pods {
        let shapes = self.instance.shapes.iter().enumerate();
        shapes.filter(|(_, s)| !s.tiers.is_empty()).map(|(s, shape)| (s, 0, shape.count)).collect()
    }

    /// Tiers as a plan gave them; pods without a place try the first again.
    pub fn tiers_of(&self, plan: &Plan) -> Pods {
        let mut waiting = self.everyone();
        for &(s, t, n) in &plan.demoted {
            if let Some(w) = waiting.iter_mut().find(|w| w.0 == s && w.1 == 0) {
                w.2 -= n;
            }
            waiting.push((s, t, n));
        }
        waiting.retain(|w| w.2 > 0);
        waiting
    }
}

impl Cast<'_> {
    /// A plan that the checker accepts, and whether it is the packing as it
    /// was found.
    pub fn plan(&self, solution: &Solution) -> Option<(Plan, bool)> {
        let (instance, index) = (self.model.instance, self.model.index);
        let packing = Packing::new(&self.model, solution);
        let plan = packing.plan(instance, index, &self.late);
        if crate::check::plan(instance, &plan).is_ok() {
            return Some((plan, true));
        }
        let plan = packing.replay(instance, index, &self.late);
        crate::check::plan(instance, &plan).is_ok().then_some((plan, false))
    }
}
