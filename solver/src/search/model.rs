//! What the packer works on: lanes of units that need the same room, slots
//! within a lane that host rules tell apart, offers to put them on.

use super::allot::Item;
use super::host::{Term, alone, terms};
use crate::arrival::{Index, Place};
use crate::instance::{Instance, Key, RuleKind};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Most dimensions a model has, virtual ones included.
pub const MOST_DIMS: usize = 8;

/// Units that need the same room in the same places.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Per dimension of the model.
    pub demand: Vec<i64>,
    /// Which [`Gate`] it passes.
    pub gate: usize,
    /// Slots, ascending.
    pub slots: Vec<u32>,
    /// Units in all slots.
    pub count: u32,
    /// Most units on one empty node.
    pub most: u32,
    /// 0 is served first.
    pub rank: usize,
    /// No slot has a host rule.
    pub plain: bool,
}

/// Units that are the same to the packer.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its lane.
    pub lane: u32,
    /// Units.
    pub count: u32,
    /// Host rules.
    pub terms: Vec<Term>,
    /// Positions in the items: (item, units).
    pub items: Vec<(usize, u32)>,
}

/// Places a lane may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    /// Over offers.
    pub offers: FixedBitSet,
    /// Over nodes.
    pub nodes: FixedBitSet,
}

/// A bin in the model.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The bin.
    pub bin: usize,
    /// Room per dimension of the model.
    pub room: Vec<i64>,
    /// Price.
    pub price: i64,
    /// Lanes it admits, ascending.
    pub lanes: Vec<u32>,
    /// Draws on limits, or on a supply.
    pub draws: bool,
    /// Must leave a variety.
    pub varied: bool,
}

/// A node with room.
#[derive(Clone, Debug)]
pub struct Spare {
    /// The node.
    pub node: usize,
    /// Room per dimension of the model.
    pub room: Vec<i64>,
    /// Lanes it admits, ascending.
    pub lanes: Vec<u32>,
}

/// A packing problem without rules across nodes.
#[derive(Clone, Debug)]
pub struct Model<'a> {
    /// What it is made from.
    pub instance: &'a Instance,
    /// Its index.
    pub index: &'a Index,
    /// Dimensions: those of the instance that anybody asks for, then one per
    /// clique.
    pub dims: usize,
    /// The instance's dimensions in use.
    pub real: Vec<usize>,
    /// Rules that count as a resource of their own: on a node at most `.1`
    /// pods of the group.
    pub cliques: Vec<(usize, u32)>,
    /// Lanes.
    pub lanes: Vec<Lane>,
    /// Slots.
    pub slots: Vec<Slot>,
    /// Offers, cheapest first.
    pub offers: Vec<Offer>,
    /// Nodes with room.
    pub spares: Vec<Spare>,
    /// Gates.
    pub gates: Vec<Gate>,
    /// What was allotted.
    pub items: Vec<Item>,
    /// Number of ranks.
    pub ranks: usize,
}

impl<'a> Model<'a> {
    /// Compiles items and bins.
    pub fn new(instance: &'a Instance, index: &'a Index, bins: &[usize], items: Vec<Item>) -> Self {
        let real: Vec<usize> = (0..instance.dims)
            .filter(|&d| items.iter().any(|i| i.parts.iter().any(|p| instance.shapes[p.0].demand[d] > 0)))
            .collect();
        let item_terms: Vec<Vec<Term>> = items.iter().map(|i| terms(instance, index, i)).collect();
        let cliques = cliques(instance, &items, &item_terms, MOST_DIMS.saturating_sub(real.len()).min(3));
        let mut order = bins.to_vec();
        order.sort_by(|&a, &b| {
            let key = |i: usize| (instance.bins[i].price, &instance.bins[i].domain, &instance.bins[i].capacity, i);
            key(a).cmp(&key(b))
        });
        let mut model = Model {
            instance,
            index,
            dims: real.len() + cliques.len(),
            real,
            cliques,
            lanes: Vec::new(),
            slots: Vec::new(),
            offers: Vec::new(),
            spares: Vec::new(),
            gates: Vec::new(),
            items,
            ranks: 1,
        };
        model.fill_lanes(&order, item_terms);
        model.fill_places(&order);
        model
    }

    fn fill_lanes(&mut self, order: &[usize], item_terms: Vec<Vec<Term>>) {
        let mut priorities: Vec<i32> = self.items.iter().map(|i| self.priority(i)).collect();
        let mut ranks = priorities.clone();
        ranks.sort_unstable_by(|a, b| b.cmp(a));
        ranks.dedup();
        self.ranks = ranks.len().max(1);
        priorities.iter_mut().for_each(|p| *p = ranks.iter().position(|r| r == p).unwrap_or(0) as i32);
        let gate_of_item = self.fill_gates(order);
        let mut lane_of: FxHashMap<(Vec<i64>, usize, i32, u32), usize> = FxHashMap::default();
        let mut slot_of: FxHashMap<(usize, Vec<Term>), usize> = FxHashMap::default();
        let demands: Vec<Vec<i64>> = (self.items.iter().zip(&item_terms)).map(|(i, t)| self.demand(i, t)).collect();
        // Lanes are numbered by what they are, whatever the order of shapes.
        let mut canonical: Vec<usize> = (0..self.items.len()).collect();
        canonical.sort_by(|&a, &b| {
            let gate = |i: usize| &self.gates[gate_of_item[i]];
            let key = |i: usize| (priorities[i], &demands[i], self.items[i].count, &item_terms[i]);
            let places = |i: usize| (gate(i).offers.as_slice(), gate(i).nodes.as_slice());
            key(a).cmp(&key(b)).then_with(|| places(a).cmp(&places(b))).then(a.cmp(&b))
        });
        for i in canonical {
            let (gate, terms) = (gate_of_item[i], &item_terms[i]);
            let demand = demands[i].clone();
            let most = alone(terms);
            let lane = *lane_of.entry((demand.clone(), gate, priorities[i], most)).or_insert_with(|| {
                self.lanes.push(Lane {
                    demand,
                    gate,
                    slots: Vec::new(),
                    count: 0,
                    most: 0,
                    rank: priorities[i] as usize,
                    plain: true,
                });
                self.lanes.len() - 1
            });
            let count = self.items[i].count;
            self.lanes[lane].count += count;
            self.lanes[lane].plain &= terms.is_empty();
            let slot = *slot_of.entry((lane, terms.clone())).or_insert_with(|| {
                self.slots.push(Slot { lane: lane as u32, count: 0, terms: terms.clone(), items: Vec::new() });
                self.lanes[lane].slots.push(self.slots.len() as u32 - 1);
                self.slots.len() - 1
            });
            self.slots[slot].count += count;
            self.slots[slot].items.push((i, count));
        }
        for lane in &mut self.lanes {
            let most = lane.slots.iter().map(|&s| u64::from(alone(&self.slots[s as usize].terms))).sum::<u64>();
            lane.most = u32::try_from(most).unwrap_or(u32::MAX);
        }
    }

    /// Resolves the gate of every item.
    fn fill_gates(&mut self, order: &[usize]) -> Vec<usize> {
        let mut gate_of: FxHashMap<GateKey, usize> = FxHashMap::default();
        let mut same: FxHashMap<Gate, usize> = FxHashMap::default();
        let mut of_item = Vec::with_capacity(self.items.len());
        for i in 0..self.items.len() {
            let key = self.gate_key(&self.items[i]);
            let gate = match gate_of.get(&key) {
                Some(&g) => g,
                None => {
                    let gate = self.gate(&key, order);
                    let g = *same.entry(gate.clone()).or_insert_with(|| {
                        self.gates.push(gate);
                        self.gates.len() - 1
                    });
                    gate_of.insert(key, g);
                    g
                }
            };
            of_item.push(gate);
        }
        of_item
    }

    fn fill_places(&mut self, order: &[usize]) {
        let admitted = |pass: &dyn Fn(&Gate) -> bool, room: &[i64], model: &Model| -> Vec<u32> {
            let open: Vec<bool> = model.gates.iter().map(pass).collect();
            (0..model.lanes.len())
                .filter(|&l| open[model.lanes[l].gate] && fits(&model.lanes[l].demand, room))
                .map(|l| l as u32)
                .collect()
        };
        // Room for more than all there is says nothing, and an unlimited one
        // would drown the rest in the prices of room.
        let total = self.total();
        let capped = |mut room: Vec<i64>| {
            room.iter_mut().zip(&total).for_each(|(r, &t)| *r = (*r).min(t));
            room
        };
        for (o, &bin) in order.iter().enumerate() {
            let b = &self.instance.bins[bin];
            let mut room: Vec<i64> = self.real.iter().map(|&d| b.capacity[d]).collect();
            room.extend(self.cliques.iter().map(|c| i64::from(c.1)));
            let room = capped(room);
            let lanes = admitted(&|g| g.offers.contains(o), &room, self);
            let draws = b.supply.is_some() || b.limit_use.iter().any(|l| l.1 > 0);
            let varied = !self.index.varieties[bin].is_empty();
            self.offers.push(Offer { bin, room, price: b.price, lanes, draws, varied });
        }
        let places = Place::existing(self.instance, self.index);
        for (n, place) in places.iter().enumerate() {
            let mut room: Vec<i64> = self.real.iter().map(|&d| place.room[d]).collect();
            room.extend(self.cliques.iter().map(|&(r, most)| {
                let here = place.host(r);
                if here.owners > 0 && most == 1 { 0 } else { i64::from(most.saturating_sub(here.selected)) }
            }));
            let room = capped(room);
            let lanes = admitted(&|g| g.nodes.contains(n), &room, self);
            if !lanes.is_empty() {
                self.spares.push(Spare { node: n, room, lanes });
            }
        }
    }

    /// What all pods ask for together, per dimension.
    pub fn total(&self) -> Vec<i64> {
        let mut total = vec![0_i64; self.dims];
        for lane in &self.lanes {
            for (t, &d) in total.iter_mut().zip(&lane.demand) {
                *t = t.saturating_add(d.saturating_mul(i64::from(lane.count)));
            }
        }
        total
    }

    fn priority(&self, item: &Item) -> i32 {
        item.parts.iter().map(|p| self.instance.shapes[p.0].priority).max().unwrap_or(0)
    }

    fn demand(&self, item: &Item, terms: &[Term]) -> Vec<i64> {
        let sum = |d: usize| item.parts.iter().map(|&(s, n)| self.instance.shapes[s].demand[d] * i64::from(n)).sum();
        let mut demand: Vec<i64> = self.real.iter().map(|&d| sum(d)).collect();
        demand.extend(
            self.cliques
                .iter()
                .map(|c| terms.iter().find(|t| t.rule as usize == c.0).map_or(0, |t| i64::from(t.selected))),
        );
        demand
    }

    fn gate_key(&self, item: &Item) -> GateKey {
        let mut admissions: Vec<usize> =
            item.parts.iter().map(|p| self.instance.shapes[p.0].tiers[item.tier].admission).collect();
        admissions.sort_unstable();
        admissions.dedup();
        let mut scoped = Vec::new();
        let mut company = Vec::new();
        for &(s, _) in &item.parts {
            for r in self.index.carried(self.instance, s, item.tier) {
                let rule = &self.instance.rules[r];
                match (&rule.kind, rule.key) {
                    (RuleKind::Spread(_), Key::Domain(_)) => scoped.push(r),
                    (RuleKind::Affinity, Key::Host) if !self.index.base[r].selected.is_empty() => company.push(r),
                    _ => {}
                }
            }
        }
        (admissions, item.cells.clone(), scoped, company)
    }

    /// Resolves where a gate leads. A spread counts only within its scope, so
    /// its carriers stay inside where they can.
    fn gate(&self, (admissions, cells, scoped, company): &GateKey, order: &[usize]) -> Gate {
        let all = |a: &dyn Fn(usize) -> bool| admissions.iter().all(|&x| a(x));
        let in_cells = |c: u32| cells.as_ref().is_none_or(|set| set.contains(c as usize));
        let mut offers = FixedBitSet::with_capacity(order.len());
        for (o, &b) in order.iter().enumerate() {
            let ok = company.is_empty()
                && in_cells(self.index.cells.of_bin[b])
                && all(&|a| self.instance.admissions[a].bins.contains(b));
            offers.set(o, ok);
        }
        let mut nodes = FixedBitSet::with_capacity(self.instance.nodes.len());
        for n in 0..self.instance.nodes.len() {
            let ok = in_cells(self.index.cells.of_node[n])
                && all(&|a| self.instance.admissions[a].nodes.contains(n))
                && company.iter().all(|&r| self.index.base[r].selected.binary_search_by_key(&n, |b| b.0).is_ok());
            nodes.set(n, ok);
        }
        for &r in scoped {
            let RuleKind::Spread(s) = &self.instance.rules[r].kind else { continue };
            let outside = |gate: &FixedBitSet, keep: &dyn Fn(usize) -> bool| {
                let mut inside = gate.clone();
                gate.ones().filter(|&i| !keep(i)).for_each(|i| inside.set(i, false));
                inside
            };
            let inside = (
                outside(&offers, &|o| s.scope.bins.contains(order[o])),
                outside(&nodes, &|n| s.scope.nodes.contains(n)),
            );
            if !inside.0.is_clear() || !inside.1.is_clear() {
                (offers, nodes) = inside;
            }
        }
        Gate { offers, nodes }
    }
}

/// (admissions, cells, spreads on domain keys, host affinities to what runs).
type GateKey = (Vec<usize>, Option<FixedBitSet>, Vec<usize>, Vec<usize>);

/// Whether a demand fits a room.
pub fn fits(demand: &[i64], room: &[i64]) -> bool {
    demand.iter().zip(room).all(|(d, r)| d <= r)
}

/// The largest groups of which a node takes only so many: all their pods are
/// carriers and counted alike.
fn cliques(instance: &Instance, items: &[Item], item_terms: &[Vec<Term>], most: usize) -> Vec<(usize, u32)> {
    let mut size: FxHashMap<usize, (u64, u32, bool)> = FxHashMap::default();
    for (item, terms) in items.iter().zip(item_terms) {
        for t in terms {
            let entry = size.entry(t.rule as usize).or_insert((0, t.most.unwrap_or(1), true));
            entry.0 += u64::from(item.count) * u64::from(t.selected);
            entry.2 &= t.owners == t.selected;
        }
    }
    let mut groups: Vec<(u64, usize, u32)> = (size.into_iter())
        .filter(|(_, s)| s.2 && s.0 > u64::from(s.1))
        .map(|(rule, (pods, cap, _))| (pods / u64::from(cap.max(1)), rule, cap))
        .collect();
    groups.sort_unstable_by(|a, b| {
        b.0.cmp(&a.0).then_with(|| instance.rules[a.1].owners.cmp(&instance.rules[b.1].owners))
    });
    groups.truncate(most);
    groups.into_iter().map(|(_, rule, cap)| (rule, cap)).collect()
}
