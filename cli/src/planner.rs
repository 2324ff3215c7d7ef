//! The planner of `controller/core` with the user's settings, and its
//! decision in names.

use std::cell::Cell;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use millwright_core::against::{self, Certified, Proposal};
use millwright_core::consolidate::{self, Audit};
use millwright_core::karpenter::{self, Trajectory};
use millwright_core::provision::{self, Decision, Options};
use millwright_models::catalog::Catalog;
use millwright_models::lower;
use millwright_models::world::World;
use millwright_solver::engine;

use crate::answer::{Answer, Baseline, PlannedNode};
use crate::args::{
    AuditArgs, Engine, ExplainNodeArgs, MethodArgs, MinValuesPolicy, MoveArgs, PlanArgs, PreferencePolicy, SearchArgs,
    Waves, WorldArgs,
};
use crate::failure::Failure;

/// What the baseline is called.
const BASELINE: &str = "karpenter-greedy";

/// Plans `world` on `catalog`.
pub fn plan(world: &World, catalog: &Catalog, args: &PlanArgs) -> Result<Answer, Failure> {
    let options = options(&args.world, &args.search);
    let began = Instant::now();
    let decision = provision::plan(world, catalog, &options, &|| began.elapsed());
    let mut decision = decision.map_err(|e| Failure::input(e.to_string()))?;
    decision.warnings.extend(unproven(&args.search.method, decision.cost, decision.least()));
    Ok(answer(world, decision))
}

/// What the flags ask of a plan.
pub fn options(world: &WorldArgs, flags: &SearchArgs) -> Options {
    Options {
        lower: settings(world),
        engine: search(&flags.method, flags.deadline),
        now: world.now.unwrap_or_else(Timestamp::now).to_string(),
        baseline: true,
    }
}

/// What Karpenter's heuristics would make of the same cluster.
pub struct Heuristic {
    pub trajectory: Trajectory,
    pub elapsed: Duration,
}

/// Questions of whether to stop per round, where rounds and no clock decide.
const QUESTIONS: u64 = 2_000;

/// Follows Karpenter's commands for as long as the audit's deadline, which is
/// time of its own.
pub fn heuristic(world: &World, catalog: &Catalog, args: &AuditArgs) -> Heuristic {
    let options = moves(&args.world, &args.moves);
    let settings = karpenter::Settings {
        lower: &options.lower,
        now: options.now,
        unmanaged: consolidate::takes_unmanaged(options.include_unmanaged, world),
    };
    let (began, asked) = (Instant::now(), Cell::new(0));
    let stop = || match args.moves.method.iterations {
        Some(rounds) => {
            asked.set(asked.get() + 1);
            asked.get() > rounds.saturating_mul(QUESTIONS)
        }
        None => began.elapsed() >= args.moves.deadline,
    };
    let trajectory = karpenter::follow(world, catalog, settings, &stop);
    Heuristic { trajectory, elapsed: began.elapsed() }
}

/// Audits `world` on `catalog`.
pub fn audit(world: &World, catalog: &Catalog, args: &AuditArgs) -> Result<Audit, Failure> {
    let options = consolidate::Options {
        limits: consolidate::Limits { evictions: args.max_evictions, removed: args.max_removed },
        all_waves: args.waves == Waves::All,
        frontier: args.frontier,
        ..moves(&args.world, &args.moves)
    };
    let began = Instant::now();
    let audit = consolidate::audit(world, catalog, &options, &|| began.elapsed());
    let mut audit = audit.map_err(|e| Failure::input(e.to_string()))?;
    if let Some(wave) = audit.waves.first() {
        audit.warnings.extend(unproven(&args.moves.method, wave.cost, wave.least()));
    }
    Ok(audit)
}

/// Judges the moves that somebody else proposes.
pub fn against(world: &World, catalog: &Catalog, args: &AuditArgs, proposal: &Proposal) -> Result<Certified, Failure> {
    let options = moves(&args.world, &args.moves);
    let began = Instant::now();
    let judged = against::certify(world, catalog, &options, &|| began.elapsed(), proposal);
    judged.map_err(|e| Failure::input(format!("--against: {e}")))
}

/// What the flags ask of the first wave.
fn moves(world: &WorldArgs, flags: &MoveArgs) -> consolidate::Options {
    consolidate::Options {
        lower: settings(world),
        engine: search(&flags.method, flags.deadline),
        now: world.now.unwrap_or_else(Timestamp::now),
        disruption_price: flags.disruption_price,
        drifted: consolidate::Drifted::Must,
        limits: consolidate::Limits::default(),
        include_unmanaged: flags.include_unmanaged,
        all_waves: false,
        frontier: false,
        reasons: true,
    }
}

/// What to say where an exact answer was asked for and is not proven.
fn unproven(flags: &MethodArgs, cost: i64, least: i64) -> Option<String> {
    (flags.engine == Engine::Exact && cost > least)
        .then(|| "--engine exact: this is not proven to be the optimum; a longer --deadline may prove it".to_owned())
}

/// Explains a node by the audit of `world` on `catalog`.
pub fn explain_node(
    world: &World,
    catalog: &Catalog,
    args: &ExplainNodeArgs,
) -> Result<consolidate::NodeExplanation, Failure> {
    let options = moves(&args.world, &args.moves);
    let began = Instant::now();
    let answer = consolidate::explain_node(world, catalog, &options, &|| began.elapsed(), &args.node);
    answer.map_err(|e| Failure::input(e.to_string()))
}

/// How the engine searches.
fn search(flags: &MethodArgs, deadline: Duration) -> engine::Options {
    engine::Options {
        seed: flags.seed,
        deadline: flags.iterations.is_none().then_some(deadline),
        iterations: flags.iterations,
        method: match flags.engine {
            Engine::Auto => engine::Method::Auto,
            Engine::Exact => engine::Method::Exact,
            Engine::Greedy => engine::Method::Greedy,
        },
        ..engine::Options::default()
    }
}

/// What the flags say, defaults for the rest.
fn settings(args: &WorldArgs) -> lower::Settings {
    let default = lower::Settings::default();
    lower::Settings {
        preferences: match args.preference_policy {
            Some(PreferencePolicy::Respect) => lower::PreferencePolicy::Respect,
            Some(PreferencePolicy::Ignore) => lower::PreferencePolicy::Ignore,
            None => default.preferences,
        },
        min_values: match args.min_values_policy {
            Some(MinValuesPolicy::Strict) => lower::MinValuesPolicy::Strict,
            Some(MinValuesPolicy::BestEffort) => lower::MinValuesPolicy::BestEffort,
            None => default.min_values,
        },
        gates: args.feature_gates.unwrap_or(default.gates),
        spot_types: args.spot_types.map_or(default.spot_types, |k| k as usize),
    }
}

fn answer(world: &World, decision: Decision) -> Answer {
    let gap = decision.gap();
    let names = |pods: &[usize]| -> Vec<String> { pods.iter().map(|p| world.pods[*p].full_name()).collect() };
    let node = |n: millwright_models::lift::PlannedNode| PlannedNode {
        pods: names(&n.pods),
        pool: n.pool,
        instance_type: n.instance_type,
        zone: n.zone,
        capacity_type: n.capacity_type,
        price: n.price,
        instance_types: n.instance_types,
        allocatable: n.allocatable,
        daemons: n.daemons,
    };
    let baseline = decision.baseline.map(|b| Baseline {
        engine: BASELINE.to_owned(),
        cost: b.cost,
        nodes: b.nodes,
        unscheduled: b.unscheduled,
        elapsed: b.elapsed,
    });
    Answer {
        nodes: decision.nodes.into_iter().map(node).collect(),
        existing: decision.existing.into_iter().map(|(node, pods)| (node, names(&pods))).collect(),
        unscheduled: decision.unscheduled.into_iter().map(|(p, why)| (world.pods[p].full_name(), why)).collect(),
        cost: decision.cost,
        bound: decision.bound,
        claimed_bound: decision.claimed_bound,
        gap,
        engine: decision.engine,
        elapsed: decision.elapsed,
        first_answer: decision.first_answer,
        baseline: baseline.unwrap_or_default(),
        flexibility_premium: decision.flexibility_premium,
        certificate: decision.certificate,
        current_cost: decision.current_cost,
        warnings: decision.warnings,
        claims: decision.claims,
    }
}
