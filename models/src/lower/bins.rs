//! Rows as bins: capacity net of DaemonSets, price, limits, reservations.

use std::collections::BTreeMap;

use millwright_solver::instance::{Bin, Limit, Supply, UNLIMITED};
use rustc_hash::FxHashMap;

use super::attach::Attach;
use super::daemons::Overhead;
use super::nodes::Places;
use super::offers::Offers;
use crate::catalog::CapacityType;
use crate::resources::Resources;

/// The resource dimensions of an instance.
#[derive(Clone, Debug, Default)]
pub struct Dims {
    /// Resource names, sorted.
    pub resources: Vec<String>,
    /// CSI drivers whose attachments are counted, sorted; their dimensions
    /// follow those of the resources.
    pub drivers: Vec<String>,
}

impl Dims {
    pub fn count(&self) -> usize {
        self.resources.len() + self.drivers.len()
    }

    /// A demand vector. Attachments of a driver that nothing limits are 0.
    pub fn demand(&self, requests: &Resources, attachments: &BTreeMap<String, u32>) -> Vec<i64> {
        let resources = self.resources.iter().map(|r| requests.get(r));
        let drivers = self.drivers.iter().map(|d| attachments.get(d).map_or(0, |&n| i64::from(n)));
        resources.chain(drivers).collect()
    }
}

/// The bins, one per row, and what couples them.
pub struct Bins {
    pub bins: Vec<Bin>,
    /// Rows that can hold at least their own DaemonSets.
    pub usable: fixedbitset::FixedBitSet,
    pub limits: Vec<Limit>,
    /// Pool and resource behind each limit.
    pub limit_names: Vec<(String, String)>,
    /// What a place frees of the limits if it goes.
    pub place_use: Vec<Vec<(usize, i64)>>,
    pub supplies: Vec<Supply>,
    pub supply_names: Vec<String>,
    /// Pools whose limits are exceeded already: (pool, resource).
    pub exceeded: Vec<(String, String)>,
}

/// Turns rows into bins. `domain` is filled in later.
pub fn bins(
    offers: &Offers<'_>,
    of_row: &[usize],
    groups: &[Overhead],
    dims: &Dims,
    places: &Places<'_>,
    attach: &Attach<'_, '_>,
) -> Bins {
    let mut out = Bins {
        bins: Vec::with_capacity(offers.rows.len()),
        usable: fixedbitset::FixedBitSet::with_capacity(offers.rows.len()),
        limits: Vec::new(),
        limit_names: Vec::new(),
        place_use: vec![Vec::new(); places.0.len()],
        supplies: Vec::new(),
        supply_names: Vec::new(),
        exceeded: Vec::new(),
    };
    let closed: Vec<bool> = offers.pools.iter().map(|p| limits_of(&mut out, p.pool, places)).collect();
    let mut reservations: FxHashMap<String, usize> = FxHashMap::default();
    for (index, row) in offers.rows.iter().enumerate() {
        let ptype = offers.ptype(row);
        let offering = offers.offering(row);
        let mut room = ptype.allocatable.clone();
        room.sub(&groups[of_row[index]].requests);
        let volumes = |driver: &String| attach.row_room(driver, ptype.volume_attachments);
        let capacity: Vec<i64> =
            dims.resources.iter().map(|r| room.get(r)).chain(dims.drivers.iter().map(volumes)).collect();
        if room.iter().all(|(_, amount)| amount >= 0) && !closed[row.pool] {
            out.usable.insert(index);
        }
        let pool = offers.pools[row.pool].pool.name();
        let limit_use = out
            .limit_names
            .iter()
            .enumerate()
            .filter(|(_, (p, _))| p == pool)
            .map(|(l, (_, r))| (l, if r == "nodes" { 1 } else { ptype.capacity.get(r).min(UNLIMITED) }))
            .filter(|&(_, amount)| amount > 0)
            .collect();
        let supply =
            offering.reservation.as_ref().filter(|_| offering.capacity_type == CapacityType::Reserved).map(|r| {
                *reservations.entry(r.id.clone()).or_insert_with(|| {
                    out.supplies.push(Supply { count: r.count });
                    out.supply_names.push(r.id.clone());
                    out.supplies.len() - 1
                })
            });
        if let (Some(s), Some(r)) = (supply, &offering.reservation) {
            // Pools may report one reservation differently: the least counts.
            let units = &mut out.supplies[s].count;
            *units = (*units).min(r.count);
        }
        out.bins.push(Bin {
            capacity: capacity.into_iter().map(|c| c.clamp(0, UNLIMITED)).collect(),
            price: offering.price,
            domain: Vec::new(),
            limit_use,
            supply,
            buyable: true,
            in_bound: true,
        });
    }
    out
}

/// Adds a pool's limits; true if they are exceeded already, so that the pool
/// opens nothing.
fn limits_of(out: &mut Bins, pool: &crate::karpenter::nodepool::NodePool, places: &Places<'_>) -> bool {
    let mut closed = false;
    let resources = pool.limits.iter().map(|(r, max)| (r.to_owned(), max));
    for (resource, max) in resources.chain(pool.node_limit.map(|n| ("nodes".to_owned(), n))) {
        let mut left = max;
        let limit = out.limits.len();
        for (p, place) in places.0.iter().enumerate() {
            if place.leaving || place.pool() != Some(pool.name()) {
                continue;
            }
            let used = if resource == "nodes" { 1 } else { place.capacity.get(&resource) };
            left = left.saturating_sub(used);
            if used > 0 {
                out.place_use[p].push((limit, used.min(UNLIMITED)));
            }
        }
        if left < 0 {
            closed = true;
            out.exceeded.push((pool.name().to_owned(), resource.clone()));
        }
        out.limits.push(Limit { max: left.max(0) });
        out.limit_names.push((pool.name().to_owned(), resource));
    }
    closed
}
