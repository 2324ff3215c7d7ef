//! Cells that sell the same for the same money are one cell to the packer:
//! which node goes to which of them is settled after packing.

use super::greedy::{Greedy, Guide};
use super::host::alone;
use super::model::{Gate, Lane, Model, Offer, Slot, fits};
use super::solution::{Bought, Open, Solution};
use super::{budget::Budget, downsize};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// A cell must be able to take this share of what an even division would give
/// it of each lane, else packing would mix what cannot share a node.
const EVEN: f64 = 0.8;

/// A model with like cells made one, and the way back.
#[derive(Clone, Debug)]
pub struct Fold<'a> {
    /// What is packed.
    pub model: Model<'a>,
    /// Per lane: those it stands for, the least choosy last.
    lanes: Vec<Vec<u32>>,
    /// Per offer: those it stands for.
    twins: Vec<Vec<u32>>,
}

impl<'a> Fold<'a> {
    /// Folds `full`, if that makes it much smaller and every lane can divide
    /// about evenly among the cells.
    pub fn new(full: &Model<'a>) -> Option<Self> {
        let simple = full.spares.is_empty() && full.ranks == 1;
        if !simple || full.offers.iter().any(|o| o.draws || o.varied) {
            return None;
        }
        let twins = twins(full);
        if twins.len() == full.offers.len() {
            return None;
        }
        let mut gates: Vec<Gate> = Vec::new();
        let mut same: FxHashMap<FixedBitSet, usize> = FxHashMap::default();
        let gate_of: Vec<usize> = (full.gates.iter())
            .map(|gate| {
                let mut offers = FixedBitSet::with_capacity(twins.len());
                for (f, twins) in twins.iter().enumerate() {
                    offers.set(f, twins.iter().any(|&t| gate.offers.contains(t as usize)));
                }
                *same.entry(offers.clone()).or_insert_with(|| {
                    gates.push(Gate { offers, nodes: gate.nodes.clone() });
                    gates.len() - 1
                })
            })
            .collect();
        let mut at: FxHashMap<(&[i64], usize, u32), usize> = FxHashMap::default();
        let mut lanes: Vec<Vec<u32>> = Vec::new();
        for (l, lane) in full.lanes.iter().enumerate() {
            let most = lane.slots.first().map_or(u32::MAX, |&s| alone(&full.slots[s as usize].terms));
            let next = lanes.len();
            let f = *at.entry((&lane.demand, gate_of[lane.gate], most)).or_insert(next);
            if f == next {
                lanes.push(Vec::new());
            }
            lanes[f].push(l as u32);
        }
        if lanes.len() * 10 > full.lanes.len() * 7 || !even(full, &lanes, &gates, &gate_of, &twins) {
            return None;
        }
        let width = |l: &u32| full.gates[full.lanes[*l as usize].gate].offers.count_ones(..);
        lanes.iter_mut().for_each(|f| f.sort_by_key(|l| (width(l), *l)));
        let model = folded(full, &lanes, gates, &gate_of, &twins);
        Some(Fold { model, lanes, twins })
    }

    /// A packing of `full` like `packed`; what the rules turn away goes
    /// wherever there is room, or onto more nodes. `value` is per lane of the
    /// folded model.
    pub fn unfold(&self, full: &Model<'a>, packed: &Solution, value: &[f64]) -> Option<Solution> {
        let mut slot: Vec<u32> = full.slots.iter().map(|s| s.count).collect();
        let mut lane: Vec<u32> = full.lanes.iter().map(|l| l.count).collect();
        let mut nodes: Vec<(u32, Open)> = Vec::new();
        for bought in &packed.bought {
            for _ in 0..bought.copies {
                let twin = self.twin(full, bought, &lane, value);
                let mut open = Open::new(&full.offers[twin as usize].room, Vec::new());
                for &(f, n) in &bought.contents {
                    let mut want = n;
                    for &l in &self.lanes[f as usize] {
                        if want > 0 && admits(full, l, twin) {
                            let put = open.put_lane(full, l, want.min(lane[l as usize]), &mut slot);
                            lane[l as usize] -= put;
                            want -= put;
                        }
                    }
                }
                nodes.push((twin, open));
            }
        }
        let worth = self.spread(full, value);
        let mut rest: Vec<u32> = (0..full.lanes.len() as u32).filter(|&l| lane[l as usize] > 0).collect();
        rest.sort_by(|&a, &b| worth[b as usize].total_cmp(&worth[a as usize]).then(a.cmp(&b)));
        for (twin, open) in &mut nodes {
            for &l in &rest {
                if lane[l as usize] > 0 && fits(&full.lanes[l as usize].demand, &open.room) && admits(full, l, *twin) {
                    let put = open.put_lane(full, l, lane[l as usize], &mut slot);
                    lane[l as usize] -= put;
                }
            }
        }
        let mut used: Vec<u32> = packed.bought.iter().flat_map(|b| self.twins[b.offer as usize].clone()).collect();
        used.sort_unstable();
        used.dedup();
        let mut budget = Budget::new(full.instance);
        let mut out = Solution::default();
        if lane.iter().any(|&n| n > 0) {
            let guide = Guide {
                value: &worth,
                offers: &used,
                scarce: false,
                haste: 0.05,
                spares: true,
                rush: true,
                stop: &|| false,
            };
            out = Greedy::default().run(full, &slot, &mut budget, &guide)?;
        } else {
            out.left = slot;
        }
        let kept = nodes.into_iter().filter(|n| !n.1.contents.is_empty());
        out.bought.extend(kept.map(|(offer, open)| Bought { offer, copies: 1, contents: open.contents }));
        downsize(full, &mut out, &mut budget);
        Some(out)
    }

    /// Values per lane of `full` from those of the folded model.
    pub fn spread(&self, full: &Model, value: &[f64]) -> Vec<f64> {
        let mut worth = vec![0.0; full.lanes.len()];
        for (f, lanes) in self.lanes.iter().enumerate() {
            lanes.iter().for_each(|&l| worth[l as usize] = value[f]);
        }
        worth
    }

    /// The offer that can take the contents, preferring pods that have the
    /// least choice.
    fn twin(&self, full: &Model, bought: &Bought, lane: &[u32], value: &[f64]) -> u32 {
        let mut best: Option<(f64, f64, u32)> = None;
        for &t in &self.twins[bought.offer as usize] {
            let (mut short, mut tight) = (0.0, 0.0);
            for &(f, n) in &bought.contents {
                let lanes = &self.lanes[f as usize];
                let (mut have, mut bound) = (0, 0);
                for (i, &l) in lanes.iter().enumerate() {
                    if admits(full, l, t) {
                        have += lane[l as usize];
                        bound += if i + 1 < lanes.len() { lane[l as usize] } else { 0 };
                    }
                }
                let v = value[f as usize];
                short += v * f64::from(n.saturating_sub(have));
                let share = f64::from(bound) / f64::from(self.model.lanes[f as usize].count.max(1));
                tight += v * (f64::from(n.min(bound)) + f64::from(n) * share);
            }
            if best.is_none_or(|b| (short, -tight) < (b.0, -b.1)) {
                best = Some((short, tight, t));
            }
        }
        best.map_or(0, |b| b.2)
    }
}

fn admits(full: &Model, lane: u32, offer: u32) -> bool {
    full.gates[full.lanes[lane as usize].gate].offers.contains(offer as usize)
}

/// Offers with the same room at the same price, cheapest first.
fn twins(full: &Model) -> Vec<Vec<u32>> {
    let mut at: FxHashMap<(&[i64], i64, u32), usize> = FxHashMap::default();
    let mut twins: Vec<Vec<u32>> = Vec::new();
    for (o, offer) in full.offers.iter().enumerate() {
        let next = twins.len();
        let f = *at.entry((&offer.room, offer.price, full.index.scopes[offer.bin])).or_insert(next);
        if f == next {
            twins.push(Vec::new());
        }
        twins[f].push(o as u32);
    }
    twins
}

/// Whether each cell can take its share of every lane.
fn even(full: &Model, lanes: &[Vec<u32>], gates: &[Gate], gate_of: &[usize], twins: &[Vec<u32>]) -> bool {
    let cell = |o: usize| full.index.cells.of_bin[full.offers[o].bin] as usize;
    let cells = |offers: &mut dyn Iterator<Item = usize>| {
        let mut set = FixedBitSet::with_capacity(full.index.cells.len());
        offers.for_each(|o| set.insert(cell(o)));
        set
    };
    let narrow: Vec<FixedBitSet> = full.gates.iter().map(|g| cells(&mut g.offers.ones())).collect();
    let wide: Vec<FixedBitSet> = (gates.iter())
        .map(|g| cells(&mut g.offers.ones().flat_map(|f| twins[f].iter().map(|&t| t as usize))))
        .collect();
    lanes.iter().all(|members| {
        let gate = |l: u32| full.lanes[l as usize].gate;
        let all: u64 = members.iter().map(|&l| u64::from(full.lanes[l as usize].count)).sum();
        let Some(&first) = members.first() else { return true };
        let wide = &wide[gate_of[gate(first)]];
        let share = EVEN * all as f64 / wide.count_ones(..).max(1) as f64;
        wide.ones().all(|c| {
            let here = members.iter().filter(|&&l| narrow[gate(l)].contains(c));
            here.map(|&l| f64::from(full.lanes[l as usize].count)).sum::<f64>() >= share.floor()
        })
    })
}

fn folded<'a>(
    full: &Model<'a>,
    lanes: &[Vec<u32>],
    gates: Vec<Gate>,
    gate_of: &[usize],
    twins: &[Vec<u32>],
) -> Model<'a> {
    let mut model = Model {
        instance: full.instance,
        index: full.index,
        dims: full.dims,
        real: full.real.clone(),
        cliques: full.cliques.clone(),
        lanes: Vec::with_capacity(lanes.len()),
        slots: Vec::with_capacity(lanes.len()),
        offers: Vec::with_capacity(twins.len()),
        spares: Vec::new(),
        gates,
        items: Vec::new(),
        ranks: 1,
    };
    for (f, members) in lanes.iter().enumerate() {
        let of = || members.iter().map(|&l| &full.lanes[l as usize]);
        let count = of().map(|l| l.count).sum();
        let Some(first) = of().next() else { continue };
        model.lanes.push(Lane {
            demand: first.demand.clone(),
            gate: gate_of[first.gate],
            slots: vec![f as u32],
            count,
            most: of().fold(0, |sum: u32, l| sum.saturating_add(l.most)),
            rank: 0,
            plain: true,
        });
        model.slots.push(Slot { lane: f as u32, count, terms: Vec::new(), items: Vec::new() });
    }
    for (f, twins) in twins.iter().enumerate() {
        let Some(&first) = twins.first() else { continue };
        let like = &full.offers[first as usize];
        let admitted = (0..model.lanes.len() as u32).filter(|&l| {
            let lane = &model.lanes[l as usize];
            model.gates[lane.gate].offers.contains(f) && fits(&lane.demand, &like.room)
        });
        let lanes = admitted.collect();
        model.offers.push(Offer { lanes, room: like.room.clone(), ..like.clone() });
    }
    model
}
