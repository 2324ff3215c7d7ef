//! Bounds over time on generated instances.
//!
//! `cargo run --release -p millwright-solver --example bound -- [free|constrained|five] [pods] [seconds] [seed] [spot]`
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/support/families.rs"]
mod families;

use families::{Family, generate};
use millwright_solver::bound::{Certifier, Round};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize, default: &str| args.get(i).cloned().unwrap_or_else(|| default.to_string());
    let family = match arg(0, "free").as_str() {
        "constrained" => Family::Constrained,
        "five" => Family::Five,
        _ => Family::Free,
    };
    let pods: u32 = arg(1, "10000").parse().expect("pods");
    let instance = generate(family, pods, arg(3, "1").parse().expect("seed"), arg(4, "") == "spot");
    let served: Vec<_> = instance.shapes.iter().enumerate().map(|(s, x)| (s, 0, x.count)).collect();
    let start = Instant::now();
    let mut c = Certifier::new(&instance, &served);
    println!("reduced: {:?}", start.elapsed());
    let bound = c.fluid();
    println!("fluid: {:.4} after {:?}", bound as f64 / 1e6, start.elapsed());
    let seconds: f64 = arg(2, "1").parse().expect("seconds");
    let stop = || start.elapsed().as_secs_f64() > seconds;
    let mut rounds = 0;
    while !stop() {
        rounds += 1;
        let round = c.round(&stop);
        if rounds % 40 == 1 || round == Round::Converged {
            println!(
                "round {rounds}: {:.4} (estimate), target {:?}, {} columns, {round:?}, {:?}",
                c.estimate(),
                c.target(),
                c.columns().len(),
                start.elapsed()
            );
        }
        if round == Round::Converged {
            break;
        }
    }
    let before = start.elapsed();
    let bound = c.best().0;
    println!("verified: {:.4}; proof took {:?}", bound as f64 / 1e6, start.elapsed() - before);
}
