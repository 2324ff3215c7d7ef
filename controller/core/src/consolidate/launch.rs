//! Launch lists of replacements: no type that would make the move no cheaper.

use std::collections::BTreeMap;

use millwright_models::catalog::CapacityType;
use millwright_models::lift::Lifted;
use millwright_models::lower::Lowered;
use millwright_solver::instance::Micros;

use super::moves::Part;

/// Drops from the launch lists of every part the types whose price would eat
/// up what the part saves, were all its nodes launched as such. Parts that
/// save nothing, or that serve pods which waited, are left alone.
pub fn narrow(lowered: &Lowered<'_>, lifted: &mut Lifted, parts: &[Part]) {
    for part in parts.iter().filter(|p| p.savings > 0 && !p.serves_pending) {
        let share = part.added.len() as Micros;
        for &i in &part.added {
            let node = &mut lifted.nodes[i];
            let row = &lowered.offers.rows[node.row];
            let kind = lowered.offers.offering(row).capacity_type;
            let prices = prices(lowered, row.pool, &node.zone, kind);
            let (told, planned) = (node.instance_type.clone(), node.price);
            let cheap = |name: &String| prices.get(name.as_str()).is_none_or(|p| (p - planned) * share < part.savings);
            node.instance_types.retain(|name| *name == told || cheap(name));
        }
    }
}

/// What the types of a pool cost in one zone and capacity type.
fn prices<'l>(lowered: &'l Lowered<'_>, pool: usize, zone: &str, kind: CapacityType) -> BTreeMap<&'l str, Micros> {
    let mut out: BTreeMap<&str, Micros> = BTreeMap::new();
    for t in &lowered.offers.pools[pool].types.types {
        let here = t.offerings.iter().filter(|o| &*o.zone == zone && o.capacity_type == kind && o.launchable());
        if let Some(price) = here.map(|o| o.price).max() {
            out.insert(&t.name, price);
        }
    }
    out
}
