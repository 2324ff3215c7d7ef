use crate::arrival::Index;
use crate::fluid;
use crate::instance::Instance;
use crate::plan::Plan;
use crate::search::Correction;
use crate::search::allot::allot;
use crate::search::fold::Fold;
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
    /// The same with like cells made one, where that helps.
    fold: Option<Fold<'a>>,
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
        let model = Model::new(self.instance, self.index, &self.bins, allotment.items);
        let fold = Fold::new(&model);
        Cast { model, late: allotment.late, fold }
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

impl<'a> Cast<'a> {
    /// Whether like cells were made one.
    pub fn is_folded(&self) -> bool {
        self.fold.is_some()
    }

    /// What search packs.
    pub fn packed(&self) -> &Model<'a> {
        self.fold.as_ref().map_or(&self.model, |f| &f.model)
    }

    /// The best construction spelled out in the whole model, to be refined
    /// there; `None` where that is what was packed.
    pub fn unfolded(&self, correction: &Correction, seed: u64) -> Option<Correction<'_>> {
        let fold = self.fold.as_ref()?;
        let solution = fold.unfold(&self.model, &correction.best()?.1, correction.values())?;
        let value = fold.spread(&self.model, correction.values());
        Some(Correction::resume(&self.model, solution, value, seed))
    }

    /// A plan of a refined construction.
    pub fn refined(&self, correction: &Correction) -> Option<(Plan, bool)> {
        self.spelled(&correction.best()?.1)
    }

    /// A plan of the best construction that the checker accepts, and whether
    /// it is the packing as it was found.
    pub fn plan(&self, correction: &Correction) -> Option<(Plan, bool)> {
        let (_, solution) = correction.best()?;
        match &self.fold {
            Some(fold) => self.spelled(&fold.unfold(&self.model, solution, correction.values())?),
            None => self.spelled(solution),
        }
    }

    /// The same for a solution of the whole model.
    fn spelled(&self, solution: &Solution) -> Option<(Plan, bool)> {
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
