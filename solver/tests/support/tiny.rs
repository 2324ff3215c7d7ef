//! Tiny random instances with every kind of rule, all their plans, and a
//! naive judge of each.
#![allow(dead_code, clippy::unwrap_used)]

use fixedbitset::FixedBitSet;
use millwright_solver::instance::*;
use millwright_solver::plan::{NewNode, Plan};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::collections::{BTreeMap, BTreeSet};

fn set(len: usize, mut yes: impl FnMut(usize) -> bool) -> FixedBitSet {
    let mut s = FixedBitSet::with_capacity(len);
    (0..len).for_each(|i| s.set(i, yes(i)));
    s
}

/// At most `pods` pods on at most three bins and two nodes.
pub fn instance(seed: u64, pods: u32) -> Instance {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut i = Instance { dims: 2, keys: 1, domains: vec![2], ..Instance::default() };
    let bins = rng.random_range(1..=3);
    let nodes = rng.random_range(0..=2);
    let domain = |rng: &mut StdRng| vec![if rng.random_bool(0.9) { Some(rng.random_range(0..2)) } else { None }];
    for _ in 0..rng.random_range(0..=1) {
        i.limits.push(Limit { max: rng.random_range(0..12) });
    }
    for _ in 0..rng.random_range(0..=1) {
        i.supplies.push(Supply { count: rng.random_range(0..3) });
    }
    for _ in 0..bins {
        i.bins.push(Bin {
            capacity: vec![rng.random_range(2..9), rng.random_range(1..5)],
            price: if rng.random_bool(0.1) { 0 } else { rng.random_range(1..20) * 1000 },
            domain: domain(&mut rng),
            limit_use: i.limits.iter().enumerate().map(|(l, _)| (l, rng.random_range(0..5))).collect(),
            supply: (!i.supplies.is_empty() && rng.random_bool(0.3)).then_some(0),
            buyable: true,
            in_bound: true,
        });
    }
    let mut left = rng.random_range(1..=pods);
    let mut shapes = 0;
    while left > 0 {
        let count = rng.random_range(1..=left.min(3));
        left -= count;
        shapes += 1;
        i.shapes.push(Shape {
            demand: vec![rng.random_range(0..6), 1],
            count,
            priority: rng.random_range(0..2),
            tiers: Vec::new(),
        });
    }
    for _ in 0..nodes {
        let residents =
            if rng.random_bool(0.3) { vec![(rng.random_range(0..shapes), rng.random_range(1..3))] } else { vec![] };
        i.nodes.push(Node {
            free: vec![rng.random_range(0..6), rng.random_range(0..3)],
            domain: domain(&mut rng),
            residents,
            price: 5000,
            removal: None,
            limit_use: vec![],
            supply: None,
        });
    }
    let some = |rng: &mut StdRng| (0..shapes).filter(|_| rng.random_bool(0.5)).collect::<Vec<usize>>();
    for _ in 0..rng.random_range(0..=2) {
        let key = if rng.random_bool(0.5) { Key::Host } else { Key::Domain(0) };
        let owners = some(&mut rng);
        let selected = if rng.random_bool(0.6) { owners.clone() } else { some(&mut rng) };
        let kind = match rng.random_range(0..3) {
            0 => RuleKind::Anti,
            1 => RuleKind::Affinity,
            _ => RuleKind::Spread(Spread {
                max_skew: rng.random_range(1..3),
                min_domains: rng.random_range(0..3),
                eligible: if key == Key::Host || rng.random_bool(0.4) { vec![] } else { vec![0, 1] },
                scope: Scope { bins: set(bins, |_| rng.random_bool(0.9)), nodes: set(nodes, |_| rng.random_bool(0.9)) },
            }),
        };
        let on = |rng: &mut StdRng| (0..nodes).filter(|_| rng.random_bool(0.2)).map(|n| (n, 1)).collect();
        let (present, present_owners) = (on(&mut rng), on(&mut rng));
        i.rules.push(Rule { key, kind, owners, selected, present, present_owners });
    }
    for s in 0..shapes {
        for _ in 0..if rng.random_bool(0.25) { 2 } else { 1 } {
            let a = Admission {
                bins: set(bins, |b| rng.random_bool(0.8) && i.fits(s, &i.bins[b].capacity)),
                nodes: set(nodes, |n| rng.random_bool(0.8) && i.fits(s, &i.nodes[n].free)),
            };
            let waived = if i.shapes[s].tiers.is_empty() {
                vec![]
            } else {
                (0..i.rules.len()).filter(|&r| i.rules[r].owned_by(s) && rng.random_bool(0.5)).collect()
            };
            i.admissions.push(a);
            i.shapes[s].tiers.push(Tier { admission: i.admissions.len() - 1, waived });
        }
    }
    if rng.random_bool(0.15) {
        i.varieties.push(Variety {
            bins: (0..bins).collect(),
            value: (0..bins as u32).collect(),
            least: rng.random_range(1..3),
        });
    }
    i.validate().unwrap();
    i
}

/// A pod with its place and tier.
#[derive(Clone, Copy, Debug)]
struct Pod {
    shape: usize,
    tier: usize,
    /// Index into the places.
    place: usize,
}

/// All plans with whether some division into tiers makes them legal.
pub fn all_plans(i: &Instance) -> BTreeMap<Vec<u8>, (Plan, bool)> {
    let pods: Vec<usize> = i.shapes.iter().enumerate().flat_map(|(s, x)| vec![s; x.count as usize]).collect();
    let mut out = BTreeMap::new();
    let mut walk = Walk { i, pods: &pods, bought: Vec::new(), placed: Vec::new(), unserved: Vec::new(), out: &mut out };
    walk.go(0);
    out
}

struct Walk<'a> {
    i: &'a Instance,
    pods: &'a [usize],
    bought: Vec<usize>,
    placed: Vec<Pod>,
    unserved: Vec<usize>,
    out: &'a mut BTreeMap<Vec<u8>, (Plan, bool)>,
}

impl Walk<'_> {
    fn go(&mut self, at: usize) {
        let Some(&shape) = self.pods.get(at) else { return self.leaf() };
        let nodes = self.i.nodes.len();
        // Equal pods in ascending order of place: no order is lost.
        let from = self.placed.last().filter(|p| at > 0 && self.pods[at - 1] == shape && p.shape == shape);
        let from = if self.unserved.last() == Some(&shape) { usize::MAX } else { from.map_or(0, |p| p.place) };
        for tier in 0..self.i.shapes[shape].tiers.len() {
            for place in 0..nodes + self.bought.len() {
                if place >= from {
                    self.placed.push(Pod { shape, tier, place });
                    self.go(at + 1);
                    self.placed.pop();
                }
            }
            if from != usize::MAX {
                for bin in 0..self.i.bins.len() {
                    self.bought.push(bin);
                    self.placed.push(Pod { shape, tier, place: nodes + self.bought.len() - 1 });
                    self.go(at + 1);
                    self.placed.pop();
                    self.bought.pop();
                }
            }
        }
        self.unserved.push(shape);
        self.go(at + 1);
        self.unserved.pop();
    }

    fn leaf(&mut self) {
        let nodes = self.i.nodes.len();
        let mut contents: Vec<BTreeMap<usize, u32>> = vec![BTreeMap::new(); nodes + self.bought.len()];
        let mut demoted: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for p in &self.placed {
            *contents[p.place].entry(p.shape).or_default() += 1;
            if p.tier > 0 {
                *demoted.entry((p.shape, p.tier)).or_default() += 1;
            }
        }
        let mut unserved: BTreeMap<usize, u32> = BTreeMap::new();
        self.unserved.iter().for_each(|&s| *unserved.entry(s).or_default() += 1);
        let list = |c: &BTreeMap<usize, u32>| c.iter().map(|(&s, &n)| (s, n)).collect::<Vec<_>>();
        let plan = Plan {
            bought: self
                .bought
                .iter()
                .enumerate()
                .map(|(k, &bin)| NewNode { bin, contents: list(&contents[nodes + k]) })
                .collect(),
            placed: (0..nodes).filter(|&n| !contents[n].is_empty()).map(|n| (n, list(&contents[n]))).collect(),
            removed: vec![],
            unserved: list(&unserved),
            demoted: demoted.into_iter().map(|((s, t), n)| (s, t, n)).collect(),
        };
        let key = format!("{plan:?}").into_bytes();
        if self.out.get(&key).is_some_and(|e| e.1) {
            return;
        }
        let legal = legal(self.i, &self.bought, &self.placed);
        self.out.entry(key).or_insert((plan, false)).1 |= legal;
    }
}

fn domain<'a>(i: &'a Instance, bought: &[usize], place: usize) -> &'a [Option<u32>] {
    match i.nodes.get(place) {
        Some(n) => &n.domain,
        None => &i.bins[bought[place - i.nodes.len()]].domain,
    }
}

/// Judges explicit pods by the words of the rules.
fn legal(i: &Instance, bought: &[usize], pods: &[Pod]) -> bool {
    let nodes = i.nodes.len();
    for place in 0..nodes + bought.len() {
        let room = if place < nodes { &i.nodes[place].free } else { &i.bins[bought[place - nodes]].capacity };
        for (d, &room) in room.iter().enumerate() {
            let used: i64 = pods.iter().filter(|p| p.place == place).map(|p| i.shapes[p.shape].demand[d]).sum();
            if used > room {
                return false;
            }
        }
    }
    let admits = |p: &Pod, bin: usize| i.admissions[i.shapes[p.shape].tiers[p.tier].admission].bins.contains(bin);
    for p in pods {
        let a = &i.admissions[i.shapes[p.shape].tiers[p.tier].admission];
        let ok = if p.place < nodes { a.nodes.contains(p.place) } else { admits(p, bought[p.place - nodes]) };
        if !ok {
            return false;
        }
    }
    for (l, limit) in i.limits.iter().enumerate() {
        let used: i64 = bought.iter().flat_map(|&b| &i.bins[b].limit_use).filter(|u| u.0 == l).map(|u| u.1).sum();
        if used > limit.max && used > 0 {
            return false;
        }
    }
    for (s, supply) in i.supplies.iter().enumerate() {
        if bought.iter().filter(|&&b| i.bins[b].supply == Some(s)).count() > supply.count as usize {
            return false;
        }
    }
    for v in &i.varieties {
        for (k, bin) in bought.iter().enumerate().filter(|(_, b)| v.bins.contains(b)) {
            let _ = bin;
            let here: Vec<&Pod> = pods.iter().filter(|p| p.place == nodes + k).collect();
            let values: BTreeSet<u32> = v
                .bins
                .iter()
                .zip(&v.value)
                .filter(|&(&b, _)| {
                    here.iter().all(|p| admits(p, b))
                        && (0..i.dims).all(|d| {
                            here.iter().map(|p| i.shapes[p.shape].demand[d]).sum::<i64>() <= i.bins[b].capacity[d]
                        })
                })
                .map(|(_, &x)| x)
                .collect();
            if values.len() < v.least as usize {
                return false;
            }
        }
    }
    (0..i.rules.len()).all(|r| rule_holds(i, bought, pods, r))
}

fn owns(i: &Instance, r: usize, p: &Pod) -> bool {
    i.rules[r].owned_by(p.shape) && !i.shapes[p.shape].tiers[p.tier].waived.contains(&r)
}

/// Some order of arrival in which each pod is legal when it comes; for a
/// spread without strangers the final state decides.
fn rule_holds(i: &Instance, bought: &[usize], pods: &[Pod], r: usize) -> bool {
    let rule = &i.rules[r];
    let touched: Vec<Pod> = pods.iter().copied().filter(|p| rule.selects(p.shape) || rule.owned_by(p.shape)).collect();
    let strangers = touched.iter().any(|p| rule.selects(p.shape) && !owns(i, r, p));
    if let RuleKind::Spread(_) = rule.kind
        && !strangers
    {
        return touched.iter().filter(|p| owns(i, r, p)).all(|p| spread_ok(i, bought, &touched, r, p, false));
    }
    some_order(i, bought, &mut touched.clone(), &mut Vec::new(), r)
}

fn some_order(i: &Instance, bought: &[usize], left: &mut Vec<Pod>, there: &mut Vec<Pod>, r: usize) -> bool {
    if left.is_empty() {
        return true;
    }
    for k in 0..left.len() {
        let p = left.remove(k);
        let ok = match &i.rules[r].kind {
            RuleKind::Spread(_) => !owns(i, r, &p) || spread_ok(i, bought, there, r, &p, true),
            RuleKind::Anti => anti_ok(i, bought, there, r, &p),
            RuleKind::Affinity => !owns(i, r, &p) || affinity_ok(i, bought, there, r, &p),
        };
        if ok {
            there.push(p);
            if some_order(i, bought, left, there, r) {
                return true;
            }
            there.pop();
        }
        left.insert(k, p);
    }
    false
}

fn same(i: &Instance, bought: &[usize], r: usize, a: usize, b: usize) -> bool {
    match i.rules[r].key {
        Key::Host => a == b,
        Key::Domain(k) => domain(i, bought, a)[k].is_some() && domain(i, bought, a)[k] == domain(i, bought, b)[k],
    }
}

/// Selected pods that run on a node.
fn runs(i: &Instance, r: usize, n: usize) -> u32 {
    let rule = &i.rules[r];
    let residents: u32 = i.nodes[n].residents.iter().filter(|x| rule.selects(x.0)).map(|x| x.1).sum();
    residents + rule.present.iter().filter(|x| x.0 == n).map(|x| x.1).sum::<u32>()
}

fn spread_ok(i: &Instance, bought: &[usize], there: &[Pod], r: usize, p: &Pod, arriving: bool) -> bool {
    let rule = &i.rules[r];
    let RuleKind::Spread(s) = &rule.kind else { return true };
    let nodes = i.nodes.len();
    let places = nodes + bought.len();
    let in_scope =
        |x: usize| if x < nodes { s.scope.nodes.contains(x) } else { s.scope.bins.contains(bought[x - nodes]) };
    let name = |x: usize| match rule.key {
        Key::Host => Some(x),
        Key::Domain(k) => domain(i, bought, x)[k].map(|d| d as usize),
    };
    let Some(mine) = name(p.place) else { return false };
    let mut count: BTreeMap<usize, u32> = BTreeMap::new();
    if rule.key != Key::Host {
        s.eligible.iter().for_each(|&d| *count.entry(d as usize).or_default() += 0);
    }
    for x in (0..places).filter(|&x| in_scope(x)) {
        if let Some(d) = name(x) {
            let mut n = if x < nodes { runs(i, r, x) } else { 0 };
            n += there.iter().filter(|q| q.place == x && rule.selects(q.shape)).count() as u32;
            *count.entry(d).or_default() += n;
        }
    }
    let short = count.len() < s.min_domains as usize;
    let minimum = if short { 0 } else { count.values().copied().min().unwrap_or(0) };
    let me = u32::from(arriving && rule.selects(p.shape));
    count.get(&mine).copied().unwrap_or(0) + me <= minimum + s.max_skew
}

fn anti_ok(i: &Instance, bought: &[usize], there: &[Pod], r: usize, p: &Pod) -> bool {
    let rule = &i.rules[r];
    let near = |x: usize| same(i, bought, r, p.place, x);
    if owns(i, r, p) {
        let new = there.iter().any(|q| near(q.place) && rule.selects(q.shape));
        let old = (0..i.nodes.len()).any(|n| near(n) && runs(i, r, n) > 0);
        if new || old {
            return false;
        }
    }
    if rule.selects(p.shape) {
        let firm = |s: usize| rule.owned_by(s) && i.shapes[s].tiers.iter().all(|t| !t.waived.contains(&r));
        let new = there.iter().any(|q| near(q.place) && owns(i, r, q));
        let old = (0..i.nodes.len()).any(|n| {
            near(n)
                && (rule.present_owners.iter().any(|x| x.0 == n && x.1 > 0)
                    || i.nodes[n].residents.iter().any(|x| x.1 > 0 && firm(x.0)))
        });
        if new || old {
            return false;
        }
    }
    true
}

fn affinity_ok(i: &Instance, bought: &[usize], there: &[Pod], r: usize, p: &Pod) -> bool {
    let rule = &i.rules[r];
    if let Key::Domain(k) = rule.key
        && domain(i, bought, p.place)[k].is_none()
    {
        return false;
    }
    let near = |x: usize| same(i, bought, r, p.place, x);
    let company = there.iter().any(|q| near(q.place) && rule.selects(q.shape))
        || (0..i.nodes.len()).any(|n| near(n) && runs(i, r, n) > 0);
    let nobody = !there.iter().any(|q| rule.selects(q.shape)) && (0..i.nodes.len()).all(|n| runs(i, r, n) == 0);
    company || (nobody && rule.selects(p.shape))
}

/// What an optimum minimises, in order.
pub fn rank(i: &Instance, p: &Plan) -> (Vec<u32>, Vec<u32>, Micros, usize) {
    let mut unserved: BTreeMap<std::cmp::Reverse<i32>, u32> =
        i.shapes.iter().map(|s| (std::cmp::Reverse(s.priority), 0)).collect();
    p.unserved.iter().for_each(|&(s, n)| *unserved.entry(std::cmp::Reverse(i.shapes[s].priority)).or_default() += n);
    let later = |t: usize| p.demoted.iter().filter(|d| d.1 >= t).map(|d| d.2).sum();
    (unserved.into_values().collect(), (1..3).rev().map(later).collect(), p.bought_cost(i), p.bought.len())
}
