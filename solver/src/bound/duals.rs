use super::knapsack::{self, Filling};
use super::reduced::{Reduced, Spot};
use crate::instance::Instance;

/// Values in dollars per hour.
#[derive(Clone, Debug)]
pub(super) struct Duals {
    /// Per item.
    pub value: Vec<f64>,
    /// Per split and domain.
    pub rho: Vec<Vec<f64>>,
    pub limit: Vec<f64>,
    pub supply: Vec<f64>,
    pub budget: Vec<f64>,
}

impl Duals {
    pub fn zero(instance: &Instance, reduced: &Reduced) -> Self {
        Duals {
            value: vec![0.0; reduced.items.len()],
            rho: reduced.splits.iter().map(|s| vec![0.0; s.open.len()]).collect(),
            limit: vec![0.0; instance.limits.len()],
            supply: vec![0.0; instance.supplies.len()],
            budget: vec![0.0; instance.budgets.len()],
        }
    }

    /// `share` of `self` and the rest of `other`.
    pub fn mixed(&self, other: &Duals, share: f64) -> Duals {
        let mix = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| share * x + (1.0 - share) * y).collect();
        Duals {
            value: mix(&self.value, &other.value),
            rho: self.rho.iter().zip(&other.rho).map(|(a, b)| mix(a, b)).collect(),
            limit: mix(&self.limit, &other.limit),
            supply: mix(&self.supply, &other.supply),
            budget: mix(&self.budget, &other.budget),
        }
    }

    /// What a bin's contents may be worth.
    pub fn budget(&self, instance: &Instance, spot: &Spot) -> f64 {
        let bin = &instance.bins[spot.at];
        spot.price
            + bin.limit_use.iter().map(|&(l, a)| a as f64 * self.limit[l]).sum::<f64>()
            + bin.supply.map_or(0.0, |s| self.supply[s])
    }

    /// Lets rules hold what is best where one family alone is under them.
    pub fn settle(&mut self, reduced: &Reduced) {
        for (p, split) in reduced.splits.iter().enumerate() {
            let mut under = reduced.families.iter().filter(|f| f.splits.contains(&p));
            if let (Some(f), None) = (under.next(), under.next())
                && f.splits.len() == 1
            {
                self.rho[p] = vec![0.0; split.open.len()];
                for &i in &f.items {
                    if let Some(d) = reduced.items[i].domain {
                        self.rho[p][d as usize] = self.value[i];
                    }
                }
                // Closed domains never attract pods.
                let most = self.rho[p].iter().copied().fold(0.0, f64::max);
                for (rho, open) in self.rho[p].iter_mut().zip(&split.open) {
                    if !open {
                        *rho = most;
                    }
                }
            }
        }
    }

    /// The bound these values give if no bin is worth more than its budget;
    /// `worth` is that of each node's room.
    pub fn total(&self, instance: &Instance, reduced: &Reduced, worth: &[f64]) -> f64 {
        let mut total: f64 = reduced.splits.iter().zip(&self.rho).map(|(s, rho)| s.least(rho)).sum();
        for f in &reduced.families {
            let least = f.items.iter().map(|&i| {
                let d = reduced.items[i].domain.map(|d| d as usize);
                self.value[i] - f.splits.iter().map(|&p| d.map_or(0.0, |d| self.rho[p][d])).sum::<f64>()
            });
            let least = least.fold(f64::INFINITY, f64::min);
            if least.is_finite() {
                total += least * f.count as f64;
            }
        }
        for (l, limit) in instance.limits.iter().enumerate() {
            total -= self.limit[l] * limit.max.max(0) as f64;
        }
        for (s, supply) in instance.supplies.iter().enumerate() {
            total -= self.supply[s] * f64::from(supply.count);
        }
        for (node, worth) in reduced.nodes.iter().zip(worth) {
            let fixed: f64 = node.fixed.iter().map(|&(i, c)| self.value[i] * c).sum();
            let n = &instance.nodes[node.at];
            total -= match &n.removal {
                None => *worth,
                Some(r) if r.forced => self.gone(instance, node),
                Some(_) => (worth + fixed).max(self.gone(instance, node)),
            };
        }
        for (b, budget) in instance.budgets.iter().enumerate() {
            total -= self.budget[b] * budget.max as f64;
        }
        total
    }

    /// What removing a node is worth; 0 where it cannot be removed.
    pub fn gone(&self, instance: &Instance, spot: &Spot) -> f64 {
        let node = &instance.nodes[spot.at];
        let Some(removal) = &node.removal else { return 0.0 };
        let freed = node.limit_use.iter().map(|&(l, a)| a as f64 * self.limit[l]).sum::<f64>()
            + node.supply.map_or(0.0, |s| self.supply[s]);
        let drawn = removal.budgets.iter().map(|&(b, a)| a as f64 * self.budget[b]).sum::<f64>();
        spot.price + freed - drawn
    }
}

/// The last multipliers that sufficed or nearly did, per bin and node.
#[derive(Clone)]
pub(super) struct Multipliers {
    pub bins: Vec<Vec<f64>>,
    pub nodes: Vec<Vec<f64>>,
}

impl Multipliers {
    pub fn none(reduced: &Reduced) -> Self {
        let zero = |s: &Spot| vec![0.0; s.capacity.len() + s.groups.len()];
        Multipliers { bins: reduced.bins.iter().map(zero).collect(), nodes: reduced.nodes.iter().map(zero).collect() }
    }
}

impl Multipliers {
    /// Room for more dimensions after the first `own`.
    pub fn widen(&mut self, own: usize, more: usize) {
        self.bins.iter_mut().chain(&mut self.nodes).for_each(|u| {
            u.splice(own..own, std::iter::repeat_n(0.0, more));
        });
    }
}

/// Relative slack below which a bin counts as covered.
pub(super) const SLACK: f64 = 1e-9;

/// A bin whose contents are worth more than its budget.
pub(super) struct Violation {
    pub bin: usize,
    pub filling: Filling,
    pub budget: f64,
}

/// Bins that are worth more than their budget, by the relaxation. `None` if
/// told to stop.
pub(super) fn violations(
    instance: &Instance,
    reduced: &Reduced,
    duals: &Duals,
    u: &mut Multipliers,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Violation>> {
    let mut out = Vec::new();
    for (b, spot) in reduced.bins.iter().enumerate() {
        if b % 16 == 0 && stop() {
            return None;
        }
        let budget = duals.budget(instance, spot);
        let room = spot.room();
        if knapsack::bound(&reduced.columns, &room, &duals.value, &u.bins[b]) <= budget * (1.0 + SLACK) {
            continue;
        }
        let filling = knapsack::fill(&reduced.columns, &room, &duals.value);
        u.bins[b].clone_from(&filling.u);
        if filling.worth > budget * (1.0 + SLACK) {
            out.push(Violation { bin: b, filling, budget });
        }
    }
    Some(out)
}

/// Lowers values until no bin is worth more than its budget, where it hurts
/// least: only on what the offending contents hold. `violated` comes from
/// [`violations`] at the same values.
pub(super) fn repair(
    reduced: &Reduced,
    duals: &mut Duals,
    u: &mut Multipliers,
    mut violated: Vec<Violation>,
    stop: &dyn Fn() -> bool,
) -> Option<()> {
    violated.sort_by(|a, b| {
        let excess = |v: &Violation| v.filling.worth / v.budget.max(1e-12);
        excess(b).total_cmp(&excess(a)).then(a.bin.cmp(&b.bin))
    });
    for v in violated {
        if stop() {
            return None;
        }
        let spot = &reduced.bins[v.bin];
        let room = spot.room();
        for round in 0..60 {
            let worth = knapsack::bound(&reduced.columns, &room, &duals.value, &u.bins[v.bin]);
            if worth <= v.budget * (1.0 + SLACK) {
                break;
            }
            let filling = knapsack::fill(&reduced.columns, &room, &duals.value);
            u.bins[v.bin].clone_from(&filling.u);
            if filling.worth <= v.budget * (1.0 + SLACK) {
                break;
            }
            if round == 59 {
                // Worthless pods need no multipliers.
                spot.guests.iter().for_each(|g| duals.value[g.item] = 0.0);
                u.bins[v.bin].fill(0.0);
                break;
            }
            let factor = v.budget / filling.worth;
            if round < 40 {
                filling.x.iter().for_each(|&(g, _)| duals.value[spot.guests[g].item] *= factor);
            } else {
                spot.guests.iter().for_each(|g| duals.value[g.item] *= factor * (1.0 - SLACK));
            }
        }
    }
    Some(())
}

/// What the room of each node is worth at most.
pub(super) fn node_worths(reduced: &Reduced, duals: &Duals, u: &mut Multipliers) -> Vec<f64> {
    let mut out = Vec::with_capacity(reduced.nodes.len());
    for (n, spot) in reduced.nodes.iter().enumerate() {
        let filling = knapsack::fill(&reduced.columns, &spot.room(), &duals.value);
        u.nodes[n].clone_from(&filling.u);
        out.push(filling.worth);
    }
    out
}
