//! Pods arriving one after the other: what each arrival may do under the
//! rules, given what is there.
//!
//! A plan built by arrivals is legal by construction: a spread holds at each
//! arrival, so it holds in the end; anti-affinity is looked at both ways;
//! affinity finds what it asks for.

mod cells;
mod index;
mod place;
mod tally;

pub use cells::Cells;
pub use index::{Base, Index};
pub use place::{HostCount, Place};
pub use tally::Tally;

use crate::instance::{Instance, Key, RuleKind};

/// The state between two arrivals.
#[derive(Clone, Debug)]
pub struct Arrivals<'a> {
    /// What is being solved.
    pub instance: &'a Instance,
    /// Its index.
    pub index: &'a Index,
    /// Nodes first, in their order, then what was opened.
    pub places: Vec<Place>,
    /// Per rule.
    pub tally: Vec<Tally>,
    /// What may still be taken of each limit.
    pub budget: Vec<i64>,
    /// Units left of each supply.
    pub supply: Vec<u32>,
}

impl<'a> Arrivals<'a> {
    /// Nothing has arrived.
    pub fn new(instance: &'a Instance, index: &'a Index) -> Self {
        Arrivals {
            instance,
            index,
            places: Place::existing(instance, index),
            tally: (0..instance.rules.len()).map(|r| Tally::new(instance, index, r)).collect(),
            budget: instance.limits.iter().map(|l| l.max).collect(),
            supply: instance.supplies.iter().map(|s| s.count).collect(),
        }
    }

    /// Whether limits and supplies leave one more of `bin`.
    pub fn buyable(&self, bin: usize) -> bool {
        let b = &self.instance.bins[bin];
        b.buyable
            && b.limit_use.iter().all(|&(l, amount)| amount <= self.budget[l])
            && b.supply.is_none_or(|s| self.supply[s] > 0)
            && self.index.fragile.iter().all(|&r| self.keeps_up(r, bin))
    }

    /// Whether spread `rule` still holds when `bin` opens one more domain.
    fn keeps_up(&self, rule: usize, bin: usize) -> bool {
        let r = &self.instance.rules[rule];
        let (RuleKind::Spread(s), Key::Domain(k)) = (&r.kind, r.key) else { return true };
        let tally = &self.tally[rule];
        let Some(d) = self.instance.bins[bin].domain[k].filter(|_| s.scope.bins.contains(bin)) else { return true };
        let least = tally.selected[d as usize];
        tally.eligible[d as usize]
            || (0..tally.selected.len()).all(|i| tally.owners[i] == 0 || tally.selected[i] <= least + s.max_skew)
    }

    /// Opens a new place on `bin`.
    pub fn open(&mut self, bin: usize) -> usize {
        let b = &self.instance.bins[bin];
        for &(l, amount) in &b.limit_use {
            self.budget[l] -= amount;
        }
        if let Some(s) = b.supply {
            self.supply[s] -= 1;
        }
        self.for_spreads(bin, Tally::open);
        self.places.push(Place {
            bin: Some(bin),
            cell: self.index.cells.of_bin[bin],
            room: b.capacity.clone(),
            contents: Vec::new(),
            host: Vec::new(),
        });
        self.places.len() - 1
    }

    /// Gives an empty place that was opened last back.
    pub fn close_last(&mut self) {
        if let Some(place) = self.places.pop()
            && let Some(bin) = place.bin
        {
            let b = &self.instance.bins[bin];
            for &(l, amount) in &b.limit_use {
                self.budget[l] += amount;
            }
            if let Some(s) = b.supply {
                self.supply[s] += 1;
            }
            self.for_spreads(bin, Tally::close);
        }
    }

    /// Tells every spread whose scope has `bin` about its domain.
    fn for_spreads(&mut self, bin: usize, tell: fn(&mut Tally, usize)) {
        for (r, rule) in self.instance.rules.iter().enumerate() {
            if let (Key::Domain(k), RuleKind::Spread(spread)) = (rule.key, &rule.kind)
                && spread.scope.bins.contains(bin)
                && let Some(d) = self.instance.bins[bin].domain[k]
            {
                tell(&mut self.tally[r], d as usize);
            }
        }
    }

    /// Whether the domain rules let one more pod of `shape` into `cell`.
    pub fn domain_admits(&self, shape: usize, tier: usize, cell: u32) -> bool {
        let tuple = &self.index.cells.tuple[cell as usize];
        for r in self.index.carried(self.instance, shape, tier) {
            let rule = &self.instance.rules[r];
            let Key::Domain(k) = rule.key else { continue };
            let tally = &self.tally[r];
            let me = u32::from(rule.selects(shape));
            let ok = match (&rule.kind, tuple[k]) {
                (RuleKind::Spread(s), Some(d)) => {
                    // An ineligible domain counts no pods, yet would be the
                    // minimum once it opens.
                    let least = if tally.eligible[d as usize] { tally.minimum(s.min_domains) } else { 0 };
                    tally.selected[d as usize] + me <= least + s.max_skew
                }
                (RuleKind::Anti, Some(d)) => tally.selected[d as usize] == 0,
                (RuleKind::Anti, None) => true,
                (RuleKind::Affinity, Some(d)) => tally.selected[d as usize] > 0 || (me == 1 && tally.total == 0),
                (_, None) => false,
            };
            if !ok {
                return false;
            }
        }
        self.index.selected[shape].iter().all(|&r| {
            let rule = &self.instance.rules[r];
            match (rule.key, &rule.kind) {
                (Key::Domain(k), RuleKind::Anti) => tuple[k].is_none_or(|d| self.tally[r].owners[d as usize] == 0),
                _ => true,
            }
        })
    }

    /// Whether the host rules let one more pod of `shape` onto `place`.
    pub fn host_admits(&self, shape: usize, tier: usize, place: &Place) -> bool {
        for r in self.index.carried(self.instance, shape, tier) {
            let rule = &self.instance.rules[r];
            if rule.key != Key::Host {
                continue;
            }
            let here = place.host(r);
            let me = u32::from(rule.selects(shape));
            let ok = match &rule.kind {
                RuleKind::Spread(s) => here.early + me <= self.host_minimum(r) + s.max_skew,
                RuleKind::Anti => here.selected == 0,
                RuleKind::Affinity => here.selected > 0 || (me == 1 && self.tally[r].total == 0),
            };
            if !ok {
                return false;
            }
        }
        self.index.selected[shape].iter().all(|&r| {
            let rule = &self.instance.rules[r];
            if rule.key != Key::Host {
                return true;
            }
            match &rule.kind {
                RuleKind::Anti => place.host(r).owners == 0,
                RuleKind::Spread(s) if self.index.early[shape] => {
                    let here = place.host(r);
                    here.owners == 0 || here.early < self.host_minimum(r) + s.max_skew
                }
                _ => true,
            }
        })
    }

    /// Whether a place that the host rules close to `shape` stays closed
    /// whatever else arrives.
    pub fn steady(&self, shape: usize) -> bool {
        self.index.owned[shape].iter().chain(&self.index.selected[shape]).all(|&r| {
            let rule = &self.instance.rules[r];
            match (rule.key, &rule.kind) {
                (Key::Host, RuleKind::Affinity) => !rule.owned_by(shape),
                (Key::Host, RuleKind::Spread(_)) => self.index.new_node[r],
                _ => true,
            }
        })
    }

    /// What a host spread compares with: 0 while a new node is possible.
    fn host_minimum(&self, rule: usize) -> u32 {
        let RuleKind::Spread(s) = &self.instance.rules[rule].kind else { return 0 };
        if self.index.new_node[rule] || s.scope.nodes.count_ones(..) < s.min_domains as usize {
            return 0;
        }
        s.scope.nodes.ones().map(|n| self.places[n].host(rule).early).min().unwrap_or(0)
    }

    /// Whether tier `tier` of `shape` may use `place` at all.
    pub fn admitted(&self, shape: usize, tier: usize, place: usize) -> bool {
        let admission = &self.instance.admissions[self.instance.shapes[shape].tiers[tier].admission];
        match self.places[place].bin {
            Some(bin) => admission.bins.contains(bin),
            None => admission.nodes.contains(place),
        }
    }

    /// Whether one more pod of `shape` fits `place` under all rules.
    pub fn admits(&self, shape: usize, tier: usize, place: usize) -> bool {
        let at = &self.places[place];
        self.instance.fits(shape, &at.room)
            && self.admitted(shape, tier, place)
            && self.unmixed(shape, tier, at)
            && self.host_admits(shape, tier, at)
            && self.domain_admits(shape, tier, at.cell)
            && self.varied(place, shape, tier)
    }

    /// Pods of a shape that asks for company on its node do not share a place
    /// with others of it that gave that up: nobody could tell them apart.
    fn unmixed(&self, shape: usize, tier: usize, place: &Place) -> bool {
        let asks = self.index.owned[shape].iter().any(|&r| {
            let rule = &self.instance.rules[r];
            rule.key == Key::Host && matches!(rule.kind, RuleKind::Affinity)
        });
        !asks || place.contents.iter().all(|c| c.0 != shape || c.1 == tier)
    }

    /// Whether `place`, with one more pod of `shape`, leaves the variety its
    /// launch needs.
    fn varied(&self, place: usize, shape: usize, tier: usize) -> bool {
        let at = &self.places[place];
        let Some(bin) = at.bin else { return true };
        if self.index.varieties[bin].is_empty() {
            return true;
        }
        let used: Vec<i64> = (0..self.instance.dims)
            .map(|d| self.instance.bins[bin].capacity[d] - at.room[d] + self.instance.shapes[shape].demand[d])
            .collect();
        let admissions: Vec<usize> = at
            .contents
            .iter()
            .map(|&(s, t, _)| (s, t))
            .chain([(shape, tier)])
            .map(|(s, t)| self.instance.shapes[s].tiers[t].admission)
            .collect();
        varied(self.instance, self.index, bin, &used, &admissions)
    }

    /// Puts one pod of `shape` onto `place`.
    pub fn put(&mut self, shape: usize, tier: usize, place: usize) {
        self.shift(shape, tier, place, 1);
    }

    /// Takes one pod that was put there away again.
    pub fn take(&mut self, shape: usize, tier: usize, place: usize) {
        self.shift(shape, tier, place, -1);
    }

    /// Counts one pod of `shape` in `cell` for the domain rules, as if it had
    /// arrived on some bin there.
    pub fn count(&mut self, shape: usize, tier: usize, cell: u32) {
        let instance = self.instance;
        let tuple = &self.index.cells.tuple[cell as usize];
        for &r in &self.index.selected[shape] {
            if let Key::Domain(k) = instance.rules[r].key {
                self.tally[r].total += 1;
                if let Some(d) = tuple[k] {
                    self.tally[r].shift(d as usize, 1);
                }
            }
        }
        for r in self.index.carried(instance, shape, tier) {
            if let Key::Domain(k) = instance.rules[r].key
                && let Some(d) = tuple[k]
            {
                self.tally[r].owners[d as usize] += 1;
            }
        }
    }

    fn shift(&mut self, shape: usize, tier: usize, place: usize, by: i32) {
        let instance = self.instance;
        let tuple = &self.index.cells.tuple[self.places[place].cell as usize];
        let at = &mut self.places[place];
        for (room, demand) in at.room.iter_mut().zip(&instance.shapes[shape].demand) {
            *room -= demand * i64::from(by);
        }
        match at.contents.iter().position(|c| c.0 == shape && c.1 == tier) {
            Some(i) => {
                step(&mut at.contents[i].2, by);
                if at.contents[i].2 == 0 {
                    at.contents.remove(i);
                }
            }
            None => at.contents.push((shape, tier, 1)),
        }
        for &r in &self.index.selected[shape] {
            let rule = &instance.rules[r];
            if let RuleKind::Spread(s) = &rule.kind {
                let counted = match at.bin {
                    Some(bin) => s.scope.bins.contains(bin),
                    None => s.scope.nodes.contains(place),
                };
                if !counted {
                    continue;
                }
            }
            self.tally[r].total = self.tally[r].total.saturating_add_signed(i64::from(by));
            match rule.key {
                Key::Host => {
                    let h = at.host_mut(r);
                    step(&mut h.selected, by);
                    if self.index.early[shape] {
                        step(&mut h.early, by);
                    }
                }
                Key::Domain(k) => {
                    if let Some(d) = tuple[k] {
                        self.tally[r].shift(d as usize, by);
                    }
                }
            }
        }
        for r in self.index.carried(instance, shape, tier) {
            match instance.rules[r].key {
                Key::Host => step(&mut at.host_mut(r).owners, by),
                Key::Domain(k) => {
                    if let Some(d) = tuple[k] {
                        step(&mut self.tally[r].owners[d as usize], by);
                    }
                }
            }
        }
    }
}

fn step(count: &mut u32, by: i32) {
    *count = count.saturating_add_signed(by);
}

/// Whether a node on `bin` that uses `used` and holds pods of `admissions`
/// could be launched as enough different bins.
pub fn varied(instance: &Instance, index: &Index, bin: usize, used: &[i64], admissions: &[usize]) -> bool {
    index.varieties[bin].iter().all(|&v| {
        let variety = &instance.varieties[v];
        let mut values: Vec<u32> = variety
            .bins
            .iter()
            .zip(&variety.value)
            .filter(|&(&b, _)| {
                instance.bins[b].capacity.iter().zip(used).all(|(c, u)| c >= u)
                    && admissions.iter().all(|&a| instance.admissions[a].bins.contains(b))
            })
            .map(|(_, &value)| value)
            .collect();
        values.sort_unstable();
        values.dedup();
        values.len() >= variety.least as usize
    })
}
