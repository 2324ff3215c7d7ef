//! The machines that a proposal launches.

use std::collections::BTreeSet;

use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::node::Node;
use millwright_models::requirements::Requirements;

use super::{AgainstError, Launch, Proposal};
use crate::candidates::Scene;
use crate::consolidate::simulate;
use crate::karpenter::{Added, Launched, bought};
use crate::offered::offered;

/// A machine to be.
pub struct Machine {
    pub node: Node,
    pub claim: NodeClaim,
    pub added: Added,
}

/// The cheapest machine that each launch may become; `first` is the first
/// node that goes.
pub fn machines(scene: &Scene<'_>, proposal: &Proposal, first: Option<usize>) -> Result<Vec<Machine>, AgainstError> {
    let names = simulate::names(scene.world, 1, proposal.launch.len());
    let one = |(launch, name): (&Launch, String)| {
        let fault = |why: String| AgainstError::Launch { launch: launch.name.clone(), why };
        let of_first = || first.and_then(|n| scene.nodes[n].pool()).map(str::to_owned);
        let only = || match &scene.world.node_pools[..] {
            [pool] => Some(pool.name().to_owned()),
            _ => None,
        };
        let pool = launch.pool.clone().or_else(of_first).or_else(only);
        let pool = pool.ok_or_else(|| fault("it names no NodePool, and there are several".to_owned()))?;
        let Some(pool) = scene.world.node_pool(&pool) else {
            return Err(fault(format!("NodePool {pool} does not exist")));
        };
        let types = match scene.pools.get(pool.name()) {
            Some(Ok(types)) => &types.types,
            Some(Err(why)) => return Err(fault(format!("the types of NodePool {} are not known: {why}", pool.name()))),
            None => return Err(fault(format!("NodePool {} has no types", pool.name()))),
        };
        let wanted = wanted(pool, launch).map_err(&fault)?;
        let all = offered(&wanted, types);
        let cheapest = all.iter().filter(|(_, o)| o.launchable()).min_by_key(|(t, o)| (o.price, *t));
        let Some(&(kind, offering)) = cheapest else {
            let what =
                if all.is_empty() { "offers nothing that fits its requirements" } else { "has nothing of it left" };
            return Err(fault(format!("NodePool {} {what}", pool.name())));
        };
        let ((node, claim), added) = bought(&Launched {
            name: &name,
            pool,
            kind: &types[kind],
            requirements: &wanted,
            region: &scene.catalog.region,
            zone: &offering.zone,
            capacity_type: offering.capacity_type,
            reservation: offering.reservation.as_ref().map(|r| &*r.id),
            price: offering.price,
        });
        Ok(Machine { node, claim, added })
    };
    proposal.launch.iter().zip(names).map(one).collect()
}

fn wanted(pool: &NodePool, launch: &Launch) -> Result<Requirements, String> {
    let mut all = Requirements::from_expressions(&pool.template.requirements).map_err(|e| e.to_string())?;
    all.add_all(&Requirements::from_labels(&pool.template.labels));
    let own = Requirements::from_expressions(&launch.requirements).map_err(|e| e.to_string())?;
    if let Err(conflicts) = all.intersects(&own) {
        let keys: Vec<&str> = conflicts.iter().map(|c| c.key()).collect();
        return Err(format!("NodePool {} does not allow its {}", pool.name(), keys.join(", ")));
    }
    all.add_all(&own);
    Ok(all)
}

/// Limits of NodePools that what stays and what comes exceed together.
pub fn over_limit(scene: &Scene<'_>, gone: &BTreeSet<&str>, machines: &[Machine]) -> Vec<String> {
    let mut out = Vec::new();
    let grows = |p: &&NodePool| machines.iter().any(|m| m.added.pool == p.name());
    for pool in scene.world.node_pools.iter().filter(grows) {
        let stays = scene.nodes.iter().filter(|n| n.pool() == Some(pool.name()) && !gone.contains(n.name()));
        let old = stays.filter_map(|n| n.node.map(|n| &n.capacity).or(n.claim.map(|c| &c.capacity)));
        let new = machines.iter().filter(|m| m.added.pool == pool.name()).map(|m| &m.node.capacity);
        let all: Vec<_> = old.chain(new).collect();
        for (name, limit) in pool.limits.iter() {
            let used: i64 = all.iter().map(|c| c.get(name)).sum();
            if used > limit {
                out.push(format!("the limit of NodePool {} on {name} is exceeded", pool.name()));
            }
        }
        let nodes = i64::try_from(all.len()).unwrap_or(i64::MAX);
        if let Some(limit) = pool.node_limit.filter(|l| nodes > *l) {
            out.push(format!("NodePool {} may have {limit} nodes, and would have {nodes}", pool.name()));
        }
    }
    out
}
