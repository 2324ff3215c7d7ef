//! Moves that somebody else proposes, held against the rules and the optimum.

mod launches;
mod proposal;

use std::collections::{BTreeMap, BTreeSet};

use millwright_models::catalog::Catalog;
use millwright_models::karpenter::labels::SPOT;
use millwright_models::lift;
use millwright_models::lower::{RemovalTerms, Removals, lower_with_removals};
use millwright_models::world::World;
use millwright_solver::engine;
use millwright_solver::instance::Micros;

pub use proposal::{API_VERSION, KIND, Launch, Proposal, ProposalError};

use crate::balanced::{self, Part};
use crate::candidates::Scene;
use crate::consolidate::simulate::{Change, carry_out};
use crate::consolidate::{AuditError, Drifted, Limits, Options, takes_unmanaged, terms};
use crate::karpenter::{self, Added};
use crate::provision::Clock;
use launches::Machine;

/// Why a proposal cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    #[error("remove: no node and no NodeClaim is called {0}")]
    NoSuchNode(String),
    #[error("launch {launch}: {why}")]
    Launch { launch: String, why: String },
    #[error(transparent)]
    Audit(#[from] AuditError),
}

/// A proposal as it was judged.
#[derive(Clone, Debug)]
pub struct Certified {
    /// The rules that it breaks, in the order in which they are looked at;
    /// none for a legal one.
    pub broken: Vec<String>,
    /// Names of nodes, ascending.
    pub removed: Vec<String>,
    pub launched: Vec<Added>,
    /// Running pods that lose their place.
    pub evictions: usize,
    /// Pods without a place afterwards, and why.
    pub unscheduled: Vec<(String, Vec<String>)>,
    /// What the cluster costs afterwards.
    pub cost: Micros,
}

/// Judges a proposal by the rules of one wave at `options.now`. Its pods are
/// placed as well as can be on what stays and what it launches; where it
/// launches one of several types, the cheapest counts.
pub fn certify(
    world: &World,
    catalog: &Catalog,
    options: &Options,
    clock: Clock<'_>,
    proposal: &Proposal,
) -> Result<Certified, AgainstError> {
    let unmanaged = takes_unmanaged(options.include_unmanaged, world);
    let settings = karpenter::Settings { lower: &options.lower, now: options.now, unmanaged };
    let scene = karpenter::scene(world, catalog, settings);
    let gone = removed(&scene, proposal)?;
    let names: BTreeSet<&str> = gone.iter().map(|n| scene.nodes[*n].name()).collect();
    let machines = launches::machines(&scene, proposal, gone.first().copied())?;
    let mut broken = held(&scene, &names);
    broken.extend(launches::over_limit(&scene, &names, &machines));
    let seats = seats(world, catalog, options, clock, &names, &machines)?;
    broken.extend(seats.homeless);
    let goes: Micros = gone.iter().filter_map(|n| scene.price(*n)).sum();
    let comes: Micros = machines.iter().map(|m| m.added.price).sum();
    broken.extend(judged(&scene, &gone, &machines, goes - comes, seats.serves_pending));
    Ok(Certified {
        broken,
        removed: names.iter().map(|n| (*n).to_owned()).collect(),
        launched: machines.into_iter().map(|m| m.added).collect(),
        evictions: seats.evictions,
        unscheduled: seats.unscheduled,
        cost: karpenter::cost(&scene) - goes + comes,
    })
}

/// Positions of the nodes that go, each once.
fn removed(scene: &Scene<'_>, proposal: &Proposal) -> Result<Vec<usize>, AgainstError> {
    let mut out = Vec::new();
    for name in &proposal.remove {
        let called =
            |n: &crate::nodes::StateNode<'_>| n.name() == name || n.claim.is_some_and(|c| c.meta.name == *name);
        let found = scene.nodes.iter().position(called).ok_or_else(|| AgainstError::NoSuchNode(name.clone()))?;
        if !out.contains(&found) {
            out.push(found);
        }
    }
    Ok(out)
}

/// What the rules of disruption say: each node for itself, then the budgets.
fn held(scene: &Scene<'_>, names: &BTreeSet<&str>) -> Vec<String> {
    let terms = terms(scene, 0, &Limits::default(), &BTreeMap::new(), Drifted::May);
    let mut out = Vec::new();
    let mut drawn: BTreeMap<usize, i64> = BTreeMap::new();
    for name in names {
        match terms.removals.nodes.get(*name) {
            Some(draws) => draws.budgets.iter().for_each(|&(b, n)| *drawn.entry(b).or_default() += n),
            None => {
                let why = terms.kept.get(name).map_or("it is not known as a node that may go", String::as_str);
                out.push(format!("node {name} may not go now: {why}"));
            }
        }
    }
    for (b, amount) in drawn {
        let budget = &terms.removals.budgets[b];
        if amount > budget.max {
            out.push(format!("{} is exceeded: this takes {amount}", budget.name));
        }
    }
    out
}

/// Where the pods end up.
struct Seats {
    homeless: Vec<String>,
    unscheduled: Vec<(String, Vec<String>)>,
    evictions: usize,
    serves_pending: bool,
}

fn seats(
    world: &World,
    catalog: &Catalog,
    options: &Options,
    clock: Clock<'_>,
    names: &BTreeSet<&str>,
    machines: &[Machine],
) -> Result<Seats, AgainstError> {
    let made = machines.iter().map(|m| (m.node.clone(), m.claim.clone())).collect();
    let with = carry_out(world, Change { machines: made, ..Change::default() });
    let forced = RemovalTerms { forced: true, ..RemovalTerms::default() };
    let removals =
        Removals { nodes: names.iter().map(|n| ((*n).to_owned(), forced.clone())).collect(), budgets: Vec::new() };
    let mut lowered = lower_with_removals(&with, catalog, &options.lower, &removals).map_err(AuditError::from)?;
    lowered.instance.bins.iter_mut().for_each(|b| b.buyable = false);
    let outcome = engine::solve(&lowered.instance, &options.engine, clock).map_err(AuditError::from)?;
    let lifted = lift::lift(&lowered, &outcome.plan, options.lower.spot_types);
    let mut seats =
        Seats { homeless: Vec::new(), unscheduled: Vec::new(), evictions: lifted.moves.len(), serves_pending: false };
    for (p, why) in &lifted.unscheduled {
        let pod = &with.pods[*p];
        if pod.node_name.is_some() {
            seats.homeless.push(format!("pod {} would have no place: {}", pod.full_name(), why.join("; ")));
            seats.evictions += 1;
        }
        seats.unscheduled.push((pod.full_name(), why.clone()));
    }
    let placed = lifted.existing.iter().flat_map(|(_, pods)| pods);
    seats.serves_pending = placed.into_iter().any(|p| with.pods[*p].node_name.is_none());
    Ok(seats)
}

/// What is asked of a move as a whole.
fn judged(
    scene: &Scene<'_>,
    gone: &[usize],
    machines: &[Machine],
    savings: Micros,
    serves_pending: bool,
) -> Vec<String> {
    let mut out = Vec::new();
    let candidates: Vec<_> =
        gone.iter().filter_map(|n| scene.candidate(*n, crate::candidates::Class::Graceful).ok()).collect();
    let works = candidates.iter().filter(|c| !c.is_empty());
    let drifted = |n: usize| crate::consolidate::drifted(scene, n).is_some();
    if candidates.len() == gone.len() && !gone.is_empty() && works.clone().any(|c| !drifted(c.node)) {
        let all_spot = candidates.iter().all(|c| c.capacity_type == Some(SPOT));
        let buys_spot = machines.iter().any(|m| m.added.capacity_type == SPOT);
        if all_spot && buys_spot && !serves_pending && !scene.gates.spot_to_spot_consolidation {
            out.push("spot is replaced by spot, and the feature gate SpotToSpotConsolidation is off".to_owned());
        }
        let part = |c: &crate::candidates::Candidate<'_>| {
            let pool = scene.world.node_pool(c.pool?.name())?;
            Some(Part { pool, price: c.price, rescheduling: c.rescheduling })
        };
        let parts: Vec<Part<'_>> = candidates.iter().filter_map(part).collect();
        let pools: BTreeSet<&str> = parts.iter().map(|p| p.pool.name()).collect();
        let totals = pools.into_iter().map(|p| (p, crate::consolidate::totals(scene, p))).collect();
        if let Some(first) = parts.first().map(|_| balanced::scores(&parts, savings as f64, &totals)) {
            for bad in first.iter().filter(|s| !s.approved()) {
                let (pool, score) = (&bad.pool, bad.score);
                out.push(format!("the policy Balanced of NodePool {pool} rejects it with a score of {score:.2}"));
            }
        }
    }
    out
}
