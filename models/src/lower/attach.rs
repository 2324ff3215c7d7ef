//! Room for volumes. A node attaches a volume once, however many of its pods
//! use it; room, on the other hand, is counted pod by pod.
//!
//! Exact wherever all claims of the pods to place fit a node beside what it
//! has attached: there is no limit to speak of. Exact, too, for claims that one
//! pod alone uses. Where neither holds, a claim that several pods use is
//! *reserved*: each node keeps room for it, and its pods take none. A node that
//! has no room to keep takes only pods whose claims it has attached. Never does
//! a node so attach more than its limit.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use millwright_solver::instance::UNLIMITED;
use rustc_hash::FxHashMap;

use super::nodes::Places;
use super::offers::Offers;
use super::tiers::Reach;
use super::volumes::{Claim, Claims, EBS, Storage, VolumeNeeds};
use crate::karpenter::labels;
use crate::world::World;

/// Who attaches what.
pub struct Attach<'a, 'w> {
    storage: &'a Storage<'w>,
    offers: &'a Offers<'w>,
    places: &'a Places<'w>,
    /// Claims of the pods to place.
    all: Claims,
    reserved: Claims,
    /// Claims that each place has attached.
    attached: Vec<Claims>,
    /// EBS volumes that a type takes, by its name.
    of_type: BTreeMap<&'a str, u32>,
}

/// What one node has for one driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    /// Claims that are not reserved.
    room: i64,
    /// Whether reserved claims may come.
    open: bool,
}

impl<'a, 'w> Attach<'a, 'w> {
    /// `chosen` are the pods to place (positions in `World::pods`).
    pub fn new(
        world: &'w World,
        offers: &'a Offers<'w>,
        places: &'a Places<'w>,
        storage: &'a Storage<'w>,
        chosen: &[usize],
    ) -> Self {
        let with_volumes = |p: &usize| !world.pods[*p].spec.volumes.is_empty();
        let claims = |pods: &[usize]| storage.claims(pods.iter().filter(|p| with_volumes(p)).map(|p| &world.pods[*p]));
        let all = claims(chosen);
        let staying = places.0.iter().map(|p| if p.leaving { &[][..] } else { &p.running[..] });
        let attached: Vec<Claims> = staying.clone().map(claims).collect();
        let types = offers.pools.iter().flat_map(|p| &p.types.types);
        let of_type = types.filter_map(|t| Some((&*t.name, t.volume_attachments?))).collect();
        let mut out = Self { storage, offers, places, all, reserved: Claims::new(), attached, of_type };
        if !out.all.is_empty() {
            let users: BTreeSet<usize> = staying.flatten().chain(chosen).copied().filter(with_volumes).collect();
            out.reserved = out.reserve(world, &users);
        }
        out
    }

    /// Claims of the pods to place that several pods use, driver by driver:
    /// all or, where they would fill half of some type, none.
    fn reserve(&self, world: &World, users: &BTreeSet<usize>) -> Claims {
        let mut uses: FxHashMap<(String, Claim), u32> = FxHashMap::default();
        for &p in users {
            for (driver, claims) in self.storage.claims(std::iter::once(&world.pods[p])) {
                for claim in claims {
                    *uses.entry((driver.clone(), claim)).or_default() += 1;
                }
            }
        }
        let mut out = Claims::new();
        for (driver, claims) in &self.all {
            let shared = |c: &&Claim| uses.get(&(driver.clone(), (*c).clone())).is_some_and(|n| *n > 1);
            let shared: BTreeSet<Claim> = claims.iter().filter(shared).cloned().collect();
            let least = self.of_type.values().filter(|_| driver == EBS).filter(|n| claims.len() > **n as usize).min();
            if !shared.is_empty() && least.is_none_or(|n| 2 * shared.len() <= *n as usize) {
                out.insert(driver.clone(), shared);
            }
        }
        out
    }

    /// What the pod's volumes need.
    pub fn needs(&self, pod: &crate::kube::pod::Pod) -> VolumeNeeds {
        self.storage.needs(pod, &self.reserved)
    }

    /// Room for claims of a driver on a new node of a type that takes
    /// `limit` EBS volumes.
    pub fn row_room(&self, driver: &str, limit: Option<u32>) -> i64 {
        self.row_slot(driver, limit).room
    }

    /// Room for claims of a driver on a place.
    pub fn place_room(&self, place: usize, driver: &str) -> i64 {
        self.place_slot(place, driver).room
    }

    /// Rows and places that may take a pod with these reserved claims.
    pub fn open_to(&self, claims: &Claims) -> Reach {
        let mut rows = FixedBitSet::with_capacity(self.offers.rows.len());
        for (i, row) in self.offers.rows.iter().enumerate() {
            let limit = self.offers.ptype(row).volume_attachments;
            rows.set(i, claims.keys().all(|driver| self.row_slot(driver, limit).open));
        }
        let mut places = FixedBitSet::with_capacity(self.attached.len());
        for (i, attached) in self.attached.iter().enumerate() {
            let has = |driver: &String, claims: &BTreeSet<Claim>| {
                attached.get(driver).is_some_and(|a| claims.is_subset(a)) || self.place_slot(i, driver).open
            };
            places.set(i, claims.iter().all(|(driver, claims)| has(driver, claims)));
        }
        Reach { rows, places }
    }

    fn row_slot(&self, driver: &str, limit: Option<u32>) -> Slot {
        self.slot(driver, limit.filter(|_| driver == EBS), &BTreeSet::new())
    }

    fn place_slot(&self, index: usize, driver: &str) -> Slot {
        let place = &self.places.0[index];
        let of_type = || {
            let name = place.labels.get(labels::INSTANCE_TYPE).filter(|_| driver == EBS)?;
            self.of_type.get(name.as_str()).copied()
        };
        let limit = self.storage.limit(place.name, driver).unwrap_or_else(of_type);
        let nothing = BTreeSet::new();
        self.slot(driver, limit, self.attached[index].get(driver).unwrap_or(&nothing))
    }

    fn slot(&self, driver: &str, limit: Option<u32>, attached: &BTreeSet<Claim>) -> Slot {
        let fresh = |claims: &Claims| claims.get(driver).map_or(0, |c| c.difference(attached).count());
        let Some(limit) = limit.map(|n| n as usize) else { return Slot { room: UNLIMITED, open: true } };
        if attached.len() + fresh(&self.all) <= limit {
            return Slot { room: UNLIMITED, open: true };
        }
        let left = limit.saturating_sub(attached.len());
        let kept = fresh(&self.reserved);
        let open = kept <= left;
        Slot { room: (if open { left - kept } else { left }) as i64, open }
    }
}
