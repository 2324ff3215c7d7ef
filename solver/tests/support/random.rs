//! Small random instances with every kind of rule mixed.
#![allow(dead_code)]

use fixedbitset::FixedBitSet;
use millwright_solver::instance::*;
use rand::{RngExt, rngs::StdRng};

fn subset(rng: &mut StdRng, n: usize, p: f64) -> Vec<usize> {
    (0..n).filter(|_| rng.random_bool(p)).collect()
}

fn bits(n: usize, ones: impl Iterator<Item = usize>) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(n);
    ones.for_each(|i| set.insert(i));
    set
}

/// Up to `most_shapes` shapes of a few pods on a dozen bins and a few nodes.
pub fn random_instance(rng: &mut StdRng, most_shapes: usize, most_count: u32) -> Instance {
    let mut instance = Instance { dims: 3, keys: 2, domains: vec![3, 2], ..Instance::default() };
    let shapes = rng.random_range(1..=most_shapes);
    let bins = rng.random_range(1..14);
    let nodes = if rng.random_bool(0.6) { rng.random_range(0..5) } else { 0 };
    let domain = |rng: &mut StdRng| {
        let d = |rng: &mut StdRng, n: u32| (!rng.random_bool(0.05)).then(|| rng.random_range(0..n));
        vec![d(rng, 3), d(rng, 2)]
    };
    if rng.random_bool(0.3) {
        instance.limits.push(Limit { max: rng.random_range(0..80) });
    }
    if rng.random_bool(0.3) {
        instance.supplies.push(Supply { count: rng.random_range(0..4) });
    }
    for _ in 0..bins {
        let size = rng.random_range(1..=4_i64);
        instance.bins.push(Bin {
            capacity: vec![size * 10 + rng.random_range(0..5), size * rng.random_range(8..20), rng.random_range(2..12)],
            price: if rng.random_bool(0.03) { 0 } else { size * rng.random_range(80..130) },
            domain: domain(rng),
            limit_use: if !instance.limits.is_empty() && rng.random_bool(0.7) { vec![(0, size * 4)] } else { vec![] },
            supply: (!instance.supplies.is_empty() && rng.random_bool(0.3)).then_some(0),
            buyable: rng.random_bool(0.97),
            in_bound: true,
        });
    }
    for _ in 0..nodes {
        instance.nodes.push(Node {
            free: vec![rng.random_range(0..30), rng.random_range(0..30), rng.random_range(0..8)],
            domain: domain(rng),
            residents: subset(rng, shapes, 0.15).into_iter().map(|s| (s, rng.random_range(1..3))).collect(),
            price: 100,
            removal: None,
            limit_use: vec![],
            supply: None,
        });
    }
    let rules = rng.random_range(0..5);
    for _ in 0..rules {
        let rule = random_rule(rng, &instance, shapes);
        instance.rules.push(rule);
    }
    for _ in 0..shapes {
        let demand = vec![rng.random_range(1..14), rng.random_range(1..14), 1];
        let tiers = if rng.random_bool(0.04) { 0 } else { 1 + usize::from(rng.random_bool(0.25)) };
        let shape = Shape {
            demand,
            count: rng.random_range(0..=most_count),
            priority: if rng.random_bool(0.2) { 10 } else { 0 },
            tiers: vec![],
        };
        instance.shapes.push(shape);
        let s = instance.shapes.len() - 1;
        for t in 0..tiers {
            let p = if t == 0 { [1.0, 0.5][rng.random_range(0..2)] } else { 0.9 };
            let bins: Vec<usize> =
                subset(rng, bins, p).into_iter().filter(|&b| instance.fits(s, &instance.bins[b].capacity)).collect();
            let nodes: Vec<usize> =
                subset(rng, nodes, p).into_iter().filter(|&n| instance.fits(s, &instance.nodes[n].free)).collect();
            instance.admissions.push(Admission {
                bins: bits(instance.bins.len(), bins.into_iter()),
                nodes: bits(instance.nodes.len(), nodes.into_iter()),
            });
            let waived = if t == 0 { vec![] } else { subset(rng, instance.rules.len(), 0.5) };
            instance.shapes[s].tiers.push(Tier { admission: instance.admissions.len() - 1, waived });
        }
    }
    if rng.random_bool(0.2) {
        let group = subset(rng, instance.bins.len(), 0.7);
        let value = group.iter().map(|_| rng.random_range(0..4)).collect();
        instance.varieties.push(Variety { bins: group, value, least: rng.random_range(1..3) });
    }
    instance
}

fn random_rule(rng: &mut StdRng, instance: &Instance, shapes: usize) -> Rule {
    let key = match rng.random_range(0..5) {
        0 | 1 => Key::Host,
        2 | 3 => Key::Domain(0),
        _ => Key::Domain(1),
    };
    let kind = match rng.random_range(0..3) {
        0 => {
            let whole = rng.random_bool(0.8);
            let scope = |n: usize, rng: &mut StdRng| {
                let p = if whole { 1.0 } else { 0.7 };
                let ones = subset(rng, n, p);
                bits(n, ones.into_iter())
            };
            let eligible = match key {
                Key::Domain(k) => {
                    let p = if rng.random_bool(0.7) { 1.0 } else { 0.5 };
                    subset(rng, instance.domains[k] as usize, p).into_iter().map(|d| d as u32).collect()
                }
                Key::Host => vec![],
            };
            let (bins, nodes) = (scope(instance.bins.len(), rng), scope(instance.nodes.len(), rng));
            RuleKind::Spread(Spread {
                max_skew: rng.random_range(1..3),
                min_domains: if rng.random_bool(0.2) { rng.random_range(1..4) } else { 1 },
                eligible,
                scope: Scope { bins, nodes },
            })
        }
        1 => RuleKind::Anti,
        _ => RuleKind::Affinity,
    };
    let owners = subset(rng, shapes, 0.4);
    let selected = match rng.random_range(0..3) {
        0 => owners.clone(),
        1 => subset(rng, shapes, 0.4),
        _ => {
            let mut both = owners.clone();
            both.extend(subset(rng, shapes, 0.3));
            both.sort_unstable();
            both.dedup();
            both
        }
    };
    let there = |rng: &mut StdRng, p: f64| -> Vec<(usize, u32)> {
        (0..instance.nodes.len()).filter(|_| rng.random_bool(p)).map(|n| (n, 1)).collect()
    };
    let present = there(rng, 0.2);
    let present_owners = there(rng, 0.1);
    Rule { key, kind, owners, selected, present, present_owners }
}
