//! What became of planned placements, counted when a hold ends.

use std::collections::BTreeMap;

use super::berths::Berth;
use super::matching::Taker;
use crate::control::desk::Desk;
use crate::control::view::View;

/// The share of `as planned` is the measure of landing.
const NAME: &str = "placements_total";

/// What became of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// The pod that was planned is there.
    AsPlanned,
    /// A successor of it is there.
    Successor,
    /// It is there, and the kubelet has refused it.
    Failed,
    /// It waits still: it did not fit, or its turn did not come.
    Waiting,
    /// It runs elsewhere.
    Elsewhere,
    /// It is gone.
    Vanished,
    /// It was never ours to place.
    Left,
}

impl Fate {
    fn label(self) -> &'static str {
        match self {
            Self::AsPlanned => "as_planned",
            Self::Successor => "successor",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
            Self::Elsewhere => "elsewhere",
            Self::Vanished => "vanished",
            Self::Left => "left",
        }
    }
}

/// Fates of the slots of a berth, counted.
pub fn fates(view: &View<'_>, berth: &Berth, takers: &[Taker]) -> BTreeMap<Fate, u64> {
    let mut fates = BTreeMap::new();
    for (slot, taker) in berth.slots.all.iter().zip(takers) {
        let planned =
            slot.pod.as_ref().and_then(|(name, uid)| view.world.pod(&slot.namespace, name).filter(|p| p.uid == *uid));
        let fate = match taker {
            _ if slot.left => Fate::Left,
            Taker::Here(p) if view.world.pods[*p].is_terminal() => Fate::Failed,
            Taker::Here(p) if slot.pod.as_ref().is_none_or(|(_, uid)| *uid == view.world.pods[*p].uid) => {
                Fate::AsPlanned
            }
            Taker::Here(_) => Fate::Successor,
            Taker::Coming(_) => Fate::Waiting,
            Taker::Elsewhere(_) => Fate::Elsewhere,
            Taker::Expected | Taker::Nobody if planned.is_some_and(|p| p.node_name.is_some()) => Fate::Elsewhere,
            Taker::Expected | Taker::Nobody => Fate::Vanished,
        };
        *fates.entry(fate).or_default() += 1;
    }
    fates
}

/// Tells them.
pub fn tell(fates: &BTreeMap<Fate, u64>, desk: &mut Desk) {
    for (fate, count) in fates {
        for _ in 0..*count {
            desk.count(NAME, &[("outcome", fate.label())]);
        }
    }
}
