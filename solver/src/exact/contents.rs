//! Contents of one node that an optimal plan could use.

use std::collections::BTreeSet;

use super::host;
use crate::certificate::{Certificate, DomainDuals, Nanos};
use crate::instance::{Instance, Key, Micros, RuleKind};

/// Pods of one shape in one tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    pub shape: usize,
    pub tier: usize,
}

/// One node's contents on a bin or an existing node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Column {
    pub node: bool,
    /// Bin or node of the instance.
    pub at: usize,
    /// (item, pods), ascending, positive.
    pub pods: Vec<(usize, u32)>,
}

/// All items and columns.
pub(super) struct Columns {
    pub items: Vec<Item>,
    /// Items whose pods may be supplied in excess: dropping one never breaks
    /// a rule.
    pub loose: Vec<bool>,
    pub list: Vec<Column>,
}

/// Values that prune.
pub(super) struct Prices {
    /// Per shape, of pods in their first tier: by default, and per domain.
    value: Vec<(Nanos, Option<DomainDuals>)>,
    limit: Vec<Nanos>,
    supply: Vec<Nanos>,
    /// What contents may lose.
    gap: f64,
}

impl Prices {
    pub fn new(instance: &Instance, certificate: &Certificate, cost: Micros, bound: Micros) -> Self {
        let mut value = vec![(0, None); instance.shapes.len()];
        for i in certificate.items.iter().filter(|i| i.tier == 0) {
            value[i.shape] = (i.dual, i.by_domain.clone());
        }
        // A micro-dollar for what the bound lost in rounding.
        let gap = (cost - bound + 1).max(1) as f64 * 1e3;
        Prices { value, limit: certificate.limit_duals.clone(), supply: certificate.supply_duals.clone(), gap }
    }

    fn of(&self, shape: usize, domain: &[Option<u32>]) -> f64 {
        let (dual, by) = &self.value[shape];
        let there = by.as_ref().and_then(|by| domain[by.key].map(|d| by.dual[d as usize]));
        there.unwrap_or(*dual) as f64
    }
}

/// Most columns and most steps of the search for them.
const COLUMNS: usize = 30_000;
/// The same where no clock decides: HiGHS takes seconds for thousands.
const FEW: usize = 600;
const STEPS: u64 = 4_000_000;

/// All columns that could matter, or `None` if they are too many.
pub(super) fn enumerate(instance: &Instance, price: Option<&Prices>, left: &dyn Fn() -> f64) -> Option<Columns> {
    let mut items: Vec<Item> = Vec::new();
    for (shape, s) in instance.shapes.iter().enumerate().filter(|(_, s)| s.count > 0) {
        let tiers = if price.is_some() { s.tiers.len().min(1) } else { s.tiers.len() };
        items.extend((0..tiers).map(|tier| Item { shape, tier }));
    }
    let coupled = |s: usize| {
        instance.rules.iter().any(|r| {
            let matters = r.key != Key::Host || matches!(r.kind, RuleKind::Affinity);
            matters && (r.owned_by(s) || r.selects(s))
        })
    };
    let loose: Vec<bool> = items.iter().map(|i| !coupled(i.shape)).collect();
    let mut walk = Walk { instance, items: &items, loose: &loose, left, steps: 0, list: Vec::new() };
    for n in 0..instance.nodes.len() {
        walk.place(true, n, &[], price)?;
    }
    // Like bins: only price and capacity differ, and domains that no rule asks
    // about.
    let told = told(instance);
    let mut order: Vec<usize> = (0..instance.bins.len()).filter(|&b| instance.bins[b].buyable).collect();
    order.sort_by_key(|&b| (instance.bins[b].price, b));
    for (rank, &b) in order.iter().enumerate() {
        let bin = &instance.bins[b];
        let like = |o: &&usize| {
            let other = &instance.bins[**o];
            let same = told.iter().all(|&k| other.domain[k] == bin.domain[k]);
            same && other.limit_use == bin.limit_use && other.supply == bin.supply
        };
        let cheaper: Vec<usize> = order[..rank].iter().filter(like).copied().collect();
        walk.place(false, b, &cheaper, price)?;
    }
    let list = walk.list;
    Some(Columns { items, loose, list })
}

/// Keys on which a rule of pods that wait asks for the domain.
fn told(instance: &Instance) -> Vec<usize> {
    let waits = |s: &usize| instance.shapes[*s].count > 0;
    let mut keys: Vec<usize> = instance
        .rules
        .iter()
        .filter(|r| r.owners.iter().chain(&r.selected).any(waits))
        .filter_map(|r| match r.key {
            Key::Domain(key) => Some(key),
            Key::Host => None,
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

struct Walk<'a> {
    instance: &'a Instance,
    items: &'a [Item],
    loose: &'a [bool],
    left: &'a dyn Fn() -> f64,
    steps: u64,
    list: Vec<Column>,
}

/// One place under enumeration.
struct Place<'a> {
    column: Column,
    /// Indices of items that fit alone.
    open: Vec<usize>,
    /// Gain per pod beyond the multipliers, and what later items can still
    /// gain.
    extra: Vec<f64>,
    later: Vec<f64>,
    /// The loss if nothing gains.
    base: f64,
    gap: f64,
    cheaper: &'a [usize],
    free: Vec<i64>,
}

impl Walk<'_> {
    fn place(&mut self, node: bool, at: usize, cheaper: &[usize], price: Option<&Prices>) -> Option<()> {
        let instance = self.instance;
        let (room, domain) = if node {
            (&instance.nodes[at].free, &instance.nodes[at].domain)
        } else {
            (&instance.bins[at].capacity, &instance.bins[at].domain)
        };
        let open: Vec<usize> = (0..self.items.len())
            .filter(|&i| self.admits(i, node, at) && instance.fits(self.items[i].shape, room))
            .collect();
        if open.is_empty() && node {
            return Some(());
        }
        let most: Vec<f64> = open.iter().map(|&i| f64::from(self.most(i, room))).collect();
        let (extra, base, gap) = match price {
            None => (vec![0.0; open.len()], 0.0, f64::INFINITY),
            Some(p) => {
                let value: Vec<f64> = open.iter().map(|&i| p.of(self.items[i].shape, domain)).collect();
                let demand: Vec<&[i64]> =
                    open.iter().map(|&i| instance.shapes[self.items[i].shape].demand.as_slice()).collect();
                let (u, worth) = crate::bound::relax(&demand, &value, &most, room);
                let extra: Vec<f64> = value
                    .iter()
                    .zip(&demand)
                    .map(|(v, r)| v - r.iter().zip(&u).map(|(&r, u)| r as f64 * u).sum::<f64>())
                    .collect();
                let full: f64 = room.iter().zip(&u).map(|(&a, u)| a as f64 * u).sum();
                let budget = if node {
                    worth
                } else {
                    let bin = &instance.bins[at];
                    let limits = bin.limit_use.iter().map(|&(l, a)| a as f64 * p.limit[l] as f64).sum::<f64>();
                    bin.price as f64 * 1e3 + limits + bin.supply.map_or(0.0, |s| p.supply[s] as f64)
                };
                (extra, budget - full, p.gap)
            }
        };
        // Items that gain come first, those that cost most last, so that
        // losses are seen early.
        let mut order: Vec<usize> = (0..open.len()).collect();
        order.sort_by(|&a, &b| extra[a].total_cmp(&extra[b]).then(a.cmp(&b)));
        let mut later = vec![0.0; open.len() + 1];
        for (k, &o) in order.iter().enumerate().rev() {
            later[k] = later[k + 1] + extra[o].max(0.0) * most[o];
        }
        let place = Place {
            column: Column { node, at, pods: Vec::new() },
            open: order.iter().map(|&o| open[o]).collect(),
            extra: order.iter().map(|&o| extra[o]).collect(),
            later,
            base,
            gap,
            cheaper,
            free: room.clone(),
        };
        let mut free = room.clone();
        let mut pods = Vec::new();
        self.go(&place, 0, 0.0, &mut free, &mut pods)
    }

    fn admits(&self, i: usize, node: bool, at: usize) -> bool {
        let item = self.items[i];
        let a = &self.instance.admissions[self.instance.shapes[item.shape].tiers[item.tier].admission];
        if node { a.nodes.contains(at) } else { a.bins.contains(at) }
    }

    fn most(&self, i: usize, free: &[i64]) -> u32 {
        let shape = &self.instance.shapes[self.items[i].shape];
        let fits = shape.demand.iter().zip(free).filter(|(r, _)| **r > 0).map(|(&r, &f)| f / r).min();
        fits.map_or(shape.count, |n| shape.count.min(n.clamp(0, i64::from(u32::MAX)) as u32))
    }

    /// Chooses how many of the item at `k`. `gained` is what the choice so
    /// far gains over the multipliers.
    fn go(
        &mut self,
        p: &Place,
        k: usize,
        gained: f64,
        free: &mut Vec<i64>,
        pods: &mut Vec<(usize, u32)>,
    ) -> Option<()> {
        self.steps += 1;
        if self.steps > STEPS || (self.steps.is_multiple_of(1024) && (self.left)() <= 0.0) {
            return None;
        }
        // The multipliers pay for all room, used or not.
        if p.base - gained - p.later[k] > p.gap {
            return Some(());
        }
        let Some(&item) = p.open.get(k) else {
            return self.leaf(p, free, pods);
        };
        let most = self.most(item, free).min(self.left_of(item, pods));
        let demand = &self.instance.shapes[self.items[item].shape].demand;
        for n in (0..=most).rev() {
            let take = |free: &mut Vec<i64>, sign: i64| {
                free.iter_mut().zip(demand).for_each(|(f, &r)| *f -= sign * r * i64::from(n));
            };
            take(free, 1);
            if n > 0 {
                pods.push((item, n));
            }
            let ok = if n == 0 || host::may(self.instance, self.items, p.column.node, p.column.at, pods) {
                self.go(p, k + 1, gained + p.extra[k] * f64::from(n), free, pods)
            } else {
                Some(())
            };
            if n > 0 {
                pods.pop();
            }
            take(free, -1);
            ok?;
        }
        Some(())
    }

    /// Pods of an item's shape that its other tiers leave.
    fn left_of(&self, item: usize, pods: &[(usize, u32)]) -> u32 {
        let shape = self.items[item].shape;
        let used: u32 = pods.iter().filter(|p| self.items[p.0].shape == shape).map(|p| p.1).sum();
        self.instance.shapes[shape].count - used
    }

    fn leaf(&mut self, p: &Place, free: &[i64], pods: &[(usize, u32)]) -> Option<()> {
        if pods.is_empty() {
            return Some(());
        }
        let instance = self.instance;
        let plain = !p.column.node && instance.varieties.is_empty();
        if plain {
            // A cheaper bin of the same kind holds this as well.
            let hosts = |&b: &usize| {
                let c = &instance.bins[b].capacity;
                p.free.iter().zip(free).zip(c).all(|((all, left), c)| all - left <= *c)
                    && pods.iter().all(|e| self.admits(e.0, false, b))
                    && instance.rules.iter().all(|r| scope(&r.kind, b) == scope(&r.kind, p.column.at))
            };
            if p.cheaper.iter().any(hosts) {
                return Some(());
            }
        }
        if plain || (p.column.node && instance.varieties.is_empty()) {
            // One more of a loose item makes a better column.
            for &i in p.open.iter().filter(|&&i| self.loose[i]) {
                if self.most(i, free) > 0 && self.left_of(i, pods) > 0 {
                    let mut more = pods.to_vec();
                    match more.iter_mut().find(|e| e.0 == i) {
                        Some(e) => e.1 += 1,
                        None => more.push((i, 1)),
                    }
                    if host::may(instance, self.items, p.column.node, p.column.at, &more) {
                        return Some(());
                    }
                }
            }
        }
        if !p.column.node && !host::varied(instance, self.items, p.column.at, pods) {
            return Some(());
        }
        let mut column = p.column.clone();
        column.pods = pods.to_vec();
        column.pods.sort_unstable();
        self.list.push(column);
        let most = if (self.left)().is_finite() { COLUMNS } else { FEW };
        (self.list.len() <= most).then_some(())
    }
}

fn scope(kind: &RuleKind, bin: usize) -> bool {
    match kind {
        RuleKind::Spread(s) => s.scope.bins.contains(bin),
        RuleKind::Anti | RuleKind::Affinity => true,
    }
}

/// Distinct shapes of a column.
pub(super) fn shapes(items: &[Item], column: &Column) -> BTreeSet<usize> {
    column.pods.iter().map(|p| items[p.0].shape).collect()
}
