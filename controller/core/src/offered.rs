//! What a set of requirements may be launched as.

use millwright_models::catalog::{PoolOffering, PoolType};
use millwright_models::karpenter::labels::{CAPACITY_TYPE, RESERVATION_ID, ZONE};
use millwright_models::requirements::{Requirements, well_known};

/// Types, by place, with the offerings that agree with `wanted`, whether they
/// can be had now or not.
pub fn offered<'t>(wanted: &Requirements, types: &'t [PoolType]) -> Vec<(usize, &'t PoolOffering)> {
    let has = |key: &str, value: &str| wanted.get(key).is_none_or(|r| r.has(value));
    let fits = |(_, t): &(usize, &PoolType)| t.requirements.is_compatible(wanted, &|k| !well_known(k));
    let of_types = types.iter().enumerate().filter(fits);
    let all = of_types.flat_map(|(i, t)| t.offerings.iter().map(move |o| (i, o)));
    all.filter(|(_, o)| {
        has(ZONE, &o.zone)
            && has(CAPACITY_TYPE, o.capacity_type.as_str())
            && o.reservation.as_ref().is_none_or(|r| has(RESERVATION_ID, &r.id))
    })
    .collect()
}
