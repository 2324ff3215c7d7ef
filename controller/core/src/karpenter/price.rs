//! What a launch may cost. (spec 30 §13.2)

use millwright_models::catalog::{CapacityType, PoolOffering, PoolType};
use millwright_models::greedy::GreedyClaim;
use millwright_models::karpenter::labels::CAPACITY_TYPE;
use millwright_solver::instance::Micros;

/// The order in which a launch takes capacity types.
const LAUNCH_ORDER: [CapacityType; 3] = [CapacityType::Reserved, CapacityType::Spot, CapacityType::OnDemand];

/// The dearest offering of the capacity type that a launch of `kind` would
/// take; none if it has nothing to launch.
pub fn worst(claim: &GreedyClaim, kind: &PoolType) -> Option<Micros> {
    let dearest = |c| claim.launchable(kind).filter(|o| o.capacity_type == c).map(|o| o.price).max();
    LAUNCH_ORDER.into_iter().find_map(dearest)
}

/// The cheapest offering of a type.
pub fn best<'t>(claim: &'t GreedyClaim, kind: &'t PoolType) -> Option<&'t PoolOffering> {
    claim.launchable(kind).min_by_key(|o| o.price)
}

/// Whether the claim may become a node of this capacity type.
pub fn admits(claim: &GreedyClaim, kind: CapacityType) -> bool {
    claim.requirements.get(CAPACITY_TYPE).is_none_or(|r| r.has(kind.as_str()))
}

/// Puts `kept` on the claim, cheapest first, and bills it at the cheapest
/// offering that is left.
pub fn list(claim: &mut GreedyClaim, types: &[PoolType], mut kept: Vec<u32>) {
    let price = |t: u32| best(claim, &types[t as usize]).map(|o| o.price);
    kept.sort_by_key(|t| (price(*t).unwrap_or(Micros::MAX), *t));
    let offering = kept.first().and_then(|t| Some((*t, best(claim, &types[*t as usize])?)));
    let (price, cheapest) = match offering {
        Some((t, o)) => (o.price, Some((t, o.zone.clone(), o.capacity_type))),
        None => (0, None),
    };
    (claim.types, claim.price, claim.cheapest) = (kept, price, cheapest);
}
