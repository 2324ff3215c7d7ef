//! What to buy for the pods that wait.

pub mod batch;
pub mod events;
pub mod gate;
mod greedy;
pub mod intake;
mod proof;

use std::time::Duration;

use millwright_models::catalog::Catalog;
use millwright_models::greedy::GreedyPlan;
use millwright_models::lift::{self, Lifted, PlannedNode};
use millwright_models::lower::{self, BinSource, LowerError, Lowered};
use millwright_models::world::World;
use millwright_solver::engine::{self, EngineError};
use millwright_solver::instance::Micros;
use serde_json::Value;

pub(crate) use proof::to_json as certificate;
pub use proof::{ProofError, Verdict, verify};

/// Everything that changes the answer.
#[derive(Clone, Debug)]
pub struct Options {
    pub lower: lower::Settings,
    pub engine: engine::Options,
    /// RFC 3339, as it is told in the certificate.
    pub now: String,
    /// Whether to work out what Karpenter's greedy would buy.
    pub baseline: bool,
}

/// Time since the caller began.
pub type Clock<'a> = &'a (dyn Fn() -> Duration + Sync);

/// Why there is no decision.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The world cannot be compiled.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The engine failed.
    #[error("the engine found no answer: {0}")]
    Engine(#[from] EngineError),
}

/// What to buy, what goes where, how good that is.
#[derive(Clone, Debug)]
pub struct Decision {
    pub nodes: Vec<PlannedNode>,
    /// Names of nodes or claims, with positions in `World::pods`.
    pub existing: Vec<(String, Vec<usize>)>,
    pub unscheduled: Vec<(usize, Vec<String>)>,
    /// Price of what is bought.
    pub cost: Micros,
    /// Proven: no plan that serves the same pods costs less.
    pub bound: Micros,
    /// A higher bound that search proved without a certificate.
    pub claimed_bound: Option<Micros>,
    /// The member of the engine that found the plan.
    pub engine: String,
    pub elapsed: Duration,
    /// When the first plan was there that the checker accepted.
    pub first_answer: Option<Duration>,
    pub baseline: Option<Baseline>,
    /// This cost less the best known where one spot type per node is enough.
    pub flexibility_premium: Micros,
    pub certificate: Value,
    /// Price of the nodes that exist.
    pub current_cost: Micros,
    /// NodeClaims to apply.
    pub claims: Vec<Value>,
    pub warnings: Vec<String>,
}

/// What Karpenter's greedy would do with the same input.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub cost: Micros,
    pub nodes: usize,
    pub unscheduled: usize,
    pub elapsed: Duration,
}

impl Decision {
    /// `cost / bound − 1`; 0 if both are 0, none if only the bound is.
    pub fn gap(&self) -> Option<f64> {
        gap(self.cost, self.bound)
    }

    /// The highest bound that is known, certified or not.
    pub fn least(&self) -> Micros {
        self.claimed_bound.map_or(self.bound, |claimed| claimed.max(self.bound))
    }
}

/// Relative distance of a cost from a bound.
pub fn gap(cost: Micros, bound: Micros) -> Option<f64> {
    match (cost, bound) {
        (0, 0) => Some(0.0),
        (_, 0) => None,
        _ => Some(cost as f64 / bound as f64 - 1.0),
    }
}

/// Plans for the pods of a world that wait for a place.
pub fn plan(world: &World, catalog: &Catalog, options: &Options, clock: Clock<'_>) -> Result<Decision, PlanError> {
    let began = clock();
    let mut solved = solved(world, catalog, options, clock)?;
    let mut premium = 0;
    if has_envelopes(&solved.lowered) {
        premium = (solved.lifted.cost - single_type_cost(world, catalog, options, clock, &solved.lifted)?).max(0);
    }
    let elapsed = clock().saturating_sub(began);
    let baseline = options.baseline.then(|| fall_back(&mut solved, options, clock));
    let Solved { lowered, outcome, lifted, .. } = solved;
    let certificate = proof::to_json(world, catalog, &lowered, &outcome, options);
    let claims = lift::node_claims(world, &lowered, &lifted.nodes);
    let current_cost = current_cost(&lowered, catalog);
    // What the reader assumed comes first; some of it the compiler repeats.
    let mut warnings = world.warnings.clone();
    warnings.extend(lowered.warnings.into_iter().filter(|w| !world.warnings.contains(w)));
    Ok(Decision {
        nodes: lifted.nodes,
        existing: lifted.existing,
        unscheduled: lifted.unscheduled,
        cost: lifted.cost,
        bound: outcome.bound.max(0),
        claimed_bound: outcome.claimed.filter(|c| *c > outcome.bound),
        engine: outcome.source.to_owned(),
        elapsed,
        first_answer: outcome.first.map(|first| first.saturating_sub(began)),
        baseline,
        flexibility_premium: premium,
        certificate,
        current_cost,
        claims,
        warnings,
    })
}

/// A compiled world, its plan, and the plan in names.
pub(crate) struct Solved<'w> {
    pub lowered: Lowered<'w>,
    pub outcome: engine::Outcome,
    pub lifted: Lifted,
    /// What the greedy decided, if it was asked before.
    drafted: Option<Drafted>,
}

/// A decision of the greedy, and that as a baseline.
type Drafted = (GreedyPlan, Baseline);

/// Up to this many pods a second of the time that is left, and never more than
/// this, the greedy takes little of it, and its plan is one to start from:
/// where rules leave some pods out it may serve others than the search does.
const DRAFT_PODS: f64 = 2_000.0;

/// Compiles and solves.
pub(crate) fn solved<'w>(
    world: &'w World,
    catalog: &Catalog,
    options: &Options,
    clock: Clock<'_>,
) -> Result<Solved<'w>, PlanError> {
    let began = clock();
    let lowered = lower::lower(world, catalog, &options.lower)?;
    let mut engine_options = options.engine.clone();
    if has_envelopes(&lowered) {
        // The rest of the time goes to the plan without the choice of types.
        engine_options.deadline = engine_options.deadline.map(|d| began + d.saturating_sub(began).mul_f64(0.7));
    }
    let left = engine_options.deadline.map_or(1.0, |d| d.saturating_sub(clock()).as_secs_f64().min(1.0));
    let drafted =
        ((lowered.instance.pods() as f64) <= DRAFT_PODS * left).then(|| greedy::run(world, &lowered, options, clock));
    if let Some((decided, _)) = &drafted {
        engine_options.candidates.extend(greedy::candidate(&lowered, decided));
    }
    let outcome = engine::solve(&lowered.instance, &engine_options, clock)?;
    let lifted = lift::lift(&lowered, &outcome.plan, options.lower.spot_types);
    Ok(Solved { lowered, outcome, lifted, drafted })
}

/// Tells the baseline; where it had not been asked before, takes its plan if
/// that is legal and cheaper.
pub(crate) fn fall_back(solved: &mut Solved<'_>, options: &Options, clock: Clock<'_>) -> Baseline {
    if let Some((_, told)) = solved.drafted.take() {
        return told;
    }
    let (decided, told) = greedy::run(solved.lowered.world, &solved.lowered, options, clock);
    if let Some(plan) = greedy::better(&solved.lowered, &decided, &solved.outcome.plan) {
        solved.outcome.plan = plan;
        solved.outcome.source = greedy::SOURCE;
        solved.lifted = lift::lift(&solved.lowered, &solved.outcome.plan, options.lower.spot_types);
    }
    told
}

fn has_envelopes(lowered: &Lowered<'_>) -> bool {
    lowered.bins.iter().any(|b| matches!(b, BinSource::Envelope(_)))
}

/// The best known cost if one spot type per node were enough.
fn single_type_cost(
    world: &World,
    catalog: &Catalog,
    options: &Options,
    clock: Clock<'_>,
    flexible: &Lifted,
) -> Result<Micros, PlanError> {
    let settings = lower::Settings { spot_types: 1, ..options.lower.clone() };
    let lowered = lower::lower(world, catalog, &settings)?;
    let outcome = engine::solve(&lowered.instance, &options.engine, clock)?;
    let single = lift::lift(&lowered, &outcome.plan, 1);
    // A plan that leaves more pods out is no comparison.
    let fair = single.unscheduled.len() <= flexible.unscheduled.len();
    Ok(if fair { single.cost.min(flexible.cost) } else { flexible.cost })
}

fn current_cost(lowered: &Lowered<'_>, catalog: &Catalog) -> Micros {
    let price = |labels| millwright_models::catalog::price_of(catalog, labels).unwrap_or(0);
    lowered.places.iter().map(|p| price(&p.labels)).sum()
}
