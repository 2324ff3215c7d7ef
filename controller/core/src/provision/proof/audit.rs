//! What an audit's file says beyond a plan's.

use std::collections::BTreeSet;

use millwright_models::lower::Lowered;
use millwright_models::world::World;
use millwright_solver::instance::Micros;
use millwright_solver::plan::Plan;
use serde_json::Value;

use super::read::{ProofError, micros};

/// Pods that stay where they are since their node does: no place in the file
/// may name them.
pub fn settled(world: &World, lowered: &Lowered<'_>, plan: &Plan) -> BTreeSet<String> {
    let stays = |home: &usize| plan.removed.binary_search(home).is_err();
    lowered.homes.iter().filter(|(_, home)| stays(home)).map(|(p, _)| world.pods[*p].full_name()).collect()
}

/// A bound on the objective as one on the cost of the cluster, at the plan's
/// own charge for disruption.
pub fn bound(lowered: &Lowered<'_>, plan: &Plan, bound: Micros) -> Micros {
    let instance = &lowered.instance;
    instance.current_cost() + bound - plan.charges(instance)
}

/// Checks what is said of the cluster now, of savings and evictions. Returns
/// what the nodes that stay cost.
pub fn money(file: &Value, lowered: &Lowered<'_>, plan: &Plan, broken: &mut Vec<String>) -> Result<Micros, ProofError> {
    let instance = &lowered.instance;
    let after = plan.cost_after(instance);
    let dollars = |micros: Micros| micros as f64 / 1e6;
    for (field, is) in
        [("current_cost_per_hour", instance.current_cost()), ("savings_per_hour", instance.current_cost() - after)]
    {
        let said = micros(file, "", field)?;
        if said != is {
            broken.push(format!("{field}: says {}, the nodes make {}", dollars(said), dollars(is)));
        }
    }
    let said = file.get("evictions").and_then(Value::as_u64);
    if said != Some(plan.evictions(instance)) {
        let said = said.map_or_else(|| "nothing".to_owned(), |n| n.to_string());
        broken.push(format!("evictions: says {said}, the removed nodes run {} pods", plan.evictions(instance)));
    }
    Ok(after - plan.bought_cost(instance))
}
