//! Solving an instance: first fit for an answer at once, search for a good
//! one, the certifier for the proof, all under one deadline.

mod options;

pub use options::{Clock, EngineError, Method, Options, Outcome};

use crate::arrival::Index;
use crate::certificate::Certificate;
use crate::firstfit::first_fit;
use crate::instance::Instance;
use crate::search::allot::allot;
use crate::search::model::Model;
use crate::search::packing::Packing;
use crate::search::{Correction, offers};
use crate::{fluid, units::Unit};

/// Answers `instance` within the deadline that `options` sets on `clock`.
pub fn solve(instance: &Instance, options: &Options, clock: Clock) -> Result<Outcome, EngineError> {
    instance.validate()?;
    let index = Index::new(instance);
    let fallback = first_fit(instance, &index);
    let greedy_only =
        Outcome { plan: fallback, bound: 0, certificate: Certificate::default(), source: "first-fit", rounds: 0 };
    if options.method == Method::Greedy {
        return Ok(greedy_only);
    }
    let bins = offers(instance, &index);
    let rho = fluid::prices(instance, &bins, &fluid::total_demand(instance));
    let waiting: Vec<(usize, usize, u32)> =
        instance.shapes.iter().enumerate().map(|(s, shape)| (s, 0, shape.count)).collect();
    let cost = |unit: &Unit, _cell: u32| -> f64 { unit.demand.iter().zip(&rho).map(|(&d, p)| d as f64 * p).sum() };
    let allotment = allot(instance, &index, &bins, &waiting, &cost);
    let model = Model::new(instance, &index, &bins, allotment.items);
    if std::env::var("T").is_ok() {
        eprintln!(
            "bins {} lanes {} slots {} dims {} at {:?}",
            bins.len(),
            model.lanes.len(),
            model.slots.len(),
            model.dims,
            clock()
        );
    }
    let mut search = Correction::new(&model, options.seed);
    let stop = || options.deadline.is_some_and(|d| clock() >= d);
    let mut rounds = 0;
    let mut last = i64::MAX;
    while options.iterations.is_none_or(|n| rounds < n) && search.round(&stop) {
        rounds += 1;
        if let Some((s, _)) = search.best() {
            if s.cost < last {
                last = s.cost;
                if std::env::var("T").is_ok() {
                    eprintln!("{rounds} {:?} {:?}", s, clock());
                }
            }
        }
    }
    let Some((_, solution)) = search.best() else { return Ok(greedy_only) };
    let plan = Packing::new(&model, solution).plan(instance, &index, &allotment.late);
    Ok(Outcome { plan, source: "value-correction", rounds, ..greedy_only })
}
