//! Answers against a plain assignment program: which pod on which of as many
//! nodes as there are pods.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use fixedbitset::FixedBitSet;
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, constraint, highs, variable};
use millwright_solver::engine::{Options, solve};
use millwright_solver::instance::*;
use millwright_solver::{bound::Certifier, check};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::time::Duration;

const ZONES: u32 = 2;

/// Up to `pods` pods on up to five bins in two zones, some groups kept apart
/// on hosts or spread over zones, sometimes a limit.
fn instance(seed: u64, pods: u32) -> Instance {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut i = Instance { dims: 2, keys: 1, domains: vec![ZONES], ..Instance::default() };
    if rng.random_bool(0.3) {
        i.limits.push(Limit { max: rng.random_range(10..60) });
    }
    let mut bins: Vec<Bin> = Vec::new();
    for b in 0..rng.random_range(2..=5) {
        let cpu = rng.random_range(3..16);
        bins.push(Bin {
            capacity: vec![cpu, rng.random_range(2..8)],
            price: cpu * rng.random_range(800..1300),
            domain: vec![Some(b % ZONES)],
            limit_use: i.limits.iter().map(|_| (0, cpu)).collect(),
            supply: None,
            buyable: true,
            in_bound: true,
        });
    }
    i.bins = bins;
    let mut left = pods;
    while left > 0 {
        let count = rng.random_range(1..=left.min(3));
        left -= count;
        let demand = vec![rng.random_range(1..6), 1];
        let mut bins = FixedBitSet::with_capacity(i.bins.len());
        for (b, bin) in i.bins.iter().enumerate() {
            bins.set(b, rng.random_bool(0.85) && bin.capacity[0] >= demand[0]);
        }
        let tiers = vec![Tier { admission: i.admissions.len(), waived: vec![] }];
        i.admissions.push(Admission { bins, nodes: FixedBitSet::new() });
        i.shapes.push(Shape { demand, count, priority: 0, tiers });
    }
    for _ in 0..rng.random_range(0..=2) {
        let group: Vec<usize> = (0..i.shapes.len()).filter(|_| rng.random_bool(0.4)).collect();
        let mut all = FixedBitSet::with_capacity(i.bins.len());
        all.insert_range(..);
        let scope = Scope { bins: all, nodes: FixedBitSet::new() };
        let (key, kind) = match rng.random_range(0..2) {
            0 => (Key::Host, RuleKind::Anti),
            _ => {
                let eligible = (0..ZONES).collect();
                (Key::Domain(0), RuleKind::Spread(Spread { max_skew: 1, min_domains: 1, eligible, scope }))
            }
        };
        let (owners, selected) = (group.clone(), group);
        i.rules.push(Rule { key, kind, owners, selected, present: vec![], present_owners: vec![] });
    }
    i
}

/// The least cost of serving everybody, if that is possible.
fn reference(i: &Instance) -> Option<Micros> {
    let slots = i.pods() as usize;
    let mut vars = ProblemVariables::new();
    let bought: Vec<Vec<Variable>> =
        (0..slots).map(|_| i.bins.iter().map(|_| vars.add(variable().binary())).collect()).collect();
    // Pods per slot, shape and zone.
    let pods: Vec<Vec<Vec<Variable>>> = (0..slots)
        .map(|_| {
            let zones = |s: &Shape, vars: &mut ProblemVariables| {
                (0..ZONES).map(|_| vars.add(variable().integer().min(0).max(s.count))).collect()
            };
            i.shapes.iter().map(|s| zones(s, &mut vars)).collect()
        })
        .collect();
    let cost: Expression = bought.iter().flat_map(|y| y.iter().zip(&i.bins)).map(|(&y, b)| b.price as f64 * y).sum();
    let mut model = vars.minimise(cost.clone()).using(highs);
    let sum = |all: &mut dyn Iterator<Item = Variable>| all.fold(Expression::from(0), |e, v| e + v);
    for (y, x) in bought.iter().zip(&pods) {
        model = model.with(constraint!(sum(&mut y.iter().copied()) <= 1));
        for d in 0..i.dims {
            let used: Expression =
                x.iter().zip(&i.shapes).flat_map(|(x, s)| x.iter().map(|&v| s.demand[d] as f64 * v)).sum();
            let room: Expression = y.iter().zip(&i.bins).map(|(&y, b)| b.capacity[d] as f64 * y).sum();
            model = model.with(constraint!(used <= room));
        }
        for (x, s) in x.iter().zip(&i.shapes) {
            let bins = &i.admissions[s.tiers[0].admission].bins;
            for (z, &v) in x.iter().enumerate() {
                let open = bins.ones().filter(|&b| i.bins[b].domain[0] == Some(z as u32)).map(|b| y[b]);
                let open = sum(&mut { open });
                model = model.with(constraint!(v <= f64::from(s.count) * open));
            }
        }
        for rule in i.rules.iter().filter(|r| r.key == Key::Host) {
            let held = sum(&mut rule.owners.iter().flat_map(|&s| x[s].iter().copied()));
            model = model.with(constraint!(held <= 1));
        }
    }
    for (s, shape) in i.shapes.iter().enumerate() {
        let placed = sum(&mut pods.iter().flat_map(|x| x[s].iter().copied()));
        model = model.with(constraint!(placed == f64::from(shape.count)));
    }
    for rule in i.rules.iter().filter(|r| r.key != Key::Host) {
        let there = |z: usize| sum(&mut pods.iter().flat_map(|x| rule.owners.iter().map(move |&s| x[s][z])));
        for z in 0..ZONES as usize {
            model = model.with(constraint!(there(z) <= there(1 - z) + 1));
        }
    }
    for (l, limit) in i.limits.iter().enumerate() {
        let used: Expression =
            bought.iter().flat_map(|y| y.iter().zip(&i.bins)).map(|(&y, b)| b.limit_use[l].1 as f64 * y).sum();
        model = model.with(constraint!(used <= limit.max as f64));
    }
    model.solve().ok().map(|s| s.eval(&cost).round() as Micros)
}

#[test]
fn small_answers_cost_what_the_assignment_program_says() {
    let mut served = 0;
    for seed in 0..60 {
        let i = instance(seed, 3 + (seed % 4) as u32);
        let options = Options { iterations: Some(20), threads: 1, ..Options::default() };
        let out = solve(&i, &options, &|| Duration::ZERO).unwrap();
        check::plan(&i, &out.plan).unwrap();
        let Some(want) = reference(&i) else {
            assert!(out.plan.unserved_pods() > 0, "seed {seed}: more than possible");
            continue;
        };
        assert_eq!(out.plan.unserved_pods(), 0, "seed {seed}");
        assert_eq!(out.plan.bought_cost(&i), want, "seed {seed}: {:?}", out.plan);
        assert!(out.bound <= want, "seed {seed}");
        let mut certifier = Certifier::for_plan(&i, &out.plan);
        assert!(certifier.fluid() <= want, "seed {seed}");
        served += 1;
    }
    assert!(served > 30, "{served}");
}
