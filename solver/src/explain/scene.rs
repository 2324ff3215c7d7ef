//! A plan as an onlooker sees it who wants to add one pod.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;

use crate::instance::{Instance, Key};
use crate::plan::{Contents, Plan};

/// Where one more pod could go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// A node that exists and stays.
    Existing(usize),
    /// A node that the plan buys, by its position in [`Plan::bought`].
    Bought(usize),
    /// One more node, of this bin.
    Fresh(usize),
}

/// An instance and a plan for it, with every spot for one more pod.
pub struct Scene<'i> {
    pub instance: &'i Instance,
    pub plan: &'i Plan,
    /// Nodes that exist, then nodes that are bought, then bins.
    pub spots: Vec<Spot>,
    /// What each limit leaves.
    pub limits: Vec<i64>,
    /// What each supply leaves.
    pub supplies: Vec<i64>,
    planned: BTreeMap<usize, Contents>,
    free: Vec<Vec<i64>>,
}

impl<'i> Scene<'i> {
    pub fn new(instance: &'i Instance, plan: &'i Plan) -> Self {
        let mut scene = Self {
            instance,
            plan,
            spots: Vec::new(),
            limits: instance.limits.iter().map(|l| l.max).collect(),
            supplies: instance.supplies.iter().map(|s| i64::from(s.count)).collect(),
            planned: BTreeMap::new(),
            free: Vec::new(),
        };
        for &n in &plan.removed {
            scene.frees(n);
        }
        for (n, node) in instance.nodes.iter().enumerate() {
            if plan.removed.binary_search(&n).is_err() {
                let placed = plan.placed.iter().find(|(at, _)| *at == n).map_or(&[][..], |(_, c)| c);
                scene.add(Spot::Existing(n), &node.free, placed);
            }
        }
        for (at, node) in plan.bought.iter().enumerate() {
            let bin = &instance.bins[node.bin];
            scene.add(Spot::Bought(at), &bin.capacity, &node.contents);
            for &(l, amount) in &bin.limit_use {
                scene.limits[l] -= amount;
            }
            if let Some(s) = bin.supply {
                scene.supplies[s] -= 1;
            }
        }
        scene.spots.extend((0..instance.bins.len()).map(Spot::Fresh));
        scene
    }

    fn frees(&mut self, node: usize) {
        let node = &self.instance.nodes[node];
        for &(l, amount) in &node.limit_use {
            self.limits[l] += amount;
        }
        if let Some(s) = node.supply {
            self.supplies[s] += 1;
        }
    }

    fn add(&mut self, spot: Spot, room: &[i64], contents: &[(usize, u32)]) {
        let mut free = room.to_vec();
        for &(shape, n) in contents {
            for (have, need) in free.iter_mut().zip(&self.instance.shapes[shape].demand) {
                *have -= need * i64::from(n);
            }
        }
        self.free.push(free);
        self.planned.insert(self.spots.len(), contents.to_vec());
        self.spots.push(spot);
    }

    /// Room at a spot.
    pub fn free(&self, spot: usize) -> &[i64] {
        match self.spots[spot] {
            Spot::Fresh(bin) => &self.instance.bins[bin].capacity,
            _ => &self.free[spot],
        }
    }

    /// What the plan puts there.
    pub fn planned(&self, spot: usize) -> &[(usize, u32)] {
        self.planned.get(&spot).map_or(&[], Vec::as_slice)
    }

    /// The bin behind a spot, if it is one.
    pub fn bin(&self, spot: usize) -> Option<usize> {
        match self.spots[spot] {
            Spot::Existing(_) => None,
            Spot::Bought(at) => Some(self.plan.bought[at].bin),
            Spot::Fresh(bin) => Some(bin),
        }
    }

    /// The domain of a spot; every spot is its own host.
    pub(super) fn domain(&self, spot: usize, key: Key) -> Option<usize> {
        let k = match key {
            Key::Host => return Some(spot),
            Key::Domain(k) => k,
        };
        let domain = match self.spots[spot] {
            Spot::Existing(n) => self.instance.nodes[n].domain[k],
            Spot::Bought(at) => self.instance.bins[self.plan.bought[at].bin].domain[k],
            Spot::Fresh(bin) => self.instance.bins[bin].domain[k],
        };
        domain.map(|d| d as usize)
    }

    /// Spots that a plan may use: all but bins that it may not buy.
    pub fn usable(&self) -> FixedBitSet {
        let mut all = FixedBitSet::with_capacity(self.spots.len());
        for (i, spot) in self.spots.iter().enumerate() {
            all.set(i, !matches!(spot, Spot::Fresh(b) if !self.instance.bins[*b].buyable));
        }
        all
    }

    /// Spots that hold something or exist: all but those still to be bought.
    pub(super) fn standing(&self) -> usize {
        self.free.len()
    }
}
