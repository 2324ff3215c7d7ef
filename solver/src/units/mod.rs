//! Units: what moves as one. A unit is a single pod, except where host
//! affinity ties pods together; those come as a bundle that lands on one
//! node.

mod bundle;

use crate::arrival::Index;
use crate::instance::{Instance, Key, RuleKind};

/// Pods that land together, `count` times over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// (shape, pods) in the order of arrival.
    pub parts: Vec<(usize, u32)>,
    /// How many such units wait.
    pub count: u32,
    /// Demand of one.
    pub demand: Vec<i64>,
    /// The tier they are served in.
    pub tier: usize,
}

impl Unit {
    /// A unit of these parts.
    pub fn new(instance: &Instance, parts: Vec<(usize, u32)>, count: u32, tier: usize) -> Self {
        let mut demand = vec![0; instance.dims];
        for &(s, n) in &parts {
            for (sum, d) in demand.iter_mut().zip(&instance.shapes[s].demand) {
                *sum += d * i64::from(n);
            }
        }
        Unit { parts, count, demand, tier }
    }

    /// Whether it is one pod.
    pub fn is_single(&self) -> bool {
        self.parts.len() == 1 && self.parts[0].1 == 1
    }
}

/// All pods that wait, given as (shape, tier, count), as units, in a legal order of arrival: what others ask
/// for comes before those who ask, carriers of rules before the rest, more
/// important before less, large before small.
pub fn units(instance: &Instance, index: &Index, waiting: &[(usize, usize, u32)]) -> Vec<Unit> {
    // Only pods in their first tier come bundled: whoever gives a rule up
    // gives company up.
    let mut left = vec![0; instance.shapes.len()];
    waiting.iter().filter(|w| w.1 == 0).for_each(|&(s, _, n)| left[s] += n);
    let mut all = bundle::bundles(instance, index, &mut left);
    let first = left.iter().enumerate().map(|(s, &n)| (s, 0, n));
    for (s, tier, count) in first.chain(waiting.iter().copied().filter(|w| w.1 > 0)) {
        if count > 0 {
            all.push(Unit::new(instance, vec![(s, 1)], count, tier));
        }
    }
    let depth = depths(instance);
    let priority = priorities(instance);
    let scale = scale(instance);
    let size = |u: &Unit| u.demand.iter().zip(&scale).map(|(&d, s)| d as f64 * s).fold(0.0, f64::max);
    let mut keyed: Vec<_> = all
        .into_iter()
        .map(|u| {
            let priority = u.parts.iter().map(|p| priority[p.0]).max().unwrap_or(0);
            let depth = u.parts.iter().map(|p| depth[p.0]).max().unwrap_or(0);
            let tied = u.parts.iter().any(|p| !index.owned[p.0].is_empty());
            (std::cmp::Reverse(priority), depth, !tied, size(&u), u)
        })
        .collect();
    keyed.sort_by(|a, b| {
        (a.0, a.1, a.2)
            .cmp(&(b.0, b.1, b.2))
            .then(b.3.total_cmp(&a.3))
            .then_with(|| b.4.demand.cmp(&a.4.demand))
            .then_with(|| b.4.count.cmp(&a.4.count))
            .then_with(|| a.4.parts.cmp(&b.4.parts))
    });
    keyed.into_iter().map(|k| k.4).collect()
}

/// One over the largest room there is, per dimension.
fn scale(instance: &Instance) -> Vec<f64> {
    (0..instance.dims)
        .map(|d| {
            let most =
                instance.bins.iter().map(|b| b.capacity[d]).chain(instance.nodes.iter().map(|n| n.free[d])).max();
            1.0 / most.unwrap_or(0).max(1) as f64
        })
        .collect()
}

/// How many shapes deep a shape depends on others by affinity.
pub fn depths(instance: &Instance) -> Vec<u32> {
    let mut depth = vec![0_u32; instance.shapes.len()];
    // A chain longer than this is a cycle; no order serves it anyway.
    for _ in 0..8 {
        let mut changed = false;
        for rule in instance.rules.iter().filter(|r| matches!(r.kind, RuleKind::Affinity)) {
            let deepest = rule.selected.iter().filter(|&&s| !rule.owned_by(s)).map(|&s| depth[s] + 1).max();
            // Targets that carry the rule themselves may start it.
            let starters = rule.selected.iter().filter(|&&s| rule.owned_by(s)).map(|&s| depth[s]).max();
            for &o in &rule.owners {
                let needed = if rule.selects(o) { deepest } else { deepest.max(starters.map(|d| d + 1)) };
                if let Some(d) = needed
                    && depth[o] < d
                {
                    depth[o] = d;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    depth
}

/// Priorities, raised for pods that more important ones ask for.
fn priorities(instance: &Instance) -> Vec<i32> {
    let mut priority: Vec<i32> = instance.shapes.iter().map(|s| s.priority).collect();
    for _ in 0..8 {
        let mut changed = false;
        for rule in instance.rules.iter().filter(|r| matches!(r.kind, RuleKind::Affinity)) {
            let Some(most) = rule.owners.iter().map(|&o| priority[o]).max() else { continue };
            for &s in &rule.selected {
                if priority[s] < most {
                    priority[s] = most;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    priority
}

/// Rules on the host that ask for company.
fn together(instance: &Instance) -> impl Iterator<Item = usize> + '_ {
    (0..instance.rules.len())
        .filter(|&r| instance.rules[r].key == Key::Host && matches!(instance.rules[r].kind, RuleKind::Affinity))
}
