//! Cost, bound and gap after some time: the question asked anew with each
//! deadline, as a user would ask it.

use std::time::{Duration, Instant};

use millwright_core::provision::{self, Options};
use millwright_models::catalog::Catalog;
use millwright_models::lower;
use millwright_models::world::World;
use millwright_solver::engine;
use millwright_solver::instance::{Instance, Micros};

/// Deadlines of the anytime table, in seconds.
pub const DEADLINES: [f64; 6] = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0];

/// An answer and when it came.
#[derive(Clone, Debug)]
pub struct Point {
    pub deadline: Duration,
    pub elapsed: Duration,
    pub cost: Micros,
    /// Certified.
    pub bound: Micros,
    /// Member of the engine.
    pub source: String,
    /// Pods or items without a place.
    pub left: u64,
}

impl Point {
    /// How far the cost is above the bound; none for a bound of 0.
    pub fn gap(&self) -> Option<f64> {
        provision::gap(self.cost, self.bound)
    }
}

/// Why there is no point.
#[derive(Debug, thiserror::Error)]
pub enum AnytimeError {
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
    #[error(transparent)]
    Plan(#[from] provision::PlanError),
}

/// Solves a bare instance.
pub fn solve(instance: &Instance, deadline: Duration) -> Result<Point, AnytimeError> {
    let options = engine::Options { deadline: Some(deadline), ..engine::Options::default() };
    let began = Instant::now();
    let outcome = engine::solve(instance, &options, &|| began.elapsed())?;
    Ok(Point {
        deadline,
        elapsed: began.elapsed(),
        cost: outcome.plan.bought_cost(instance),
        bound: outcome.bound,
        source: outcome.source.to_owned(),
        left: outcome.plan.unserved_pods(),
    })
}

/// Plans a world, one spot type a node unless `spot_types` says more.
pub fn plan(world: &World, catalog: &Catalog, deadline: Duration, spot_types: usize) -> Result<Point, AnytimeError> {
    let options = Options {
        lower: lower::Settings { spot_types, ..lower::Settings::default() },
        engine: engine::Options { deadline: Some(deadline), ..engine::Options::default() },
        now: "2026-01-01T00:00:00Z".to_owned(),
        baseline: false,
    };
    let began = Instant::now();
    let decision = provision::plan(world, catalog, &options, &|| began.elapsed())?;
    Ok(Point {
        deadline,
        elapsed: decision.elapsed,
        cost: decision.cost,
        bound: decision.bound,
        source: decision.engine,
        left: decision.unscheduled.len() as u64,
    })
}
