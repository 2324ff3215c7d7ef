//! Lazy greedy: buy the node whose contents are worth the most for their
//! price, again and again.

use super::budget::Budget;
use super::host::held;
use super::model::{Model, fits};
use super::pattern::{Pattern, Pricer};
use super::solution::{Bought, Open, Solution};
use crate::arrival::Place;
use crate::fluid::cover;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What a construction is guided by.
#[derive(Clone)]
pub struct Guide<'a> {
    /// Value per lane.
    pub value: &'a [f64],
    /// Offers to look at, ascending.
    pub offers: &'a [u32],
    /// Serve rank by rank.
    pub scarce: bool,
    /// Buy at once what is within this share of the best ratio known, rather
    /// than look at all others first.
    pub haste: f64,
    /// Fill nodes that exist first.
    pub spares: bool,
    /// Complete the solution in a rush rather than give up when time is up.
    pub rush: bool,
    /// Tells that time is up.
    pub stop: &'a dyn Fn() -> bool,
}

impl<'a> Guide<'a> {
    /// Looks at every offer, in no order of rank, until time is up.
    pub fn patient(value: &'a [f64], offers: &'a [u32], stop: &'a dyn Fn() -> bool) -> Self {
        Guide { value, offers, scarce: false, haste: 0.0, spares: false, rush: false, stop }
    }
}

/// Offers per lane that a construction starts with.
const FRONT: usize = 10;
/// The others join once the best on hand is this much dearer than they were.
const RELEASE: f64 = 1.1;

struct Entry {
    ratio: f64,
    offer: u32,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.ratio.total_cmp(&self.ratio).then(other.offer.cmp(&self.offer))
    }
}

/// Builds solutions; keeps buffers between runs.
#[derive(Default)]
pub struct Greedy {
    pricer: Pricer,
    patterns: Vec<Pattern>,
    /// Units left per lane, of the ranks being served.
    lane: Vec<u32>,
    /// Units left per slot.
    slot: Vec<u32>,
    order: Vec<(f64, u32)>,
    /// Offers bought from in the last run, before downsizing.
    pub used: Vec<u32>,
}

impl Greedy {
    /// Packs `left` units per slot: nodes first, then new ones within
    /// `budget`. `None` if time ran out on the way.
    pub fn run(&mut self, model: &Model, left: &[u32], budget: &mut Budget, guide: &Guide) -> Option<Solution> {
        let mut out = Solution::default();
        self.used.clear();
        self.slot.clear();
        self.slot.extend_from_slice(left);
        let mut spares: Vec<Open> = Vec::new();
        if guide.spares && !model.spares.is_empty() {
            let places = Place::existing(model.instance, model.index);
            spares.extend(model.spares.iter().map(|s| Open::new(&s.room, held(&places[s.node], model.instance))));
        }
        let ranks = if guide.scarce { model.ranks } else { 1 };
        let mut opened: Vec<(u32, Open)> = Vec::new();
        for rank in 0..ranks {
            self.lane.clear();
            self.lane.resize(model.lanes.len(), 0);
            for (s, &n) in self.slot.iter().enumerate() {
                let lane = model.slots[s].lane as usize;
                if !guide.scarce || model.lanes[lane].rank == rank {
                    self.lane[lane] += n;
                }
            }
            for (s, open) in spares.iter_mut().enumerate() {
                if (guide.stop)() {
                    if !guide.rush {
                        return None;
                    }
                    self.top_up(model, open, &model.spares[s].lanes, guide.value);
                    continue;
                }
                self.fill(model, open, &model.spares[s].lanes, guide.value);
            }
            for (offer, open) in &mut opened {
                self.fill(model, open, &model.offers[*offer as usize].lanes, guide.value);
            }
            self.buy(model, budget, guide, &mut out, &mut opened)?;
        }
        out.bought.extend(opened.into_iter().map(|(offer, open)| Bought { offer, copies: 1, contents: open.contents }));
        let filled = spares.into_iter().enumerate().filter(|(_, o)| !o.contents.is_empty());
        out.filled = filled.map(|(s, o)| (s as u32, o.contents)).collect();
        out.left = self.slot.clone();
        Some(out)
    }

    /// Fills a room with what is worth the most.
    fn fill(&mut self, model: &Model, open: &mut Open, lanes: &[u32], value: &[f64]) {
        // Host rules may turn units away: a second try takes others.
        for _ in 0..2 {
            let mut pattern = Pattern::default();
            self.pricer.price(model, &open.room, lanes, value, &self.lane, &mut pattern);
            let mut done = 0;
            for &(l, n) in &pattern.lanes {
                let put = open.put_lane(model, l, n, &mut self.slot);
                self.lane[l as usize] -= put;
                done += put;
            }
            if pattern.lanes.is_empty() || done == pattern.lanes.iter().map(|p| p.1).sum() {
                break;
            }
        }
    }

    /// Fills a room that host rules left half empty with whatever else fits,
    /// dear units first.
    fn top_up(&mut self, model: &Model, open: &mut Open, lanes: &[u32], value: &[f64]) {
        self.order.clear();
        for &l in lanes {
            if self.lane[l as usize] > 0 && fits(&model.lanes[l as usize].demand, &open.room) {
                self.order.push((value[l as usize], l));
            }
        }
        self.order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let order = std::mem::take(&mut self.order);
        for &(_, l) in &order {
            if fits(&model.lanes[l as usize].demand, &open.room) {
                let put = open.put_lane(model, l, self.lane[l as usize], &mut self.slot);
                self.lane[l as usize] -= put;
            }
        }
        self.order = order;
    }

    fn buy(
        &mut self,
        model: &Model,
        budget: &mut Budget,
        guide: &Guide,
        out: &mut Solution,
        opened: &mut Vec<(u32, Open)>,
    ) -> Option<()> {
        self.patterns.resize_with(model.offers.len(), Pattern::default);
        let mut priced: Vec<Entry> = Vec::new();
        for &o in guide.offers {
            if (guide.stop)() {
                if guide.rush {
                    self.rush(model, budget, guide, out, opened);
                    return Some(());
                }
                return None;
            }
            if budget.left(model, o) > 0
                && let Some(ratio) = self.price(model, o, guide.value)
            {
                priced.push(Entry { ratio, offer: o });
            }
        }
        priced.sort_unstable_by(|a, b| b.cmp(a));
        let (front, mut aside) = self.front(model, priced);
        let mut heap = BinaryHeap::from(front);
        let mut waiting: u64 = self.lane.iter().map(|&n| u64::from(n)).sum();
        while waiting > 0 {
            let Some(Entry { ratio, offer }) = heap.pop() else {
                if aside.is_empty() {
                    break;
                }
                heap.extend(aside.drain(..));
                continue;
            };
            while aside.last().is_some_and(|a| a.ratio * RELEASE < ratio) {
                heap.extend(aside.pop());
            }
            if (guide.stop)() {
                if guide.rush {
                    self.rush(model, budget, guide, out, opened);
                    return Some(());
                }
                return None;
            }
            let most = budget.left(model, offer);
            if most == 0 {
                continue;
            }
            let mut now = ratio;
            let mut again = self.again(offer);
            if again == 0 {
                let Some(ratio) = self.price(model, offer, guide.value) else { continue };
                let next = heap.peek().map_or(f64::INFINITY, |e| e.ratio);
                if ratio > next * (1.0 + guide.haste) {
                    heap.push(Entry { ratio, offer });
                    continue;
                }
                // Ratios only rise: what is close to the best is bought.
                (now, again) = (ratio, self.again(offer));
            }
            let copies = if again > 3 { again - 1 } else { again }.min(most);
            let served = self.commit(model, offer, copies, guide, budget, out, opened);
            waiting -= served;
            if served == 0 {
                // Host rules turned everything away; single units next.
                continue;
            }
            heap.push(Entry { ratio: now, offer });
        }
        Some(())
    }

    /// Buys for all that is left without weighing contents: for the dearest
    /// lane the offer with the cheapest room, filled up, again and again.
    fn rush(
        &mut self,
        model: &Model,
        budget: &mut Budget,
        guide: &Guide,
        out: &mut Solution,
        opened: &mut Vec<(u32, Open)>,
    ) {
        let mut total = vec![0.0; model.dims];
        for (lane, &n) in model.lanes.iter().zip(&self.lane) {
            total.iter_mut().zip(&lane.demand).for_each(|(t, &d)| *t += d as f64 * f64::from(n));
        }
        let columns: Vec<(&[i64], f64)> =
            guide.offers.iter().map(|&o| &model.offers[o as usize]).map(|o| (&o.room[..], o.price as f64)).collect();
        let price = cover(&columns, &total).price;
        let ratio = |o: u32| {
            let offer = &model.offers[o as usize];
            // Room for more than all that waits is worth nothing.
            let room = offer.room.iter().zip(&total).map(|(&r, &t)| (r as f64).min(t));
            let worth: f64 = room.zip(&price).map(|(r, p)| r * p).sum();
            (offer.price as f64 + 1e-3) / (worth + 1e-9)
        };
        let mut cheap: Vec<(f64, u32)> = guide.offers.iter().map(|&o| (ratio(o), o)).collect();
        cheap.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut lanes: Vec<u32> = (0..model.lanes.len() as u32).filter(|&l| self.lane[l as usize] > 0).collect();
        lanes.sort_by(|&a, &b| guide.value[b as usize].total_cmp(&guide.value[a as usize]).then(a.cmp(&b)));
        for l in lanes {
            let lane = &model.lanes[l as usize];
            let mut from = 0;
            while self.lane[l as usize] > 0 {
                let admits = |o: u32| {
                    let offer = &model.offers[o as usize];
                    model.gates[lane.gate].offers.contains(o as usize)
                        && fits(&lane.demand, &offer.room)
                        && budget.left(model, o) > 0
                };
                let Some(at) = (from..cheap.len()).find(|&i| admits(cheap[i].1)) else { break };
                from = at;
                let offer = cheap[at].1;
                let o = &model.offers[offer as usize];
                let mut open = Open::new(&o.room, Vec::new());
                let put = open.put_lane(model, l, 1, &mut self.slot);
                self.lane[l as usize] -= put;
                self.top_up(model, &mut open, &o.lanes, guide.value);
                if o.varied {
                    self.vary(model, offer, &mut open);
                }
                if put == 0 || open.contents.is_empty() {
                    from += 1;
                    continue;
                }
                self.used.push(offer);
                if guide.scarce {
                    budget.take(model, offer, 1);
                    opened.push((offer, open));
                    continue;
                }
                let again = self.repeats(o.varied, &open).min(budget.left(model, offer) - 1);
                for &(s, n) in &open.contents {
                    self.slot[s as usize] -= n * again;
                    self.lane[model.slots[s as usize].lane as usize] -= n * again;
                }
                budget.take(model, offer, again + 1);
                out.bought.push(Bought { offer, copies: again + 1, contents: open.contents });
            }
        }
    }

    /// How many more nodes with the same contents what is left makes.
    fn repeats(&self, varied: bool, open: &Open) -> u32 {
        if varied {
            return 0;
        }
        open.contents.iter().map(|&(s, n)| self.slot[s as usize] / n.max(1)).min().unwrap_or(0)
    }

    /// The best few offers of every lane, and the others, worst first: they
    /// wait until the first have become much dearer.
    fn front(&self, model: &Model, priced: Vec<Entry>) -> (Vec<Entry>, Vec<Entry>) {
        if priced.len() <= 4 * FRONT {
            return (priced, Vec::new());
        }
        let mut seen = vec![0; model.lanes.len()];
        let (mut front, mut aside) = (Vec::new(), Vec::new());
        for entry in priced {
            let mut wanted = false;
            for &l in model.offers[entry.offer as usize].lanes.iter().filter(|&&l| self.lane[l as usize] > 0) {
                wanted |= seen[l as usize] < FRONT;
                seen[l as usize] += 1;
            }
            if wanted { front.push(entry) } else { aside.push(entry) }
        }
        aside.reverse();
        (front, aside)
    }

    /// How often what is left holds the offer's pattern.
    fn again(&self, offer: u32) -> u32 {
        let lanes = &self.patterns[offer as usize].lanes;
        lanes.iter().map(|&(l, n)| self.lane[l as usize] / n).min().unwrap_or(0)
    }

    fn price(&mut self, model: &Model, offer: u32, value: &[f64]) -> Option<f64> {
        let o = &model.offers[offer as usize];
        let pattern = &mut self.patterns[offer as usize];
        self.pricer.price(model, &o.room, &o.lanes, value, &self.lane, pattern);
        (!pattern.lanes.is_empty()).then(|| (o.price as f64 + 1e-3) / pattern.value)
    }

    /// Buys up to `copies` nodes with the offer's pattern; returns the units
    /// served.
    #[allow(clippy::too_many_arguments)]
    fn commit(
        &mut self,
        model: &Model,
        offer: u32,
        copies: u32,
        guide: &Guide,
        budget: &mut Budget,
        out: &mut Solution,
        opened: &mut Vec<(u32, Open)>,
    ) -> u64 {
        let o = &model.offers[offer as usize];
        let pattern = self.patterns[offer as usize].clone();
        let plain = pattern.lanes.iter().all(|p| model.lanes[p.0 as usize].plain);
        if plain && !o.varied && !guide.scarce {
            let contents: Vec<(u32, u32)> =
                pattern.lanes.iter().map(|&(l, n)| (model.lanes[l as usize].slots[0], n)).collect();
            let mut served = 0;
            self.used.push(offer);
            for &(l, n) in &pattern.lanes {
                self.lane[l as usize] -= n * copies;
                self.slot[model.lanes[l as usize].slots[0] as usize] -= n * copies;
                served += u64::from(n) * u64::from(copies);
            }
            budget.take(model, offer, copies);
            out.bought.push(Bought { offer, copies, contents });
            return served;
        }
        let mut served = 0;
        self.used.push(offer);
        let wanted: u32 = pattern.lanes.iter().map(|p| p.1).sum();
        for _ in 0..copies {
            let mut open = Open::new(&o.room, Vec::new());
            let mut put = 0;
            // Slots with host rules choose first.
            for plain in [false, true] {
                for &(l, n) in pattern.lanes.iter().filter(|p| model.lanes[p.0 as usize].plain == plain) {
                    let done = open.put_lane(model, l, n, &mut self.slot);
                    self.lane[l as usize] -= done;
                    put += done;
                }
            }
            if put < wanted {
                self.top_up(model, &mut open, &o.lanes, guide.value);
            }
            if o.varied {
                self.vary(model, offer, &mut open);
            }
            let pods: u32 = open.contents.iter().map(|c| c.1).sum();
            if pods == 0 {
                break;
            }
            served += u64::from(pods);
            budget.take(model, offer, 1);
            if guide.scarce {
                opened.push((offer, open));
            } else {
                out.bought.push(Bought { offer, copies: 1, contents: open.contents });
            }
            if put == 0 {
                break;
            }
        }
        served
    }

    /// Takes units out until the node could be launched as enough bins.
    fn vary(&mut self, model: &Model, offer: u32, open: &mut Open) {
        while !open.contents.is_empty() && !super::budget::varied(model, offer, &open.contents) {
            let largest = (0..open.contents.len()).max_by_key(|&i| {
                let lane = &model.lanes[model.slots[open.contents[i].0 as usize].lane as usize];
                lane.demand.iter().copied().max().unwrap_or(0)
            });
            let Some(i) = largest else { break };
            let slot = open.contents[i].0;
            let lane = model.slots[slot as usize].lane as usize;
            open.contents[i].1 -= 1;
            if open.contents[i].1 == 0 {
                open.contents.remove(i);
            }
            self.slot[slot as usize] += 1;
            self.lane[lane] += 1;
            for (r, d) in open.room.iter_mut().zip(&model.lanes[lane].demand) {
                *r += d;
            }
        }
    }
}
