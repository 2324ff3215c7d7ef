//! What the cluster would cost if nothing but its pods had a say.

use std::collections::{BTreeMap, BTreeSet};

use millwright_models::lift;
use millwright_models::lower::{RemovalTerms, Removals, lower_with_removals};
use millwright_solver::engine;
use millwright_solver::instance::Micros;

use super::solve::{Context, Solved, rooted};
use super::terms::terms;
use super::{AuditError, Options};
use crate::candidates::Scene;

/// The cheapest set of nodes, budgets, PodDisruptionBudgets, opt-outs and the
/// price on disruption ignored. Nodes that are not ours to remove stay.
#[derive(Clone, Debug, Default)]
pub struct Ideal {
    pub cost: Micros,
    /// Proven.
    pub bound: Micros,
    /// Nodes that would go.
    pub removed: BTreeSet<String>,
    /// Whether it leaves out as many pods as the first wave, so that its bound
    /// holds for the wave too.
    pub serves_alike: bool,
}

/// Works it out, or takes it from the first wave where nothing held that one
/// back.
pub fn ideal(cx: &Context<'_>, scene: &Scene<'_>, first: &Solved<'_>) -> Result<Ideal, AuditError> {
    let own = Ideal {
        cost: first.cost(),
        bound: first.bound(),
        removed: first.lifted.removed.iter().cloned().collect(),
        serves_alike: true,
    };
    let free = removals(scene);
    if free == first.terms.removals {
        return Ok(own);
    }
    let mut free = free;
    let lowered = loop {
        let lowered = lower_with_removals(scene.world, cx.catalog, &cx.options.lower, &free)?;
        let rooted = rooted(scene.world, &lowered);
        if rooted.is_empty() {
            break lowered;
        }
        free.nodes.retain(|name, _| !rooted.contains_key(name));
    };
    let outcome = engine::solve(&lowered.instance, &cx.engine(0.6), cx.clock)?;
    let instance = &lowered.instance;
    let cost = outcome.plan.cost_after(instance);
    let bound = (instance.current_cost() + outcome.bound).max(0);
    let lifted = lift::lift(&lowered, &outcome.plan, cx.options.lower.spot_types);
    // The wave is one of the plans that were searched for here.
    let serves_alike = lifted.unscheduled.len() == first.lifted.unscheduled.len();
    let worse = lifted.unscheduled.len() >= first.lifted.unscheduled.len() && cost > own.cost;
    if worse {
        Ok(Ideal { bound, serves_alike, ..own })
    } else {
        Ok(Ideal { cost, bound, removed: lifted.removed.into_iter().collect(), serves_alike })
    }
}

/// Whether nothing holds the first wave back, so that it aims at the ideal.
pub fn is_within_reach(scene: &Scene<'_>, price: Micros, options: &Options) -> bool {
    terms(scene, price, &options.limits, &BTreeMap::new(), options.drifted).removals == removals(scene)
}

fn removals(scene: &Scene<'_>) -> Removals {
    let is_static =
        |pool: Option<&str>| pool.and_then(|p| scene.world.node_pool(p)).is_some_and(|p| p.replicas.is_some());
    let mine = scene.nodes.iter().filter(|n| n.claim.is_some() || scene.unmanaged);
    let free = mine.filter(|n| !is_static(n.pool()) && !n.is_marked(&scene.memory) && is_place(n));
    Removals { nodes: free.map(|n| (n.name().to_owned(), RemovalTerms::default())).collect(), budgets: Vec::new() }
}

/// A claim that has not been launched is no place yet.
fn is_place(node: &crate::nodes::StateNode<'_>) -> bool {
    node.node.is_some() || node.claim.is_some_and(|c| !c.allocatable.is_empty())
}
