//! Everything against all plans of tiny instances: the verifier against a
//! naive judge, bounds against optima, the exact answer against the best.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#[path = "support/tiny.rs"]
mod tiny;

use millwright_solver::bound::{Certifier, Served, served};
use millwright_solver::certificate::{BinProof, Certificate, Item, Rounding};
use millwright_solver::instance::{Instance, Micros};
use millwright_solver::plan::Plan;
use millwright_solver::{check, exact};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::collections::BTreeMap;

const CASES: u64 = 250;

#[test]
fn the_verifier_agrees_with_a_naive_judge_on_every_plan() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..CASES {
        let i = tiny::instance(seed, 4);
        for (plan, legal) in tiny::all_plans(&i).into_values() {
            let got = check::plan(&i, &plan);
            assert_eq!(got.is_ok(), legal, "seed {seed}: {got:?} for {plan:?} in {i:#?}");
            if legal { good += 1 } else { bad += 1 }
        }
    }
    assert!(good > 5_000 && bad > 20_000, "{good} legal, {bad} not");
}

/// The least cost per set of served pods.
fn optima(i: &Instance) -> BTreeMap<Vec<Served>, (Micros, Plan)> {
    let mut out: BTreeMap<_, (Micros, Plan)> = BTreeMap::new();
    for (plan, legal) in tiny::all_plans(i).into_values() {
        if legal {
            let cost = plan.bought_cost(i);
            let best = out.entry(served(i, &plan)).or_insert((cost, plan.clone()));
            if cost < best.0 {
                *best = (cost, plan);
            }
        }
    }
    out
}

#[test]
fn no_bound_exceeds_the_optimum_of_what_is_served() {
    let (mut tight, mut all) = (0, 0);
    for seed in 0..CASES {
        let i = tiny::instance(seed, 4);
        for (served, (cost, plan)) in optima(&i) {
            let mut c = Certifier::new(&i, &served);
            let fluid = c.fluid();
            (0..40).for_each(|_| {
                c.round(&|| false);
            });
            let (bound, certificate) = c.best();
            assert!(fluid <= bound, "seed {seed}: rounds lowered the bound");
            assert!(bound <= cost, "seed {seed}: bound {bound} over optimum {cost} of {plan:?} in {i:#?}");
            assert_eq!(check::certificate(&i, &plan, certificate), Ok(bound), "seed {seed}");
            all += 1;
            tight += usize::from(bound * 100 >= cost * 95);
        }
    }
    assert!(tight * 2 > all, "{tight} of {all} bounds are tight");
}

#[test]
fn a_certificate_of_random_numbers_proves_nothing_false() {
    let mut rng = StdRng::seed_from_u64(5);
    let (mut accepted, mut worth) = (0, 0);
    for seed in 0..CASES {
        let i = tiny::instance(seed, 4);
        for (served, (cost, plan)) in optima(&i) {
            let mut c = Certifier::new(&i, &served);
            c.fluid();
            (0..5).for_each(|_| {
                c.round(&|| false);
            });
            let proof = c.best().1.clone();
            for _ in 0..10 {
                let mut p: Certificate = proof.clone();
                let change = |rng: &mut StdRng, v: &mut i64| {
                    if rng.random_bool(0.3) {
                        *v = (*v as f64 * rng.random_range(0.5..1.6)) as i64 + rng.random_range(0..2_000_000);
                    }
                };
                for item in &mut p.items {
                    change(&mut rng, &mut item.dual);
                    item.by_domain.iter_mut().flat_map(|b| &mut b.dual).for_each(|v| change(&mut rng, v));
                }
                p.splits.iter_mut().flat_map(|s| &mut s.dual).for_each(|v| change(&mut rng, v));
                // Any units will do, also if nothing was counted before.
                for _ in 0..rng.random_range(0..3) {
                    let (dim, unit) = (rng.random_range(0..i.dims), rng.random_range(1..6));
                    p.roundings.push(Rounding { dim, unit });
                    let us = p.bins.iter_mut().map(|b| &mut b.u).chain(p.nodes.iter_mut().map(|n| &mut n.u));
                    for u in us {
                        let most = u.iter().copied().max().unwrap_or(0).max(1);
                        u.push(rng.random_range(0..=most));
                        u.iter_mut().for_each(|u| change(&mut rng, u));
                    }
                }
                p.limit_duals.iter_mut().chain(&mut p.supply_duals).for_each(|v| change(&mut rng, v));
                if let Ok(bound) = check::certificate(&i, &plan, &p) {
                    accepted += 1;
                    worth += usize::from(bound > 0);
                    assert!(bound <= cost, "seed {seed}: {bound} over {cost}: {p:#?} in {i:#?}");
                }
            }
        }
    }
    assert!(accepted > 300 && worth > 100, "{accepted} accepted, {worth} above 0");
}

#[test]
fn the_exact_answer_is_the_best_of_all_plans() {
    let (mut proven, mut all) = (0, 0);
    for seed in 0..CASES {
        let i = tiny::instance(seed, 5);
        let plans = tiny::all_plans(&i);
        let legal = || plans.values().filter(|p| p.1).map(|p| &p.0);
        let best = legal().map(|p| tiny::rank(&i, p)).min().expect("serving nobody is legal");
        // Any legal start must do: take the one served best, at the worst
        // cost.
        let start = legal().min_by_key(|p| {
            let (unserved, later, cost, nodes) = tiny::rank(&i, p);
            (unserved, later, -cost, nodes)
        });
        all += 1;
        if let Some(got) = exact::solve(&i, start.expect("as above"), &|| f64::INFINITY) {
            proven += 1;
            assert_eq!(check::plan(&i, &got.plan), Ok(()));
            assert_eq!(tiny::rank(&i, &got.plan), best, "seed {seed}: {:?} in {i:#?}", got.plan);
            assert_eq!(got.bound, best.2);
        }
    }
    assert!(proven * 10 > all * 8, "{proven} of {all} proven");
}

#[test]
fn fleets_hold_the_best_of_all_plans_that_serve_everybody() {
    let (mut proven, mut better, mut all) = (0, 0, 0);
    for seed in 0..CASES {
        let i = tiny::instance(seed, 5);
        let plans = tiny::all_plans(&i);
        let complete = || plans.values().filter(|p| p.1 && p.0.unserved.is_empty() && p.0.demoted.is_empty());
        let costs = || complete().map(|p| (p.0.bought_cost(&i), p.0.bought.len()));
        let (Some(best), Some(worst)) = (costs().min(), costs().max()) else { continue };
        let start = &complete().find(|p| (p.0.bought_cost(&i), p.0.bought.len()) == worst).unwrap().0;
        all += 1;
        let Some(got) = exact::fleets::solve(&i, start, 0, &|| f64::INFINITY) else { continue };
        let found = got.plan.as_ref().map_or(worst, |p| (p.bought_cost(&i), p.bought.len()));
        if let Some(plan) = &got.plan {
            assert_eq!(check::plan(&i, plan), Ok(()));
            assert!(found < worst, "seed {seed}: no better than the start");
            better += 1;
        }
        assert!(found >= best, "seed {seed}: better than the best");
        if got.proven {
            proven += 1;
            assert_eq!(found, best, "seed {seed}: {:?} in {i:#?}", got.plan);
        }
    }
    assert!(proven * 2 > all && better * 3 > all, "{proven} proven and {better} bettered of {all}");
}

#[test]
fn items_must_value_exactly_what_is_served() {
    let i = tiny::instance(3, 4);
    let (served, (_, plan)) = optima(&i).into_iter().next_back().expect("a plan");
    let mut c = Certifier::new(&i, &served);
    c.fluid();
    let good = c.best().1.clone();
    assert!(check::certificate(&i, &plan, &good).is_ok());
    let mut more = good.clone();
    more.items[0].count += 1;
    assert!(check::certificate(&i, &plan, &more).is_err());
    let mut again = good.clone();
    again.items.push(Item { count: 1, ..good.items[0].clone() });
    assert!(check::certificate(&i, &plan, &again).is_err());
    let mut negative = good;
    negative.bins.push(BinProof { bin: 0, u: vec![-1; i.dims] });
    assert!(check::certificate(&i, &plan, &negative).is_err());
}
