//! Reserved capacity within a pass (spec 20 §9).

use std::collections::BTreeSet;

use super::bits::Bits;
use super::template::Class;

/// Number of a reservation.
pub(super) type ReservationId = usize;

/// What is left of each reservation.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    names: Vec<String>,
    left: Vec<u32>,
}

/// Why a pod waits for a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferred;

impl Reservations {
    /// The reservation called `name`; the smallest size reported counts.
    pub fn report(&mut self, name: &str, size: u32) -> ReservationId {
        match self.names.iter().position(|n| n == name) {
            Some(id) => {
                self.left[id] = self.left[id].min(size);
                id
            }
            None => {
                self.names.push(name.to_owned());
                self.left.push(size);
                self.names.len() - 1
            }
        }
    }

    pub fn name(&self, id: ReservationId) -> &str {
        &self.names[id]
    }

    /// The reservations that a claim over `types` would hold.
    pub fn wanted(
        &self,
        class: &Class,
        types: &Bits,
        held: &BTreeSet<ReservationId>,
        strict: bool,
    ) -> Result<BTreeSet<ReservationId>, Deferred> {
        let live: BTreeSet<_> = class.live.iter().filter(|(t, _)| types.get(*t)).map(|(_, id)| *id).collect();
        let fallback = class.fallback.iter().any(|t| types.get(t));
        if live.is_empty() {
            // Only full reservations are left: wait for a slot.
            let waits = !fallback || (strict && !held.is_empty());
            return if waits { Err(Deferred) } else { Ok(live) };
        }
        let reservable: BTreeSet<_> = live.into_iter().filter(|id| held.contains(id) || self.left[*id] > 0).collect();
        if reservable.is_empty() && strict { Err(Deferred) } else { Ok(reservable) }
    }

    /// Exchanges what a claim holds.
    pub fn exchange(&mut self, held: &mut BTreeSet<ReservationId>, wanted: BTreeSet<ReservationId>) {
        for id in held.difference(&wanted) {
            self.left[*id] += 1;
        }
        for id in wanted.difference(held) {
            self.left[*id] = self.left[*id].saturating_sub(1);
        }
        *held = wanted;
    }
}
