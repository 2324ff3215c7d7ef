//! Which pod is in which slot, or comes to it.
//!
//! By uid first, then by name (a StatefulSet makes its pod anew under the same
//! one), then by owner, then by shape. It is worked out anew in every look, so
//! nothing has to be remembered.

use std::collections::BTreeMap;

use millwright_models::kube::pod::Pod;
use millwright_models::world::World;
use rustc_hash::FxHashMap;

use super::berths::Berth;
use crate::control::slots::{Slot, shape};

/// Who a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taker {
    /// This pod is bound here (positions in `World::pods`).
    Here(usize),
    /// This pod waits and is to be bound here.
    Coming(usize),
    /// This pod runs elsewhere and has to be evicted there.
    Elsewhere(usize),
    /// The pod that was moved is gone, its successor has not come.
    Expected,
    Nobody,
}

/// Takers of all slots, and the slots of pods.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    /// In the order of the berths and their slots.
    pub takers: Vec<Vec<Taker>>,
    /// Berth and slot of each pod that comes or is to come.
    pub of_pod: BTreeMap<usize, (usize, usize)>,
}

/// A pod that could take a place now.
pub fn is_waiting(pod: &Pod) -> bool {
    pod.is_pending()
}

/// Matches the pods of a world with the slots of `berths`. `lost` tells pods
/// that were refused a slot and take none.
pub fn matched(world: &World, berths: &[Berth], lost: impl Fn(&Pod) -> bool) -> Matching {
    let mut all = Matching {
        takers: berths.iter().map(|b| vec![Taker::Nobody; b.slots.all.len()]).collect(),
        of_pod: BTreeMap::new(),
    };
    if berths.is_empty() {
        return all;
    }
    let mut free = Free::new(berths);
    let named: BTreeMap<&str, usize> = berths.iter().enumerate().map(|(b, berth)| (berth.name.as_str(), b)).collect();
    let home = |pod: &Pod| pod.node_name.as_deref().and_then(|n| named.get(n)).copied();
    let plain = |pod: &&Pod| !pod.is_daemon() && !pod.is_static;
    let pods = || world.pods.iter().enumerate().filter(|(_, p)| plain(p));
    let mut taken = vec![false; world.pods.len()];
    for (p, pod) in pods() {
        let Some(&(b, s)) = free.uids.get(pod.uid.as_str()) else { continue };
        let slot = &berths[b].slots.all[s];
        let taker = if home(pod) == Some(b) {
            Taker::Here(p)
        } else if is_waiting(pod) && !lost(pod) {
            Taker::Coming(p)
        } else if slot.moved && stays(pod) {
            Taker::Elsewhere(p)
        } else {
            continue;
        };
        free.take(b, s);
        taken[p] = true;
        all.put(b, s, taker);
    }
    for (p, pod) in pods().filter(|(_, p)| p.owner.as_ref().is_some_and(|o| o.kind == "StatefulSet")) {
        let Some(&(b, s)) = free.names.get(&(pod.namespace.as_str(), pod.name.as_str())) else { continue };
        if taken[p] || !free.open(b, s) {
            continue;
        }
        let taker = match () {
            () if home(pod) == Some(b) => Taker::Here(p),
            () if is_waiting(pod) && !lost(pod) => Taker::Coming(p),
            () => continue,
        };
        free.take(b, s);
        taken[p] = true;
        all.put(b, s, taker);
    }
    let came = |p: usize, pod: &Pod| {
        let b = home(pod).filter(|_| !taken[p])?;
        let recent = berths[b].slots.since.is_none_or(|since| pod.created.is_some_and(|c| c > since));
        recent.then_some(b)
    };
    let arrived: Vec<(usize, &Pod, usize)> = pods().filter_map(|(p, pod)| Some((p, pod, came(p, pod)?))).collect();
    for by_owner in [true, false] {
        for (p, pod, b) in &arrived {
            if taken[*p] {
                continue;
            }
            if let Some(s) = free.alike(pod, Some(*b), by_owner).map(|(_, s)| s) {
                free.take(*b, s);
                taken[*p] = true;
                all.put(*b, s, Taker::Here(*p));
            }
        }
    }
    for by_owner in [true, false] {
        for (p, pod) in pods().filter(|(_, p)| is_waiting(p) && !lost(p)) {
            if taken[p] {
                continue;
            }
            if let Some((b, s)) = free.alike(pod, None, by_owner) {
                free.take(b, s);
                taken[p] = true;
                all.put(b, s, Taker::Coming(p));
            }
        }
    }
    for (b, berth) in berths.iter().enumerate() {
        for (s, slot) in berth.slots.all.iter().enumerate() {
            if slot.moved && all.takers[b][s] == Taker::Nobody {
                all.takers[b][s] = Taker::Expected;
            }
        }
    }
    all
}

/// Whether a bound pod will still be where it is: one that ends will be
/// followed by another, at once or, in a StatefulSet, once it is gone.
fn stays(pod: &Pod) -> bool {
    let stateful = pod.owner.as_ref().is_some_and(|o| o.kind == "StatefulSet");
    !pod.is_terminal() && (pod.deleted.is_none() || stateful)
}

impl Matching {
    fn put(&mut self, b: usize, s: usize, taker: Taker) {
        self.takers[b][s] = taker;
        if let Taker::Coming(p) | Taker::Elsewhere(p) = taker {
            self.of_pod.insert(p, (b, s));
        }
    }
}

/// Slots that nobody has yet.
struct Free<'b> {
    uids: BTreeMap<&'b str, (usize, usize)>,
    names: BTreeMap<(&'b str, &'b str), (usize, usize)>,
    /// By namespace and owner's uid, and by namespace and shape; last first.
    owners: FxHashMap<String, Vec<(usize, usize)>>,
    shapes: FxHashMap<String, Vec<(usize, usize)>>,
    open: Vec<Vec<bool>>,
}

impl<'b> Free<'b> {
    fn new(berths: &'b [Berth]) -> Self {
        let mut free = Self {
            uids: BTreeMap::new(),
            names: BTreeMap::new(),
            owners: FxHashMap::default(),
            shapes: FxHashMap::default(),
            open: berths.iter().map(|b| vec![true; b.slots.all.len()]).collect(),
        };
        for (b, berth) in berths.iter().enumerate().rev() {
            for (s, slot) in berth.slots.all.iter().enumerate().rev() {
                free.enter(slot, b, s);
            }
        }
        free
    }

    fn enter(&mut self, slot: &'b Slot, b: usize, s: usize) {
        let namespace = slot.namespace.as_str();
        if let Some(uid) = slot.uid() {
            self.uids.insert(uid, (b, s));
        }
        if let Some((name, _)) = &slot.pod {
            self.names.insert((namespace, name), (b, s));
        }
        if let Some(owner) = &slot.owner {
            self.owners.entry(key(namespace, &owner.uid)).or_default().push((b, s));
        }
        self.shapes.entry(key(namespace, &slot.shape)).or_default().push((b, s));
    }

    fn open(&self, b: usize, s: usize) -> bool {
        self.open[b][s]
    }

    fn take(&mut self, b: usize, s: usize) {
        self.open[b][s] = false;
    }

    /// An open slot of the same owner or shape, of one berth or of any.
    fn alike(&mut self, pod: &Pod, at: Option<usize>, by_owner: bool) -> Option<(usize, usize)> {
        let namespace = pod.namespace.as_str();
        let list = if by_owner {
            let owner = pod.owner.as_ref()?;
            self.owners.get_mut(&key(namespace, &owner.uid))?
        } else {
            if self.shapes.is_empty() {
                return None;
            }
            self.shapes.get_mut(&key(namespace, &shape(pod)))?
        };
        let open = &self.open;
        list.retain(|(b, s)| open[*b][*s]);
        list.iter().rev().find(|(b, _)| at.is_none_or(|at| at == *b)).copied()
    }
}

fn key(namespace: &str, of: &str) -> String {
    format!("{namespace}/{of}")
}
