//! Removable nodes: the engine and the verifier against all choices of nodes
//! and all packings of tiny clusters; legality on larger ones.
#![allow(clippy::unwrap_used)]
#[path = "support/random.rs"]
mod random;
#[path = "support/tiny.rs"]
mod tiny;

use millwright_solver::bound::served;
use millwright_solver::check;
use millwright_solver::engine::{Options, solve};
use millwright_solver::instance::*;
use millwright_solver::plan::Plan;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::collections::BTreeMap;
use std::time::Duration;

const CASES: u64 = 130;

/// Gives nodes residents and terms of removal.
fn with_terms(mut i: Instance, rng: &mut StdRng, residents: f64) -> Instance {
    i.budgets = vec![Budget { max: rng.random_range(0..3) }, Budget { max: rng.random_range(1..6) }];
    let shapes = i.shapes.len();
    for n in 0..i.nodes.len() {
        let node = &mut i.nodes[n];
        if node.residents.is_empty() && rng.random_bool(residents) {
            node.residents = vec![(rng.random_range(0..shapes), 1)];
        }
        node.price = rng.random_range(0..15) * 1000;
        let pods: i64 = node.residents.iter().map(|r| i64::from(r.1)).sum();
        if rng.random_bool(0.85) {
            let mut budgets = vec![(0, 1), (1, pods)];
            budgets.retain(|_| rng.random_bool(0.8));
            node.removal =
                Some(Removal { charge: rng.random_range(0..4) * 500, budgets, forced: rng.random_bool(0.15) });
        }
        let draws: Vec<(usize, i64)> = (0..i.limits.len()).map(|l| (l, rng.random_range(0..4))).collect();
        i.nodes[n].limit_use = draws;
        i.nodes[n].supply = (!i.supplies.is_empty() && rng.random_bool(0.3)).then_some(0);
    }
    i.validate().unwrap();
    i
}

/// The problem left once `gone` are gone, by the words of the contract.
fn left(i: &Instance, gone: &[usize]) -> Instance {
    let mut out = i.clone();
    out.budgets.clear();
    for (n, node) in out.nodes.iter_mut().enumerate() {
        node.removal = None;
        if gone.contains(&n) {
            node.residents.iter().for_each(|&(s, c)| out.shapes[s].count += c);
            node.residents.clear();
            node.limit_use.iter().for_each(|&(l, a)| out.limits[l].max += a);
            node.supply.iter().for_each(|&s| out.supplies[s].count += 1);
            out.admissions.iter_mut().for_each(|a| a.nodes.set(n, false));
            for r in &mut out.rules {
                r.present.retain(|p| p.0 != n);
                r.present_owners.retain(|p| p.0 != n);
                if let RuleKind::Spread(s) = &mut r.kind {
                    s.scope.nodes.set(n, false);
                }
            }
        }
    }
    out
}

/// Whether the choice alone is allowed.
fn choosable(i: &Instance, gone: &[usize]) -> bool {
    let forced = i.nodes.iter().enumerate().filter(|(_, n)| n.removal.as_ref().is_some_and(|r| r.forced));
    let draws = |b: usize| -> i64 {
        let all = gone.iter().flat_map(|&n| &i.nodes[n].removal.as_ref().unwrap().budgets);
        all.filter(|d| d.0 == b).map(|d| d.1).sum()
    };
    forced.map(|f| f.0).all(|n| gone.contains(&n)) && i.budgets.iter().enumerate().all(|(b, x)| draws(b) <= x.max)
}

/// Whether all without a place waited before or sat on nodes that must go.
fn nobody_put_out(i: &Instance, plan: &Plan) -> bool {
    plan.unserved.iter().all(|&(s, n)| {
        let forced = i.nodes.iter().filter(|n| n.removal.as_ref().is_some_and(|r| r.forced));
        let theirs: u32 = forced.flat_map(|n| &n.residents).filter(|r| r.0 == s).map(|r| r.1).sum();
        n <= i.shapes[s].count + theirs
    })
}

type Rank = (Vec<u32>, Vec<u32>, Micros, u64, usize, usize);

fn rank(i: &Instance, plan: &Plan) -> Rank {
    let (unserved, later, _, nodes) = tiny::rank(i, plan);
    let money = |n: &usize| i.nodes[*n].removal.as_ref().unwrap().charge - i.nodes[*n].price;
    let cost = plan.bought_cost(i) + plan.removed.iter().map(money).sum::<Micros>();
    assert_eq!(cost, plan.cost(i));
    (unserved, later, cost, plan.evictions(i), plan.removed.len(), nodes)
}

/// A tiny cluster with few enough pods to try everything.
fn tiny_cluster(seed: u64) -> Option<Instance> {
    let mut rng = StdRng::seed_from_u64(seed ^ 0xc0de);
    let i = with_terms(tiny::instance(seed, 2), &mut rng, 0.6);
    let residents: u32 = i.nodes.iter().flat_map(|n| &n.residents).map(|r| r.1).sum();
    (!i.nodes.is_empty() && i.pods() + u64::from(residents) <= 5).then_some(i)
}

/// Every plan for every choice of removable nodes, with its legality.
fn every_plan(i: &Instance) -> Vec<(Plan, bool)> {
    let may: Vec<usize> = (0..i.nodes.len()).filter(|&n| i.nodes[n].removal.is_some()).collect();
    let mut out = Vec::new();
    for mask in 0..1usize << may.len() {
        let gone: Vec<usize> = may.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, &n)| n).collect();
        for (mut plan, legal) in tiny::all_plans(&left(i, &gone)).into_values() {
            // A removed node keeps its position and takes nobody.
            if plan.placed.iter().any(|p| gone.contains(&p.0)) {
                continue;
            }
            plan.removed.clone_from(&gone);
            let legal = legal && choosable(i, &gone) && nobody_put_out(i, &plan);
            out.push((plan, legal));
        }
    }
    out
}

#[test]
fn the_verifier_agrees_with_a_naive_judge_of_every_choice() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..CASES {
        let Some(i) = tiny_cluster(seed) else { continue };
        for (plan, legal) in every_plan(&i) {
            let got = check::plan(&i, &plan);
            assert_eq!(got.is_ok(), legal, "seed {seed}: {got:?} for {plan:?} in {i:#?}");
            if legal { good += 1 } else { bad += 1 }
        }
    }
    assert!(good > 300 && bad > 3_000, "{good} legal, {bad} not");
}

#[test]
fn the_engine_finds_the_best_of_all_choices_and_bounds_it() {
    let (mut solved, mut saved, mut tight, mut claimed) = (0, 0, 0, 0);
    for seed in 0..CASES {
        let Some(i) = tiny_cluster(seed) else { continue };
        let plans = every_plan(&i);
        let Some(best) = plans.iter().filter(|p| p.1).map(|p| rank(&i, &p.0)).min() else {
            let options = Options { iterations: Some(4), threads: 1, ..Options::default() };
            assert!(solve(&i, &options, &|| Duration::ZERO).is_err(), "seed {seed}: no choice is allowed");
            continue;
        };
        let options = Options { iterations: Some(12), threads: 1, ..Options::default() };
        let got = solve(&i, &options, &|| Duration::ZERO).unwrap();
        assert_eq!(check::plan(&i, &got.plan), Ok(()));
        assert_eq!(check::certificate(&i, &got.plan, &got.certificate), Ok(got.bound), "seed {seed}");
        let mine = rank(&i, &got.plan);
        assert_eq!(mine, best, "seed {seed}: {:?} in {i:#?}", got.plan);
        if let Some(c) = got.claimed {
            assert_eq!(c, best.2, "seed {seed}: claims what is not so");
            claimed += 1;
        }
        // The bound holds for every plan that serves the same pods alike.
        let mut least: BTreeMap<_, Micros> = BTreeMap::new();
        for (plan, _) in plans.iter().filter(|p| p.1) {
            let cost = least.entry(served(&i, plan)).or_insert(Micros::MAX);
            *cost = plan.cost(&i).min(*cost);
        }
        let least = least[&served(&i, &got.plan)];
        assert!(got.bound <= least, "seed {seed}: bound {} over {least} in {i:#?}", got.bound);
        solved += 1;
        saved += usize::from(!got.plan.removed.is_empty());
        tight += usize::from(least - got.bound <= 1_000);
    }
    assert!(solved > 40 && saved > 15, "{solved} solved, {saved} with nodes removed");
    assert!(tight * 2 > solved && claimed * 2 > solved, "{tight} tight, {claimed} claimed of {solved}");
}

#[test]
fn a_certificate_with_random_values_for_budgets_proves_nothing_false() {
    let mut rng = StdRng::seed_from_u64(9);
    let mut accepted = 0;
    for seed in 0..CASES {
        let Some(i) = tiny_cluster(seed) else { continue };
        let options = Options { iterations: Some(4), threads: 1, ..Options::default() };
        let Ok(got) = solve(&i, &options, &|| Duration::ZERO) else { continue };
        let pods = served(&i, &got.plan);
        let alike = every_plan(&i).into_iter().filter(|p| p.1 && served(&i, &p.0) == pods);
        let least = alike.map(|p| p.0.cost(&i)).min().unwrap();
        for _ in 0..20 {
            let mut proof = got.certificate.clone();
            proof.budget_duals = i.budgets.iter().map(|_| rng.random_range(0..6_000_000_i64)).collect();
            for item in &mut proof.items {
                item.dual = (item.dual as f64 * rng.random_range(0.5..1.2)) as i64;
            }
            if let Ok(bound) = check::certificate(&i, &got.plan, &proof) {
                accepted += 1;
                assert!(bound <= least, "seed {seed}: {bound} over {least}: {proof:#?} in {i:#?}");
            }
        }
    }
    assert!(accepted > 100, "{accepted} accepted");
}

#[test]
fn plans_of_random_clusters_are_legal_and_proven() {
    let mut removed = 0;
    for seed in 0..60 {
        let mut rng = StdRng::seed_from_u64(seed);
        let i = with_terms(random::random_instance(&mut rng, 6, 6), &mut rng, 0.5);
        let options = Options { iterations: Some(3), threads: 1, seed, ..Options::default() };
        let Ok(got) = solve(&i, &options, &|| Duration::ZERO) else {
            let forced = i.nodes.iter().filter_map(|n| n.removal.as_ref()).any(|r| r.forced);
            assert!(forced, "seed {seed}: only what must go can be too much");
            continue;
        };
        assert_eq!(check::plan(&i, &got.plan), Ok(()), "seed {seed}");
        assert_eq!(check::certificate(&i, &got.plan, &got.certificate), Ok(got.bound), "seed {seed}");
        assert!(got.bound <= got.plan.cost(&i), "seed {seed}");
        removed += got.plan.removed.len();
    }
    assert!(removed > 15, "{removed} removed");
}

/// A cluster without rules: `nodes` half-empty nodes of five types.
fn cluster(nodes: usize, budget: i64, seed: u64) -> Instance {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut i = Instance { dims: 2, budgets: vec![Budget { max: budget }], ..Instance::default() };
    for t in 1..=5_i64 {
        i.bins.push(Bin {
            capacity: vec![t * 4_000, t * 16_000 - 500],
            price: t * 190_000 + 7_000,
            domain: vec![],
            limit_use: vec![],
            supply: None,
            buyable: true,
            in_bound: true,
        });
    }
    let all = |n: usize| {
        let mut set = fixedbitset::FixedBitSet::with_capacity(n);
        set.insert_range(..);
        set
    };
    i.admissions.push(Admission { bins: all(5), nodes: all(nodes) });
    for _ in 0..8 {
        let demand = vec![rng.random_range(100..2_000), rng.random_range(200..6_000)];
        i.shapes.push(Shape { demand, count: 0, priority: 0, tiers: vec![Tier { admission: 0, waived: vec![] }] });
    }
    for _ in 0..nodes {
        let bin = &i.bins[rng.random_range(0..5)];
        let mut node = Node {
            free: bin.capacity.clone(),
            domain: vec![],
            residents: vec![],
            price: bin.price,
            removal: Some(Removal { charge: 0, budgets: vec![(0, 1)], forced: false }),
            limit_use: vec![],
            supply: None,
        };
        let mut pods = BTreeMap::new();
        for _ in 0..rng.random_range(0..6) {
            let s = rng.random_range(0..8);
            if i.fits(s, &node.free) {
                node.free.iter_mut().zip(&i.shapes[s].demand).for_each(|(f, d)| *f -= d);
                *pods.entry(s).or_insert(0) += 1;
            }
        }
        node.residents = pods.into_iter().collect();
        i.nodes.push(node);
    }
    i.validate().unwrap();
    i
}

#[test]
fn equal_input_gives_equal_output() {
    let i = cluster(16, 16, 5);
    let options = Options { iterations: Some(8), threads: 2, ..Options::default() };
    let one = solve(&i, &options, &|| Duration::ZERO).unwrap();
    let two = solve(&i, &options, &|| Duration::from_secs(7)).unwrap();
    assert_eq!((one.plan, one.bound, one.certificate), (two.plan, two.bound, two.certificate));
}

#[test]
fn at_equal_money_fewer_pods_move() {
    // Two nodes alike but for their residents, and a budget for one of them.
    let mut i = cluster(2, 1, 1);
    for (n, pods) in [(0, 3), (1, 1)] {
        i.nodes[n].price = 500_000;
        i.nodes[n].free = vec![9_000, 40_000];
        i.nodes[n].residents = vec![(0, pods)];
    }
    let options = Options { iterations: Some(20), threads: 1, ..Options::default() };
    let got = solve(&i, &options, &|| Duration::ZERO).unwrap();
    assert_eq!((got.plan.removed.clone(), got.plan.evictions(&i)), (vec![1], 1));
    assert!((-500_010..=-500_000).contains(&got.bound), "{}", got.bound);
}
