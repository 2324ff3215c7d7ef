//! Karpenter's own greedy search, reproduced: the fallback, the baseline that
//! a plan is compared with, and a differential oracle.
//!
//! Semantics: `spec/20-scheduling.md` §§3 to 12; the intended behaviour where
//! the spec marks a quirk.

mod batch;
mod bits;
mod book;
mod claim;
mod constraints;
mod daemon;
mod finish;
mod imagined;
mod limit;
mod listing;
mod minvalues;
#[cfg(test)]
mod naive;
mod node;
mod on_claims;
mod on_nodes;
mod on_templates;
mod order;
mod pass;
mod port;
mod queue;
mod reasons;
mod reserved;
mod setup;
mod shape;
mod standing;
mod steps;
mod taint;
mod template;
#[cfg(test)]
mod tests;
mod topology;
mod volume;

use std::sync::Arc;

use crate::catalog::gates::Gates;
use crate::catalog::pool_types::{CapacityType, PoolTypes};
use crate::karpenter::nodepool::NodePool;
use crate::requirements::Requirements;
use crate::world::World;

pub use imagined::Imagined;
pub use listing::Unmet;

/// What becomes of preferences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PreferencePolicy {
    /// Required at first, then given up one by one.
    #[default]
    Respect,
    Ignore,
}

/// What becomes of minValues that cannot be met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MinValuesPolicy {
    #[default]
    Strict,
    /// Lowered to what can be reached when a claim is opened.
    BestEffort,
}

/// How to decide.
#[derive(Clone, Copy, Debug)]
pub struct GreedyOptions {
    pub preference_policy: PreferencePolicy,
    pub min_values_policy: MinValuesPolicy,
    pub gates: Gates,
    /// Pods wait for a reservation that others hold, as in provisioning;
    /// otherwise they take another offering, as in consolidation.
    pub strict_reservations: bool,
    /// Pods on nodes that are being removed are given room too.
    pub pods_of_leaving_nodes: bool,
    /// Instance types a claim lists at most.
    pub max_types: usize,
}

impl GreedyOptions {
    /// Karpenter's defaults under these gates.
    pub fn new(gates: Gates) -> Self {
        Self {
            preference_policy: PreferencePolicy::default(),
            min_values_policy: MinValuesPolicy::default(),
            gates,
            strict_reservations: true,
            pods_of_leaving_nodes: true,
            max_types: 600,
        }
    }
}

/// A claim to create.
#[derive(Clone, Debug)]
pub struct GreedyClaim {
    pub pool: String,
    /// Indices into the pool's types that the claim lists, cheapest first.
    pub types: Vec<u32>,
    /// Zones of the launchable offerings it still allows.
    pub zones: Vec<Arc<str>>,
    /// Capacity types of the launchable offerings it still allows.
    pub capacity_types: Vec<CapacityType>,
    /// Without the list of instance types, which `types` gives.
    pub requirements: Requirements,
    /// Indices into the world's pods.
    pub pods: Vec<usize>,
    /// Micro-dollars per hour of the cheapest launchable offering that the
    /// claim still allows.
    pub price: i64,
    /// That offering: index into the pool's types, zone, capacity type.
    pub cheapest: Option<(u32, Arc<str>, CapacityType)>,
    /// minValues as it stands on the claim was lowered.
    pub min_values_relaxed: bool,
}

/// What the search decided.
#[derive(Clone, Debug, Default)]
pub struct GreedyPlan {
    /// In the order they were opened.
    pub claims: Vec<GreedyClaim>,
    /// Nodes and in-flight claims that received pods, in the order tried.
    pub existing: Vec<(String, Vec<usize>)>,
    /// Pods without a place, and why.
    pub unscheduled: Vec<(usize, Vec<String>)>,
    /// Pods that wait for a reserved offering; they are unscheduled too.
    pub deferred: Vec<usize>,
    /// Micro-dollars per hour of all claims.
    pub cost: i64,
    /// `stop` ended the search; what was not reached is unscheduled.
    pub stopped: bool,
}

/// Places the pending pods of `world`. `pools` gives every pool that may open
/// claims, with its types; their order does not matter. `stop` is asked
/// between pods.
pub fn solve(
    world: &World,
    pools: &[(&NodePool, PoolTypes)],
    options: &GreedyOptions,
    stop: &dyn Fn() -> bool,
) -> GreedyPlan {
    simulate(world, pools, options, &Imagined::default(), stop)
}

/// Places the pending pods of `world` and those of nodes that are imagined to
/// go, as a search for disruptions asks before it acts.
pub fn simulate(
    world: &World,
    pools: &[(&NodePool, PoolTypes)],
    options: &GreedyOptions,
    imagined: &Imagined<'_>,
    stop: &dyn Fn() -> bool,
) -> GreedyPlan {
    let (mut pass, shapes, batch) = setup::prepare(world, pools, options, imagined);
    let stopped = pass.run(world, &shapes, batch, stop);
    finish::finish(pass, &shapes, stopped)
}
