//! Removing a node before its replacement exists, where nothing else would
//! make room. (spec 30 §§18 and 19)

use std::fmt;

use millwright_models::catalog::{CapacityType, PoolType, PoolTypes};
use millwright_models::karpenter::labels::{CAPACITY_TYPE, RESERVATION_ID, RESERVED};
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::meta::Labels;
use millwright_models::requirements::Requirements;

use crate::offered::offered;
use crate::static_pools::{Size, room};

/// Why a node goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Its own slot of a full reservation is what its successor needs.
    NoReservedCapacity,
    /// The pool has as many nodes as its limit allows.
    StaticAtLimit,
}

impl fmt::Display for First {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoReservedCapacity => "no-reserved-capacity",
            Self::StaticAtLimit => "static-at-limit",
        })
    }
}

/// The reservation that a node holds a slot of. The label alone, on a node of
/// another capacity type, is none.
pub fn held(labels: &Labels) -> Option<&str> {
    let reserved = labels.get(CAPACITY_TYPE).is_some_and(|c| c == RESERVED);
    labels.get(RESERVATION_ID).filter(|_| reserved).map(String::as_str)
}

/// The same types with one more free slot in a reservation that is offered;
/// none if it is not.
pub fn credited(types: &PoolTypes, reservation: &str) -> Option<PoolTypes> {
    let mut out = types.clone();
    let mut any = false;
    for offering in out.types.iter_mut().flat_map(|t| &mut t.offerings).filter(|o| o.available) {
        if let Some(held) = offering.reservation.as_mut().filter(|r| &*r.id == reservation) {
            held.count += 1;
            any = true;
        }
    }
    any.then_some(out)
}

/// Whether all that a pool's template could launch is reserved, and nothing
/// of it is left. Anything on the market, even what is out of stock, is more.
pub fn is_full(pool: &NodePool, types: &PoolTypes) -> bool {
    let Ok(mut template) = Requirements::from_expressions(&pool.template.requirements) else { return false };
    template.add_all(&Requirements::from_labels(&pool.template.labels));
    let offered = offered(&template, &types.types);
    !offered.is_empty() && offered.iter().all(|(_, o)| o.capacity_type == CapacityType::Reserved && !o.launchable())
}

/// Whether the node holds a slot of a reservation that is still offered.
pub fn is_holder(labels: &Labels, types: &PoolTypes) -> bool {
    let of = |t: &PoolType, id: &str| {
        t.offerings.iter().any(|o| o.available && o.reservation.as_ref().is_some_and(|r| &*r.id == id))
    };
    held(labels).is_some_and(|id| types.types.iter().any(|t| of(t, id)))
}

/// A static pool with nodes that drifted.
#[derive(Clone, Copy, Debug)]
pub struct StaticPool {
    pub size: Size,
    /// What the budgets leave for the reason.
    pub budget: u64,
    /// The feature gate of the method.
    pub gate: bool,
    /// Ready and not being deleted.
    pub ready: bool,
    /// [`is_full`]; none if the types are not known.
    pub full: Option<bool>,
}

/// What becomes of one node of a static pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It goes once a replacement from the template is there.
    Replace,
    TerminateFirst(First),
    Blocked(&'static str),
}

const FULL: &str = "the reservations of its NodePool are full";
const LIMIT: &str = "its NodePool is at its node limit";

/// What becomes of the nodes of a static pool, by their places in `holders`,
/// which says of each whether it holds a slot of a reservation still offered.
/// Nodes beyond the budget, or all of a pool that has too many, are left out.
pub fn static_turns(pool: StaticPool, holders: &[bool]) -> Vec<(usize, Turn)> {
    let size = pool.size;
    if pool.budget == 0 || size.active + size.pending_disruption > size.replicas {
        return Vec::new();
    }
    let want = usize::try_from(pool.budget).unwrap_or(usize::MAX).min(holders.len());
    let first = |reason, blocked, agrees: bool| {
        if pool.gate && pool.ready && agrees { Turn::TerminateFirst(reason) } else { Turn::Blocked(blocked) }
    };
    if pool.gate {
        match pool.full {
            None => return Vec::new(),
            Some(true) => {
                let mut order: Vec<usize> = (0..holders.len()).collect();
                order.sort_by_key(|i| !holders[*i]);
                let turn = |i: usize| (i, first(First::NoReservedCapacity, FULL, holders[i]));
                return order.into_iter().take(want).map(turn).collect();
            }
            Some(false) => {}
        }
    }
    match usize::try_from(room(size)).unwrap_or(usize::MAX).min(want) {
        0 => (0..want).map(|i| (i, first(First::StaticAtLimit, LIMIT, true))).collect(),
        granted => (0..granted).map(|i| (i, Turn::Replace)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size =
        Size { replicas: 10, limit: Some(12), active: 10, deleting: 0, pending_disruption: 0, reserved: 0 };
    const POOL: StaticPool = StaticPool { size: SIZE, budget: 5, gate: false, ready: true, full: Some(false) };

    #[test]
    fn dis_147_as_many_replacements_as_the_limit_leaves_room_for() {
        assert_eq!(static_turns(POOL, &[false; 5]), [(0, Turn::Replace), (1, Turn::Replace)]);
        let busy = Size { active: 8, pending_disruption: 2, reserved: 1, ..SIZE };
        assert_eq!(static_turns(StaticPool { size: busy, ..POOL }, &[false; 3]), [(0, Turn::Replace)]);
        let unlimited = StaticPool { size: Size { limit: None, ..SIZE }, budget: 3, ..POOL };
        assert_eq!(static_turns(unlimited, &[false; 5]).len(), 3, "the budget holds too");
    }

    #[test]
    fn dis_148_at_the_limit_nodes_go_first_where_the_gate_is_on() {
        let at = StaticPool { size: Size { limit: Some(10), ..SIZE }, budget: 2, ..POOL };
        let blocked = [(0, Turn::Blocked(LIMIT)), (1, Turn::Blocked(LIMIT))];
        assert_eq!(static_turns(at, &[false; 5]), blocked);
        let open = StaticPool { gate: true, ..at };
        let first = Turn::TerminateFirst(First::StaticAtLimit);
        assert_eq!(static_turns(open, &[false; 5]), [(0, first.clone()), (1, first)]);
        assert_eq!(static_turns(StaticPool { ready: false, ..open }, &[false; 5]), blocked);
        assert_eq!(First::StaticAtLimit.to_string(), "static-at-limit");
    }

    #[test]
    fn dis_149_a_pool_that_has_too_many_shrinks_first() {
        let size = Size { active: 10, pending_disruption: 1, ..SIZE };
        assert_eq!(static_turns(StaticPool { size, ..POOL }, &[false; 5]), []);
        assert_eq!(static_turns(StaticPool { budget: 0, ..POOL }, &[false; 5]), []);
    }

    #[test]
    fn dis_167_to_169_full_reservations_come_before_the_limit() {
        let full = StaticPool { gate: true, full: Some(true), budget: 3, ..POOL };
        let first = Turn::TerminateFirst(First::NoReservedCapacity);
        let turns = static_turns(full, &[false, true, false, true]);
        assert_eq!(turns, [(1, first.clone()), (3, first), (0, Turn::Blocked(FULL))], "holders first");
        let unready = static_turns(StaticPool { ready: false, ..full }, &[true]);
        assert_eq!(unready, [(0, Turn::Blocked(FULL))]);
        assert_eq!(static_turns(StaticPool { full: None, ..full }, &[true]), [], "types are not known");
        assert_eq!(static_turns(StaticPool { gate: false, ..full }, &[true]), [(0, Turn::Replace)]);
    }
}
