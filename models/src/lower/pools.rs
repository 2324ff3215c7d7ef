//! The pools that take part. (spec 20 §2.4)

use super::settings::Settings;
use crate::catalog::{Catalog, PoolTypes, pool_types};
use crate::karpenter::nodepool::NodePool;
use crate::world::World;

/// Pools with the types each may buy.
pub type Participants<'w> = Vec<(&'w NodePool, PoolTypes)>;

/// Dynamic, ready pools by weight, then name, both descending, with the types
/// each may buy; and a sentence per pool left out.
pub fn participating<'w>(world: &'w World, catalog: &Catalog, settings: &Settings) -> (Participants<'w>, Vec<String>) {
    let mut notes = Vec::new();
    let mut pools: Vec<&NodePool> = Vec::new();
    for pool in &world.node_pools {
        match unusable(pool) {
            Some(why) => notes.push(format!("NodePool {} is not used: {why}", pool.name())),
            None => pools.push(pool),
        }
    }
    pools.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| b.name().cmp(a.name())));
    let mut out = Vec::new();
    for pool in pools {
        match pool_types(world, catalog, pool, &settings.gates) {
            Ok(types) => {
                notes.extend(types.warnings.iter().cloned());
                out.push((pool, types));
            }
            Err(e) => notes.push(format!("NodePool {} is not used: {e}", pool.name())),
        }
    }
    if out.is_empty() {
        notes.push("no dynamic NodePool takes part: nothing can be bought".to_owned());
    }
    (out, notes)
}

fn unusable(pool: &NodePool) -> Option<String> {
    if pool.replicas.is_some() {
        return Some("it is static (spec.replicas)".to_owned());
    }
    if pool.meta.deletion_timestamp.is_some() {
        return Some("it is being deleted".to_owned());
    }
    if let Some((field, message)) = pool.faults.first() {
        return Some(format!("{field}: {message}"));
    }
    let ready = pool.conditions.iter().find(|c| c.kind == "Ready");
    match ready {
        Some(c) if c.status != "True" => Some(format!("its condition Ready is {}: {}", c.status, c.message)),
        _ => None,
    }
}
