//! What a cluster costs, what it could cost, and the moves that get there.

mod blocked;
mod explain;
mod forced;
mod frontier;
mod ideal;
mod launch;
mod lifts;
mod moves;
mod policy;
mod price;
pub(crate) mod simulate;
mod solve;
mod terms;
mod warnings;

use std::time::Duration;

use jiff::Timestamp;
use millwright_models::catalog::{CapacityType, Catalog};
use millwright_models::lift::{PlannedNode, Target};
use millwright_models::lower::{self, LowerError};
use millwright_models::world::World;
use millwright_solver::engine::{self, EngineError};
use millwright_solver::instance::Micros;
use serde_json::Value;

pub use explain::{ExplainNodeError, NodeExplanation, Relaxation as NodeRelaxation, node as explain_node};
pub(crate) use forced::drifters;
pub use frontier::Point;
pub use ideal::Ideal;
pub(crate) use solve::removals;
pub use terms::Drifted;
pub(crate) use terms::{drifted, terms, totals};

use crate::candidates::Scene;
use crate::nodes::Memory;
use crate::provision::Clock;
use solve::{Context, Solved};

/// Waves that are looked at, at most.
const MOST_WAVES: usize = 200;

/// Everything that changes the answer.
#[derive(Clone, Debug)]
pub struct Options {
    pub lower: lower::Settings,
    /// Its deadline is that of the whole audit.
    pub engine: engine::Options,
    pub now: Timestamp,
    /// Per evicted pod and per removed node, per hour; derived from the life
    /// that nodes have left if not given.
    pub disruption_price: Option<Micros>,
    pub limits: Limits,
    pub drifted: Drifted,
    /// Nodes that no NodePool manages may go too.
    pub include_unmanaged: bool,
    /// Follow the waves until nothing is left to do.
    pub all_waves: bool,
    /// Work out what fewer evictions would reach.
    pub frontier: bool,
    /// Work out why nodes stay and what nothing but the pods would cost; who
    /// only acts on the first wave does not need it.
    pub reasons: bool,
}

/// Whether nodes that no NodePool manages may go: if that is asked for, or
/// where there is no NodeClaim at all.
pub fn takes_unmanaged(asked: bool, world: &World) -> bool {
    asked || world.node_claims.is_empty()
}

/// What a wave may take at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub evictions: Option<i64>,
    pub removed: Option<i64>,
}

/// Why there is no audit.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The world cannot be compiled.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The engine failed.
    #[error("the engine found no answer: {0}")]
    Engine(#[from] EngineError),
}

/// Moves that are carried out together.
#[derive(Clone, Debug)]
pub struct Wave {
    /// Names, ascending.
    pub removed: Vec<String>,
    pub nodes: Vec<PlannedNode>,
    /// A name for each of `nodes`, for use in `moves` and later waves.
    pub names: Vec<String>,
    /// Nodes that exist with the pods that come to them (`namespace/name`).
    pub existing: Vec<(String, Vec<String>)>,
    /// Pods that run and change their place, by name.
    pub moves: Vec<Move>,
    /// `namespace/name` of the pods of each of `nodes`.
    pub pods: Vec<Vec<String>>,
    pub unscheduled: Vec<(String, Vec<String>)>,
    /// What the cluster costs afterwards.
    pub cost: Micros,
    /// Proven: no legal wave of the same disruption charge ends lower.
    pub bound: Micros,
    /// A higher bound that the wave's certificate does not hold: proved by
    /// search, or that of the ideal.
    pub claimed_bound: Option<Micros>,
    /// The member of the engine that found it.
    pub engine: String,
}

/// A running pod that changes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub pod: String,
    pub from: String,
    pub to: String,
}

/// What an audit found.
#[derive(Clone, Debug)]
pub struct Audit {
    /// Price of the nodes that exist, those on their way out aside.
    pub current_cost: Micros,
    /// The first is the one that is legal now; only it without `all_waves`.
    pub waves: Vec<Wave>,
    pub ideal: Ideal,
    pub frontier: Vec<Point>,
    /// Nodes that stay in the first wave, and why, by name.
    pub blocked: Vec<(String, Vec<String>)>,
    pub disruption_price: Micros,
    pub flexibility_premium: Micros,
    pub certificate: Value,
    /// NodeClaims of the first wave.
    pub claims: Vec<Value>,
    pub elapsed: Duration,
    pub warnings: Vec<String>,
}

/// Audits a world.
pub fn audit(world: &World, catalog: &Catalog, options: &Options, clock: Clock<'_>) -> Result<Audit, AuditError> {
    let began = clock();
    let cx = Context { catalog, options, clock, due: options.engine.deadline };
    let price = options.disruption_price.unwrap_or_else(|| price::default_price(&cx.scene(world)));
    let scene = cx.scene(world);
    let first = cx.solve(&scene, price, &options.limits, share(options, is_alone(&scene, price, options)))?;
    let (ideal, premium) = match options.reasons {
        true => (ideal::ideal(&cx, &scene, &first)?, first.premium(&cx, &scene, price)?),
        false => (Ideal::default(), 0),
    };
    let names = simulate::names(world, 1, first.lifted.nodes.len());
    let mut waves = vec![wave(world, &first, &names)];
    waves[0].learn(&ideal);
    let mut warnings = warnings::warnings(world, &scene, &first);
    let frontier = if options.frontier { frontier::frontier(&cx, &scene, price, &first)? } else { Vec::new() };
    if options.all_waves {
        let next = simulate::after(world, &first.lowered, &first.lifted, &names);
        warnings.extend(follow(&cx, next, price, &mut waves)?);
    }
    let mut blocked = if options.reasons { blocked::blocked(&scene, &first, &ideal, price) } else { Vec::new() };
    // A node on its way out does not stay: a warning tells of it.
    blocked.retain(|(name, _)| !first.is_leaving(&scene, name));
    Ok(Audit {
        current_cost: first.lowered.instance.current_cost(),
        waves,
        frontier,
        blocked,
        disruption_price: price,
        flexibility_premium: premium,
        certificate: first.certificate(&cx, world, price),
        claims: millwright_models::lift::node_claims(world, &first.lowered, &first.lifted.nodes),
        ideal,
        elapsed: clock().saturating_sub(began),
        warnings,
    })
}

/// Which part of the time the first wave gets; `alone` if nothing else has to
/// be worked out for the ideal.
fn share(options: &Options, alone: bool) -> f64 {
    match (options.frontier, options.all_waves) {
        (false, false) if alone || !options.reasons => 1.0,
        (false, false) => 0.7,
        (true, true) => 0.3,
        _ => 0.4,
    }
}

/// Whether neither the ideal nor the premium of flexibility needs a solve of
/// its own.
fn is_alone(scene: &Scene<'_>, price: Micros, options: &Options) -> bool {
    let of_pools = scene.pools.values().filter_map(|r| r.as_ref().ok()).flat_map(|p| &p.types);
    let sells_spot = of_pools.flat_map(|t| &t.offerings).any(|o| o.capacity_type == CapacityType::Spot);
    (!sells_spot || options.lower.spot_types == 1) && ideal::is_within_reach(scene, price, options)
}

/// Solves wave after wave, each on the result of the one before, until
/// nothing changes. Says so if time ends it earlier.
fn follow(
    cx: &Context<'_>,
    mut world: World,
    price: Micros,
    waves: &mut Vec<Wave>,
) -> Result<Option<String>, AuditError> {
    while !waves.last().is_none_or(Wave::is_nothing) {
        if waves.len() == MOST_WAVES || cx.late() {
            return Ok(Some(format!("the waves were followed as far as number {}: there may be more", waves.len())));
        }
        let next = {
            let scene = cx.scene(&world);
            let solved = cx.solve(&scene, price, &cx.options.limits, 0.5)?;
            let names = simulate::names(&world, waves.len() + 1, solved.lifted.nodes.len());
            let wave = wave(&world, &solved, &names);
            if wave.is_nothing() {
                break;
            }
            waves.push(wave);
            simulate::after(&world, &solved.lowered, &solved.lifted, &names)
        };
        world = next;
    }
    Ok(None)
}

impl Wave {
    /// Takes the bound of the ideal where it is the higher one: every wave is
    /// one of the plans that the ideal may choose from.
    fn learn(&mut self, ideal: &Ideal) {
        if ideal.serves_alike && ideal.bound > self.least() {
            self.claimed_bound = Some(ideal.bound);
        }
    }

    /// Whether it changes no node and places no pod.
    pub fn is_nothing(&self) -> bool {
        self.removed.is_empty() && self.nodes.is_empty() && self.existing.is_empty()
    }

    /// The highest bound that is known, certified or not.
    pub fn least(&self) -> Micros {
        self.claimed_bound.map_or(self.bound, |claimed| claimed.max(self.bound))
    }

    /// Running pods that lose their place.
    pub fn evictions(&self) -> usize {
        self.moves.len()
    }
}

/// A solved wave in names.
fn wave(world: &World, solved: &Solved<'_>, names: &[String]) -> Wave {
    let pods = |list: &[usize]| -> Vec<String> { list.iter().map(|p| world.pods[*p].full_name()).collect() };
    let lifted = &solved.lifted;
    let target = |to: &Target| match to {
        Target::Existing(name) => name.clone(),
        Target::New(i) => names[*i].clone(),
    };
    let moves = lifted.moves.iter();
    let mut removed = lifted.removed.clone();
    removed.sort();
    Wave {
        removed,
        nodes: lifted.nodes.clone(),
        names: names.to_vec(),
        existing: lifted.existing.iter().map(|(node, list)| (node.clone(), pods(list))).collect(),
        moves: moves
            .map(|m| Move { pod: world.pods[m.pod].full_name(), from: m.from.clone(), to: target(&m.to) })
            .collect(),
        pods: lifted.nodes.iter().map(|n| pods(&n.pods)).collect(),
        unscheduled: lifted.unscheduled.iter().map(|(p, why)| (world.pods[*p].full_name(), why.clone())).collect(),
        cost: solved.cost(),
        bound: solved.bound(),
        claimed_bound: solved.claimed_bound(),
        engine: solved.outcome.source.to_owned(),
    }
}

impl<'a> Context<'a> {
    /// The world as the rules see it.
    fn scene<'w>(&self, world: &'w World) -> Scene<'w>
    where
        'a: 'w,
    {
        let mut scene = Scene::new(world, self.catalog, self.options.lower.gates, self.options.now, Memory::default());
        scene.unmanaged = takes_unmanaged(self.options.include_unmanaged, world);
        scene
    }
}
