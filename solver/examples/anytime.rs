//! Cost over the bound after some time, on generated instances.
//!
//! `cargo run --release -p millwright-solver --example anytime -- [free|constrained|five] [pods] [seconds] [seed] [spot]`
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/support/families.rs"]
mod families;

use families::{Family, generate};
use millwright_solver::arrival::Index;
use millwright_solver::engine::{Options, solve};
use millwright_solver::firstfit::first_fit;
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.to_string());
    let family = match arg(0, "free").as_str() {
        "constrained" => Family::Constrained,
        "five" => Family::Five,
        _ => Family::Free,
    };
    let pods: u32 = arg(1, "10000").parse().expect("pods");
    let seconds: f64 = arg(2, "1").parse().expect("seconds");
    let seed: u64 = arg(3, "1").parse().expect("seed");
    let instance = generate(family, pods, seed, arg(4, "") == "spot");
    println!(
        "{family:?} {} pods, {} shapes, {} bins, {} rules",
        instance.pods(),
        instance.shapes.len(),
        instance.bins.len(),
        instance.rules.len()
    );
    // On a busy machine the thread's own CPU time is the fairer clock.
    let cpu = std::env::var_os("CPU_CLOCK").is_some();
    let epoch = Instant::now();
    let now = move || -> Duration {
        let ran = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
        match ran.split(' ').next().and_then(|n| n.parse().ok()) {
            Some(ns) if cpu => Duration::from_nanos(ns),
            _ => epoch.elapsed(),
        }
    };
    let start = now();
    let index = Index::new(&instance);
    let plan = first_fit(&instance, &index);
    println!(
        "first fit: {:.4} $/h, {} nodes, {} unserved, {:?}",
        plan.bought_cost(&instance) as f64 / 1e6,
        plan.bought.len(),
        plan.unserved_pods(),
        now() - start
    );
    let start = now();
    let options = Options { deadline: Some(Duration::from_secs_f64(seconds)), ..Options::default() };
    let out = solve(&instance, &options, &|| now().saturating_sub(start)).expect("a valid instance");
    let cost = out.plan.bought_cost(&instance);
    println!(
        "{}: {:.4} $/h, bound {:.4}, gap {:.3} %, {} nodes, {} unserved, {} rounds, {:?}",
        out.source,
        cost as f64 / 1e6,
        out.bound as f64 / 1e6,
        100.0 * (cost as f64 / out.bound.max(1) as f64 - 1.0),
        out.plan.bought.len(),
        out.plan.unserved_pods(),
        out.rounds,
        now() - start
    );
}
