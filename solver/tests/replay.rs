//! Equal input gives equal output; the order of shapes and bins does not
//! change what a plan costs.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#[path = "support/families.rs"]
mod families;

use families::{Family, generate, shuffled};
use millwright_solver::engine::{Options, solve};
use rand::{SeedableRng, rngs::StdRng};
use std::time::Duration;

fn options(seed: u64) -> Options {
    Options { iterations: Some(8), seed, ..Options::default() }
}

#[test]
fn the_same_seed_replays_bit_for_bit() {
    for family in [Family::Free, Family::Constrained, Family::Five] {
        let instance = generate(family, 300, 3, false);
        let run = || solve(&instance, &options(5), &|| Duration::ZERO).unwrap();
        let (a, b) = (run(), run());
        assert_eq!(a.plan, b.plan, "{family:?}");
        assert_eq!((a.bound, a.certificate), (b.bound, b.certificate), "{family:?}");
    }
}

#[test]
fn shuffled_shapes_and_bins_cost_the_same() {
    let mut rng = StdRng::seed_from_u64(11);
    for seed in 0..6 {
        let instance = generate(Family::Free, 300, seed, false);
        let cost = |i: &millwright_solver::instance::Instance| {
            solve(i, &options(1), &|| Duration::ZERO).unwrap().plan.bought_cost(i)
        };
        let want = cost(&instance);
        for _ in 0..3 {
            assert_eq!(cost(&shuffled(&instance, &mut rng)), want, "seed {seed}");
        }
    }
}

#[test]
fn the_bound_stays_below_the_cost() {
    for (family, seed) in [(Family::Free, 1), (Family::Constrained, 2), (Family::Five, 3)] {
        let instance = generate(family, 400, seed, true);
        let out = solve(&instance, &options(1), &|| Duration::ZERO).unwrap();
        let cost = out.plan.bought_cost(&instance);
        assert!(out.bound > 0 && out.bound <= cost, "{family:?}: {} against {cost}", out.bound);
    }
}
