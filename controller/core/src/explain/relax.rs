//! Changes that would let a pod be placed: proposed from what excludes each
//! spot, tried by planning again, told with what the new plan costs.

use std::sync::Arc;
use std::time::Duration;

use fixedbitset::FixedBitSet;
use millwright_models::catalog::Catalog;
use millwright_models::lift::Lifted;
use millwright_models::lower::{Cause, Lowered, Why, Witness};
use millwright_models::world::World;
use millwright_solver::explain::{Obstacle, masks};
use millwright_solver::instance::{Micros, RuleKind as Kind};

use super::change::{Change, RuleKind};
use super::{ExplainError, places};
use crate::provision::{Clock, Options, fall_back, solved};

/// Sets of changes that are tried, of each size.
const TRIES: usize = 12;
/// Changes that are made together, at most.
const TOGETHER: usize = 3;

/// Changes after which the pod has a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxation {
    /// All of them are needed.
    pub changes: Vec<Change>,
    /// Price of what the plan then buys.
    pub cost: Micros,
    /// Pods without a place then.
    pub unscheduled: usize,
}

/// Sets of changes by size, each of which would free a spot beside the plan.
pub(super) struct Proposals {
    by_size: Vec<Vec<Vec<Change>>>,
    /// Pods that the changes are about.
    pods: Vec<usize>,
}

pub(super) fn proposals(lowered: &Lowered<'_>, witness: &Witness<'_, '_>, why: &Why, pod: usize) -> Proposals {
    let mut by_size: Vec<Vec<Vec<Change>>> = vec![Vec::new(); TOGETHER];
    for (mask, spots) in masks(&why.excluded, &why.spots) {
        if mask.is_empty() || mask.len() > TOGETHER {
            continue;
        }
        let causes: Vec<&Cause> = mask.iter().map(|&c| &why.causes[c]).collect();
        let changes: Option<Vec<Change>> = propose(lowered, witness, pod, &causes, &spots);
        let sets = &mut by_size[mask.len() - 1];
        if let Some(changes) = changes.filter(|c| sets.len() < TRIES && !sets.contains(c)) {
            sets.push(changes);
        }
    }
    Proposals { by_size, pods: alike(lowered.world, pod) }
}

/// Pods that share the template of `pod` and wait like it.
fn alike(world: &World, pod: usize) -> Vec<usize> {
    let one = &world.pods[pod];
    let same = |p: &millwright_models::kube::pod::Pod| {
        p.node_name.is_none() && p.namespace == one.namespace && Arc::ptr_eq(&p.spec, &one.spec) && p.owner == one.owner
    };
    let with_owner = world.pods.iter().enumerate().filter(|(i, p)| *i == pod || (one.owner.is_some() && same(p)));
    with_owner.map(|(i, _)| i).collect()
}

/// A change per cause; none if one of them cannot be changed.
fn propose(
    lowered: &Lowered<'_>,
    witness: &Witness<'_, '_>,
    pod: usize,
    causes: &[&Cause],
    spots: &FixedBitSet,
) -> Option<Vec<Change>> {
    let rooms: Vec<usize> = causes
        .iter()
        .filter_map(|c| match c {
            Cause::Obstacle(Obstacle::Room(d)) => Some(*d),
            _ => None,
        })
        .collect();
    // The spot with the most room is the one to shrink for.
    let spot = spots
        .ones()
        .max_by_key(|&s| (rooms.iter().map(|&d| witness.free(s)[d]).collect::<Vec<_>>(), std::cmp::Reverse(s)))?;
    causes.iter().map(|cause| change(lowered, witness, pod, cause, spot, spots)).collect()
}

fn change(
    lowered: &Lowered<'_>,
    witness: &Witness<'_, '_>,
    pod: usize,
    cause: &Cause,
    spot: usize,
    spots: &FixedBitSet,
) -> Option<Change> {
    Some(match cause {
        Cause::NodeSelector { key, value } => Change::DropSelector { key: key.clone(), value: value.clone() },
        Cause::NodeAffinity(e) => Change::DropNodeAffinity(e.clone()),
        Cause::NodeAffinityTerms(terms) => Change::DropNodeAffinityTerms(terms.clone()),
        Cause::Taint(taint) => Change::Tolerate(taint.clone()),
        Cause::Volume { claim, .. } => Change::FreeVolume { claim: claim.clone() },
        Cause::NoLabel { rule, .. } => own_rule(lowered, *rule)?,
        Cause::DaemonPort => Change::DropHostPorts,
        Cause::Exceeded { pool, resource } => exceeded(lowered, witness, pool, resource, spots)?,
        Cause::Daemons => return None,
        Cause::Obstacle(Obstacle::Room(d)) => {
            let resource = lowered.dims.resources.get(*d).filter(|r| *r != "pods")?;
            let amount = round(resource, witness.free(spot)[*d]);
            let instead = lowered.world.pods[pod].requests.get(resource);
            (amount > 0).then(|| Change::Request { resource: resource.clone(), amount, instead })?
        }
        Cause::Obstacle(Obstacle::Rule(r)) => {
            let shape = lowered.shape_pods.iter().position(|pods| pods.binary_search(&pod).is_ok())?;
            if lowered.rule_names[*r] == "a host port" {
                Change::DropHostPorts
            } else if lowered.instance.rules[*r].owned_by(shape) {
                own_rule(lowered, *r)?
            } else {
                Change::DropTheirs { key: lowered.topology_key(*r), name: lowered.rule_names[*r].clone() }
            }
        }
        Cause::Obstacle(Obstacle::Limit(l)) => {
            let least = spots.ones().filter_map(|s| witness.takes(s, *l)).min()?;
            let (pool, resource) = &lowered.limit_names[*l];
            let from = limit(lowered.world, pool, resource)?;
            let to = from + least - witness.left(*l);
            Change::RaiseLimit { pool: pool.clone(), resource: resource.clone(), to, from }
        }
        Cause::Obstacle(Obstacle::Supply(_)) => return None,
        Cause::Obstacle(Obstacle::Variety(v)) => {
            Change::DropMinValues { pool: witness.pool_of_variety(*v).name().to_owned() }
        }
    })
}

fn own_rule(lowered: &Lowered<'_>, rule: usize) -> Option<Change> {
    let kind = match lowered.instance.rules[rule].kind {
        Kind::Spread(_) => RuleKind::Spread,
        Kind::Affinity => RuleKind::Affinity,
        Kind::Anti => RuleKind::Anti,
    };
    Some(Change::DropRule { kind, key: lowered.topology_key(rule), name: lowered.rule_names[rule].clone() })
}

/// What the nodes of the pool use already, and room for one more.
fn exceeded(
    lowered: &Lowered<'_>,
    witness: &Witness<'_, '_>,
    pool: &str,
    resource: &str,
    spots: &FixedBitSet,
) -> Option<Change> {
    let l = lowered.limit_names.iter().position(|(p, r)| p == pool && r == resource)?;
    let from = limit(lowered.world, pool, resource)?;
    let uses = lowered.instance.nodes.iter().flat_map(|n| &n.limit_use);
    let used: i64 = uses.filter(|(x, _)| *x == l).map(|(_, amount)| amount).sum();
    let least = spots.ones().filter_map(|s| witness.takes(s, l)).min()?;
    Some(Change::RaiseLimit { pool: pool.to_owned(), resource: resource.to_owned(), to: used + least, from })
}

fn limit(world: &World, pool: &str, resource: &str) -> Option<i64> {
    let pool = world.node_pool(pool)?;
    if resource == "nodes" { pool.node_limit } else { pool.limits.entry(resource) }
}

/// Bytes to whole mebibytes, downwards.
fn round(resource: &str, amount: i64) -> i64 {
    const MEBI: i64 = 1 << 20;
    let bytes = resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
    if bytes && amount > MEBI { amount - amount % MEBI } else { amount }
}

/// Plans again under each set of changes, smaller sets first, until some size
/// helps; the cheapest plan first.
pub(super) fn helpful(
    world: &World,
    catalog: &Catalog,
    options: &Options,
    clock: Clock<'_>,
    pod: usize,
    before: &Lifted,
    proposals: Proposals,
) -> Result<Vec<Relaxation>, ExplainError> {
    let slice = options.engine.deadline.map(|d| (d / 2).max(Duration::from_millis(50)));
    let mut out: Vec<Relaxation> = Vec::new();
    for sets in proposals.by_size {
        for changes in sets {
            let mut world = world.clone();
            changes.iter().for_each(|c| c.apply(&mut world, &proposals.pods));
            let mut options = options.clone();
            options.engine.deadline = slice.map(|s| clock() + s);
            let mut solved = solved(&world, catalog, &options, clock)?;
            if options.baseline {
                fall_back(&mut solved, &options, clock);
            }
            let lifted = solved.lifted;
            if places(&lifted, pod) {
                out.push(Relaxation { changes, cost: lifted.cost, unscheduled: lifted.unscheduled.len() });
            }
        }
        if !out.is_empty() {
            break;
        }
    }
    let words = |r: &Relaxation| r.changes.iter().map(Change::words).collect::<Vec<_>>();
    // A change that costs other pods their place is no cheap one.
    let lost = |r: &Relaxation| r.unscheduled.saturating_sub(before.unscheduled.len());
    out.sort_by_key(|r| (lost(r), r.cost, words(r)));
    Ok(out)
}
