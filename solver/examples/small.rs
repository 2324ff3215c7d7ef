//! Time of solves that no clock limits, on small instances.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/support/families.rs"]
mod families;

use families::{Family, generate};
use millwright_solver::engine::{Options, solve};
use std::time::{Duration, Instant};

fn main() {
    for (family, name) in [(Family::Free, "free"), (Family::Constrained, "constrained"), (Family::Five, "five")] {
        for pods in [3, 10, 30] {
            let mut times: Vec<(Duration, String)> = Vec::new();
            let mut cost = 0;
            for seed in 0..5 {
                let instance = generate(family, pods, seed, true);
                let options = Options { iterations: Some(2), threads: 1, ..Options::default() };
                let start = Instant::now();
                let out = solve(&instance, &options, &|| Duration::ZERO).expect("valid");
                let gap = 100.0
                    * (out.plan.bought_cost(&instance) as f64 / out.claimed.unwrap_or(out.bound).max(1) as f64 - 1.0);
                times.push((start.elapsed(), format!("{} {gap:.2}", out.source)));
                cost += out.plan.bought_cost(&instance);
            }
            times.sort();
            let all: Duration = times.iter().map(|t| t.0).sum();
            println!("{name} {pods}: {cost} median {:?} most {:?} all {all:?}", times[2], times[4]);
        }
    }
}
