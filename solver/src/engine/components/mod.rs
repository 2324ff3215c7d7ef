//! Parts of an instance that nothing couples, solved apart: what is easy gets
//! its proven optimum whatever the rest is like.

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use crate::bound::served;
use crate::engine::{self, Clock, EngineError, Options};
use crate::instance::{Instance, Micros, RuleKind};
use crate::plan::Plan;
use fixedbitset::FixedBitSet;
use std::time::Duration;

/// Up to this many pods, residents of removable nodes included: in larger
/// instances the relaxation and the search tell parts apart by themselves.
const PODS: u64 = 5_000;
/// Most parts that are worth a share of the time each.
const PARTS: usize = 50;
/// Share of the time that all parts get together.
const SHARE: f64 = 0.6;

/// Named as the source of plans put together.
pub const SOURCE: &str = "components";

/// Shapes and removable nodes that are coupled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    shapes: FixedBitSet,
    nodes: FixedBitSet,
    /// Pods to be placed, were all its nodes to go.
    pods: u64,
}

/// The parts' plans put together.
pub struct Apart {
    pub plan: Plan,
    /// No plan that serves the same pods in the same tiers costs less: the
    /// sum of what is known about the parts.
    pub least: Micros,
}

impl Apart {
    /// What is known about the cost of plans that serve what `plan` does.
    pub fn least_for(&self, instance: &Instance, plan: &Plan) -> Option<Micros> {
        (served(instance, plan) == served(instance, &self.plan)).then_some(self.least)
    }

    /// Whether nothing can be better: everybody is served as wished, as
    /// cheaply as can be.
    pub fn is_optimal(&self, instance: &Instance) -> bool {
        let complete = self.plan.unserved.is_empty() && self.plan.demoted.is_empty();
        complete && self.plan.cost(instance) <= self.least
    }
}

/// Solves the components of an instance one after the other; `None` where
/// there is only one, or where that would not pay.
pub fn solve(instance: &Instance, options: &Options, clock: Clock) -> Result<Option<Apart>, EngineError> {
    if options.method == engine::Method::Greedy || instance.movable_pods() > PODS {
        return Ok(None);
    }
    let mut parts = components(instance);
    if !(2..=PARTS).contains(&parts.len()) {
        return Ok(None);
    }
    // Small ones leave time that larger ones can use.
    parts.sort_by_key(|p| (p.pods, p.shapes.minimum(), p.nodes.minimum()));
    let began = clock();
    let end = options.deadline.map(|d| began + d.saturating_sub(began).mul_f64(SHARE));
    let mut weight: u64 = parts.iter().map(weight).sum();
    let mut plan = Plan::default();
    let mut least: Micros = 0;
    for part in &parts {
        let deadline = end.map(|end| {
            let now = clock();
            now + fraction(end.saturating_sub(now), self::weight(part), weight)
        });
        weight -= self::weight(part);
        let options = Options { deadline, candidates: Vec::new(), ..options.clone() };
        let outcome = engine::solve(&alone(instance, part), &options, clock)?;
        least = least.saturating_add(outcome.bound.max(outcome.claimed.unwrap_or(Micros::MIN)));
        join(&mut plan, outcome.plan);
    }
    plan.placed.sort_unstable_by_key(|p| p.0);
    plan.removed.sort_unstable();
    plan.unserved.sort_unstable();
    plan.demoted.sort_unstable();
    Ok(Some(Apart { plan, least }))
}

fn weight(part: &Component) -> u64 {
    part.pods + 1
}

fn fraction(time: Duration, share: u64, whole: u64) -> Duration {
    time.mul_f64(share as f64 / whole.max(1) as f64)
}

/// The instance with only the pods of a part to be placed and only its nodes
/// removable.
fn alone(instance: &Instance, part: &Component) -> Instance {
    let mut out = instance.clone();
    for (s, shape) in out.shapes.iter_mut().enumerate() {
        if !part.shapes.contains(s) {
            shape.count = 0;
        }
    }
    for (n, node) in out.nodes.iter_mut().enumerate() {
        if !part.nodes.contains(n) {
            node.removal = None;
        }
    }
    out
}

/// Adds the plan of another part.
fn join(whole: &mut Plan, part: Plan) {
    whole.bought.extend(part.bought);
    whole.placed.extend(part.placed);
    whole.removed.extend(part.removed);
    whole.unserved.extend(part.unserved);
    whole.demoted.extend(part.demoted);
}

/// The parts of an instance. Removable nodes that no pod to be placed may use
/// and that hold none are one part together.
pub fn components(instance: &Instance) -> Vec<Component> {
    let mut links = Links::new(instance);
    links.places(instance);
    links.rules(instance);
    links.amounts(instance);
    let empty = || Component {
        shapes: FixedBitSet::with_capacity(instance.shapes.len()),
        nodes: FixedBitSet::with_capacity(instance.nodes.len()),
        pods: 0,
    };
    let mut parts: Vec<(usize, Component)> = Vec::new();
    let mut part_of = vec![usize::MAX; links.parent.len()];
    for s in (0..instance.shapes.len()).filter(|&s| links.live[s]).collect::<Vec<_>>() {
        let root = links.root(links.shape(s));
        if part_of[root] == usize::MAX {
            part_of[root] = parts.len();
            parts.push((root, empty()));
        }
        let part = &mut parts[part_of[root]].1;
        part.shapes.insert(s);
        part.pods += u64::from(instance.shapes[s].count);
    }
    let mut idle = empty();
    for (n, node) in instance.nodes.iter().enumerate().filter(|(_, n)| n.removal.is_some()) {
        let root = links.root(links.node(n));
        let part = match part_of[root] {
            usize::MAX => &mut idle,
            at => &mut parts[at].1,
        };
        part.nodes.insert(n);
        part.pods += node.residents.iter().map(|r| u64::from(r.1)).sum::<u64>();
    }
    let mut out: Vec<Component> = parts.into_iter().map(|p| p.1).collect();
    if !idle.nodes.is_clear() {
        out.push(idle);
    }
    out
}

/// A forest over everything that can couple pods.
struct Links {
    parent: Vec<usize>,
    /// Whether some pod of the shape may have to be placed.
    live: Vec<bool>,
    /// Where bins, nodes and admissions begin.
    starts: [usize; 3],
}

impl Links {
    fn new(instance: &Instance) -> Self {
        let mut live: Vec<bool> = instance.shapes.iter().map(|s| s.count > 0).collect();
        for node in instance.nodes.iter().filter(|n| n.removal.is_some()) {
            node.residents.iter().for_each(|&(s, _)| live[s] = true);
        }
        let bins = instance.shapes.len();
        let nodes = bins + instance.bins.len();
        let admissions = nodes + instance.nodes.len();
        Links { parent: (0..admissions + instance.admissions.len()).collect(), live, starts: [bins, nodes, admissions] }
    }

    fn shape(&self, s: usize) -> usize {
        s
    }

    fn bin(&self, b: usize) -> usize {
        self.starts[0] + b
    }

    fn node(&self, n: usize) -> usize {
        self.starts[1] + n
    }

    fn admission(&self, a: usize) -> usize {
        self.starts[2] + a
    }

    fn root(&mut self, mut x: usize) -> usize {
        while self.parent[x] != x {
            self.parent[x] = self.parent[self.parent[x]];
            x = self.parent[x];
        }
        x
    }

    fn link(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    fn link_all(&mut self, all: impl IntoIterator<Item = usize>) {
        let mut all = all.into_iter();
        if let Some(first) = all.next() {
            all.for_each(|x| self.link(first, x));
        }
    }

    /// Pods that may share a node, pods and the node they run on.
    fn places(&mut self, instance: &Instance) {
        let mut used = FixedBitSet::with_capacity(instance.admissions.len());
        for (s, shape) in instance.shapes.iter().enumerate().filter(|(s, _)| self.live[*s]).collect::<Vec<_>>() {
            for tier in &shape.tiers {
                used.insert(tier.admission);
                self.link(self.shape(s), self.admission(tier.admission));
            }
        }
        for a in used.ones() {
            let admission = &instance.admissions[a];
            for b in admission.bins.ones().filter(|&b| instance.bins[b].buyable) {
                self.link(self.admission(a), self.bin(b));
            }
            for n in admission.nodes.ones() {
                self.link(self.admission(a), self.node(n));
            }
        }
        for (n, node) in instance.nodes.iter().enumerate().filter(|(_, n)| n.removal.is_some()) {
            for &(s, _) in &node.residents {
                self.link(self.node(n), self.shape(s));
            }
        }
    }

    /// Pods that a rule speaks of, and the nodes that may come or go among
    /// those it counts over.
    fn rules(&mut self, instance: &Instance) {
        let goes = |n: usize| instance.nodes[n].removal.is_some();
        for rule in &instance.rules {
            let is_live = |s: &usize| self.live[*s];
            let mut all: Vec<usize> = rule.owners.iter().chain(&rule.selected).copied().filter(is_live).collect();
            if all.is_empty() {
                continue;
            }
            let counted = rule.present.iter().chain(&rule.present_owners).map(|p| p.0);
            all.extend(counted.filter(|&n| goes(n)).map(|n| self.node(n)));
            if let RuleKind::Spread(spread) = &rule.kind
                && rule.owners.iter().any(|&s| self.live[s])
            {
                all.extend(spread.scope.bins.ones().filter(|&b| instance.bins[b].buyable).map(|b| self.bin(b)));
                all.extend(spread.scope.nodes.ones().filter(|&n| goes(n)).map(|n| self.node(n)));
            }
            self.link_all(all);
        }
    }

    /// What draws on an amount that might not be enough for all.
    fn amounts(&mut self, instance: &Instance) {
        let pods = i64::try_from(instance.movable_pods()).unwrap_or(i64::MAX);
        let bins = || instance.bins.iter().enumerate().filter(|(_, b)| b.buyable);
        let going = || instance.nodes.iter().enumerate().filter(|(_, n)| n.removal.is_some());
        for (l, limit) in instance.limits.iter().enumerate() {
            let draws = |uses: &[(usize, i64)]| uses.iter().filter(|u| u.0 == l).map(|u| u.1).max().unwrap_or(0);
            let most = bins().map(|(_, b)| draws(&b.limit_use)).max().unwrap_or(0);
            if most.saturating_mul(pods) > limit.max {
                let of_bins = bins().filter(|(_, b)| draws(&b.limit_use) > 0).map(|(b, _)| self.bin(b));
                let of_nodes = going().filter(|(_, n)| draws(&n.limit_use) > 0).map(|(n, _)| self.node(n));
                let all: Vec<usize> = of_bins.chain(of_nodes).collect();
                self.link_all(all);
            }
        }
        for (s, supply) in instance.supplies.iter().enumerate() {
            if i64::from(supply.count) < pods {
                let of_bins = bins().filter(|(_, b)| b.supply == Some(s)).map(|(b, _)| self.bin(b));
                let of_nodes = going().filter(|(_, n)| n.supply == Some(s)).map(|(n, _)| self.node(n));
                let all: Vec<usize> = of_bins.chain(of_nodes).collect();
                self.link_all(all);
            }
        }
        for (g, budget) in instance.budgets.iter().enumerate() {
            let draw = |n: &crate::instance::Node| {
                n.removal.iter().flat_map(|r| &r.budgets).filter(|d| d.0 == g).map(|d| d.1).sum::<i64>()
            };
            if going().map(|(_, n)| draw(n)).fold(0, i64::saturating_add) > budget.max {
                let all: Vec<usize> = going().filter(|(_, n)| draw(n) > 0).map(|(n, _)| self.node(n)).collect();
                self.link_all(all);
            }
        }
    }
}
