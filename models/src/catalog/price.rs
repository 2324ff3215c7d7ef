//! What a running node costs.

use super::Catalog;
use super::pool_types::PoolType;
use crate::karpenter::labels::{CAPACITY_TYPE, INSTANCE_TYPE, ON_DEMAND, RESERVATION_ID, ZONE, normalise};
use crate::kube::meta::Labels;

/// Micro-dollars per hour of a node with these labels: the price of its type
/// in its zone and capacity type, else in the cheapest other zone; a node
/// without a capacity type counts as on-demand. `None` if the type or the
/// capacity type has no price.
pub fn price_of(catalog: &Catalog, labels: &Labels) -> Option<i64> {
    let t = catalog.find(label(labels, INSTANCE_TYPE)?)?;
    pick(
        labels,
        t.offerings.iter().map(|o| {
            (o.zone.as_str(), o.capacity_type.as_str(), o.reservation.as_ref().map(|r| r.id.as_str()), o.price)
        }),
    )
}

/// [`price_of`] with the overlays of the pool whose types these are.
pub fn price_in_pool(types: &[PoolType], labels: &Labels) -> Option<i64> {
    let name = label(labels, INSTANCE_TYPE)?;
    let t = &types[types.binary_search_by(|t| (*t.name).cmp(name)).ok()?];
    pick(
        labels,
        t.offerings
            .iter()
            .map(|o| (&*o.zone, o.capacity_type.as_str(), o.reservation.as_ref().map(|r| r.id.as_str()), o.price)),
    )
}

fn pick<'a>(labels: &Labels, offerings: impl Iterator<Item = (&'a str, &'a str, Option<&'a str>, i64)>) -> Option<i64> {
    let kind = label(labels, CAPACITY_TYPE).unwrap_or(ON_DEMAND);
    let zone = label(labels, ZONE);
    let reservation = label(labels, RESERVATION_ID);
    offerings
        .filter(|(_, k, ..)| *k == kind)
        .map(|(z, _, id, price)| (id != reservation, Some(z) != zone, price))
        .min()
        .map(|(.., price)| price)
}

/// A label under its own or an old name.
fn label<'a>(labels: &'a Labels, key: &str) -> Option<&'a str> {
    let old = || labels.iter().find(|(k, _)| normalise(k) == key).map(|(_, v)| v);
    labels.get(key).or_else(old).map(String::as_str)
}
