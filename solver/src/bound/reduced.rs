//! The problem as the bound sees it: pods merged, bins pruned.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;

use super::joint;
use super::knapsack::{Columns, Guest, Room};
use super::split::{self, Split};
use crate::certificate::Rounding;
use crate::instance::{Admission, Instance, Key, RuleKind};

/// Pods of one shape in one tier: (shape, tier, count).
pub type Served = (usize, usize, u32);

/// Pods that the bound does not tell apart, in one domain if a rule splits
/// them.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Index into [`Reduced::families`].
    pub family: usize,
    /// Domain of the family's key.
    pub domain: Option<u32>,
}

/// Pods of one demand, admission and set of rules.
#[derive(Clone, Debug)]
pub(super) struct Family {
    pub demand: Vec<i64>,
    pub admission: usize,
    pub count: u64,
    pub joint: Option<usize>,
    /// Key and splits (indices) that act on it.
    pub key: Option<usize>,
    pub splits: Vec<usize>,
    /// Positions in `served`.
    pub members: Vec<usize>,
    /// Its items: one, or one per possible domain.
    pub items: Vec<usize>,
    needs: Vec<usize>,
}

/// Bins that admit the same items in the same numbers per node.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub items: FixedBitSet,
    /// Most pods per joint group on one node.
    joint: Vec<Option<u32>>,
}

/// A place in doubles.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// Bin or node of the instance.
    pub at: usize,
    pub kind: usize,
    pub capacity: Vec<f64>,
    /// The same, exact, per dimension in use.
    pub exact: Vec<i64>,
    pub guests: Vec<Guest>,
    pub groups: Vec<f64>,
    /// Dollars per hour.
    pub price: f64,
    /// What keeping a removable node keeps in place: (item, count).
    pub fixed: Vec<(usize, f64)>,
}

impl Spot {
    pub fn room(&self) -> Room<'_> {
        Room { capacity: &self.capacity, guests: &self.guests, groups: &self.groups }
    }
}

/// The reduced problem.
pub(super) struct Reduced {
    pub served: Vec<Served>,
    pub families: Vec<Family>,
    pub items: Vec<Item>,
    pub splits: Vec<Split>,
    pub kinds: Vec<Kind>,
    pub bins: Vec<Spot>,
    pub nodes: Vec<Spot>,
    /// Dimensions somebody asks for.
    pub dims: Vec<usize>,
    /// Dimensions that count whole units; they follow the others in columns
    /// and capacities.
    pub roundings: Vec<Rounding>,
    pub columns: Columns,
}

impl Reduced {
    pub fn new(instance: &Instance, served: &[Served]) -> Self {
        let served: Vec<Served> = served.iter().copied().filter(|s| s.2 > 0).collect();
        let joints = joint::rules(instance, &served);
        let (splits, split_of) = split::active(instance, &served);
        let families = families(instance, &served, &joints, &splits, &split_of);
        let mut reduced = Reduced {
            served,
            families,
            items: Vec::new(),
            splits,
            kinds: Vec::new(),
            bins: Vec::new(),
            nodes: Vec::new(),
            dims: Vec::new(),
            roundings: Vec::new(),
            columns: Columns { dims: 0, demand: Vec::new() },
        };
        reduced.dims = (0..instance.dims).filter(|&d| reduced.families.iter().any(|f| f.demand[d] > 0)).collect();
        reduced.items(instance);
        reduced.columns();
        reduced.places(instance, &joints);
        reduced
    }

    /// Counts whole units beside the dimensions.
    pub fn count_units(&mut self, instance: &Instance, roundings: Vec<Rounding>) {
        self.roundings = roundings;
        self.columns();
        let kept = self.dims.len();
        let units = |amounts: &[i64]| self.roundings.iter().map(|r| r.of(amounts) as f64).collect::<Vec<_>>();
        for spot in &mut self.bins {
            spot.capacity.truncate(kept);
            spot.capacity.extend(units(&instance.bins[spot.at].capacity));
        }
        for spot in &mut self.nodes {
            spot.capacity.truncate(kept);
            spot.capacity.extend(units(&instance.nodes[spot.at].free));
        }
    }

    fn columns(&mut self) {
        self.columns = Columns { dims: self.dims.len() + self.roundings.len(), demand: Vec::new() };
        for item in &self.items {
            let demand = &self.families[item.family].demand;
            self.columns.demand.extend(self.dims.iter().map(|&d| demand[d] as f64));
            self.columns.demand.extend(self.roundings.iter().map(|r| r.of(demand) as f64));
        }
    }

    /// How many pods an item may stand for.
    pub fn count(&self, item: usize) -> u64 {
        self.families[self.items[item].family].count
    }

    fn items(&mut self, instance: &Instance) {
        for f in 0..self.families.len() {
            let family = &self.families[f];
            let domains: Vec<Option<u32>> = match family.key {
                None => vec![None],
                Some(k) => {
                    let a = &instance.admissions[family.admission];
                    let mut seen = FixedBitSet::with_capacity(instance.domains[k] as usize);
                    a.bins.ones().filter_map(|b| instance.bins[b].domain[k]).for_each(|d| seen.insert(d as usize));
                    a.nodes.ones().filter_map(|n| instance.nodes[n].domain[k]).for_each(|d| seen.insert(d as usize));
                    seen.ones().map(|d| Some(d as u32)).collect()
                }
            };
            for domain in domains {
                self.families[f].items.push(self.items.len());
                self.items.push(Item { family: f, domain });
            }
        }
    }

    fn places(&mut self, instance: &Instance, joints: &joint::Joints) {
        // What decides which items a place admits, apart from its room.
        type Open = (Vec<bool>, Vec<Option<u32>>, Vec<Option<u32>>);
        let mut admissions: Vec<usize> = self.families.iter().map(|f| f.admission).collect();
        admissions.sort_unstable();
        admissions.dedup();
        let mut kinds: BTreeMap<Open, usize> = BTreeMap::new();
        let mut kind = |this: &mut Self, open: Vec<bool>, domain: &[Option<u32>], caps: Vec<Option<u32>>| {
            *kinds.entry((open, domain.to_vec(), caps)).or_insert_with_key(|(open, domain, joint)| {
                let mut items = FixedBitSet::with_capacity(this.items.len());
                for (i, item) in this.items.iter().enumerate() {
                    let f = &this.families[item.family];
                    let at = admissions.partition_point(|&a| a < f.admission);
                    let here = f.key.is_none_or(|k| domain[k] == item.domain);
                    let lands = f.needs.iter().all(|&k| domain[k].is_some());
                    items.set(i, open[at] && here && lands);
                }
                this.kinds.push(Kind { items, joint: joint.clone() });
                this.kinds.len() - 1
            })
        };
        let mut all: Vec<(usize, usize)> = Vec::new();
        for (b, bin) in instance.bins.iter().enumerate().filter(|(_, b)| b.in_bound) {
            let open: Vec<bool> = admissions.iter().map(|&a| instance.admissions[a].bins.contains(b)).collect();
            if open.contains(&true) {
                all.push((b, kind(self, open, &bin.domain, joints.on_bin())));
            }
        }
        let mut kept_nodes: Vec<(usize, usize)> = Vec::new();
        for (n, node) in instance.nodes.iter().enumerate() {
            let open: Vec<bool> = admissions.iter().map(|&a| instance.admissions[a].nodes.contains(n)).collect();
            if open.contains(&true) || node.removal.is_some() {
                kept_nodes.push((n, kind(self, open, &node.domain, joints.on_node(instance, n))));
            }
        }
        for (b, k) in self.undominated(instance, all) {
            let bin = &instance.bins[b];
            let spot = self.spot(b, k, &bin.capacity, bin.price as f64 / 1e6, Vec::new());
            self.bins.push(spot);
        }
        for (n, k) in kept_nodes {
            let node = &instance.nodes[n];
            let (price, fixed) = match &node.removal {
                None => (0.0, Vec::new()),
                Some(r) => ((node.price - r.charge) as f64 / 1e6, self.residents(&node.residents)),
            };
            let spot = self.spot(n, k, &node.free, price, fixed);
            self.nodes.push(spot);
        }
    }

    /// Items that stand for residents.
    fn residents(&self, residents: &[(usize, u32)]) -> Vec<(usize, f64)> {
        let mut out = Vec::new();
        for &(s, c) in residents {
            let family = self.families.iter().find(|f| f.members.iter().any(|&m| self.served[m].0 == s));
            if let Some(&item) = family.and_then(|f| f.items.first()) {
                out.push((item, f64::from(c)));
            }
        }
        out
    }

    fn spot(&self, at: usize, kind: usize, room: &[i64], price: f64, fixed: Vec<(usize, f64)>) -> Spot {
        let exact: Vec<i64> = self.dims.iter().map(|&d| room[d]).collect();
        let mut spot = Spot {
            at,
            kind,
            capacity: exact.iter().map(|&c| c as f64).collect(),
            exact,
            guests: Vec::new(),
            groups: Vec::new(),
            price,
            fixed,
        };
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for i in self.kinds[kind].items.ones() {
            let f = &self.families[self.items[i].family];
            let fits = self.dims.iter().filter(|&&d| f.demand[d] > 0).map(|&d| room[d] / f.demand[d]).min();
            let most = fits.map_or(f.count, |n| (n.max(0) as u64).min(f.count));
            if most > 0 {
                if let Some(j) = f.joint.filter(|&j| self.kinds[kind].joint[j].is_some()) {
                    members.entry(j).or_default().push(spot.guests.len());
                }
                spot.guests.push(Guest { item: i, most: most as f64, group: None });
            }
        }
        for (j, guests) in members {
            let cap = f64::from(self.kinds[kind].joint[j].unwrap_or(u32::MAX));
            if guests.len() > 1 && cap > 0.0 {
                guests.iter().for_each(|&g| spot.guests[g].group = Some(spot.groups.len()));
                spot.groups.push(cap);
            }
            for g in guests {
                spot.guests[g].most = spot.guests[g].most.min(cap);
            }
        }
        spot.guests.retain(|g| g.most > 0.0);
        spot
    }

    /// Bins that no other bin beats in everything that counts here.
    fn undominated(&self, instance: &Instance, mut all: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        all.sort_by_key(|&(b, _)| (instance.bins[b].price, b));
        let kinds = self.kinds.len();
        let mut covers: Vec<Option<bool>> = vec![None; kinds * kinds];
        let mut kept: Vec<(usize, usize)> = Vec::new();
        for (b, k) in all {
            let bin = &instance.bins[b];
            let beaten = kept.iter().any(|&(o, ok)| {
                let other = &instance.bins[o];
                let more = self.dims.iter().all(|&d| other.capacity[d] >= bin.capacity[d]);
                more && other.limit_use.iter().all(|&(l, a)| bin.limit_use.iter().any(|&(x, y)| x == l && y >= a))
                    && other.supply.is_none_or(|s| bin.supply == Some(s))
                    && *covers[ok * kinds + k].get_or_insert_with(|| {
                        self.kinds[k].items.is_subset(&self.kinds[ok].items)
                            && self.kinds[ok].joint == self.kinds[k].joint
                    })
            });
            if !beaten {
                kept.push((b, k));
            }
        }
        kept.sort_unstable();
        kept
    }
}

fn families(
    instance: &Instance,
    served: &[Served],
    joints: &joint::Joints,
    splits: &[Split],
    split_of: &[Vec<usize>],
) -> Vec<Family> {
    type Like<'a> = (&'a [i64], usize, Option<usize>, &'a [usize], Vec<usize>);
    let mut map: BTreeMap<Like, Family> = BTreeMap::new();
    let mut bare: Vec<Option<Admission>> = vec![None; instance.keys];
    for (at, &(s, t, count)) in served.iter().enumerate() {
        let shape = &instance.shapes[s];
        let tier = &shape.tiers[t];
        let mut needs: Vec<usize> = Vec::new();
        for (r, rule) in instance.rules.iter().enumerate() {
            if let Key::Domain(k) = rule.key
                && !matches!(rule.kind, RuleKind::Anti)
                && rule.owned_by(s)
                && tier.waived.binary_search(&r).is_err()
                && !needs.contains(&k)
                && meets(&instance.admissions[tier.admission], bare[k].get_or_insert_with(|| bare_places(instance, k)))
            {
                needs.push(k);
            }
        }
        needs.sort_unstable();
        let like: Like = (&shape.demand, tier.admission, joints.of[at], &split_of[at], needs.clone());
        let family = map.entry(like).or_insert_with(|| Family {
            demand: shape.demand.clone(),
            admission: tier.admission,
            count: 0,
            joint: joints.of[at],
            key: split_of[at].first().map(|&p| splits[p].key),
            splits: split_of[at].clone(),
            members: Vec::new(),
            items: Vec::new(),
            needs,
        });
        family.count += u64::from(count);
        family.members.push(at);
    }
    map.into_values().collect()
}

/// Places without a domain for a key: whoever needs one must keep off.
fn bare_places(instance: &Instance, key: usize) -> Admission {
    let mut bins = FixedBitSet::with_capacity(instance.bins.len());
    let bare = instance.bins.iter().enumerate().filter(|b| b.1.domain[key].is_none());
    bare.for_each(|(b, _)| bins.insert(b));
    let mut nodes = FixedBitSet::with_capacity(instance.nodes.len());
    let bare = instance.nodes.iter().enumerate().filter(|n| n.1.domain[key].is_none());
    bare.for_each(|(n, _)| nodes.insert(n));
    Admission { bins, nodes }
}

/// Whether some place is in both.
fn meets(a: &Admission, b: &Admission) -> bool {
    !a.bins.is_disjoint(&b.bins) || !a.nodes.is_disjoint(&b.nodes)
}
