//! `soak FROM COUNT [-v]`: runs seeds and prints those that fail.

use std::io::Write;
use std::process::ExitCode;

use millwright_core::control::brain::Brain;
use millwright_sim::{Options, run};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (from, count) = (number(0, 0), number(1, 1000));
    let verbose = arguments.iter().any(|a| a == "-v");
    let mut failed = Vec::new();
    let began = std::time::Instant::now();
    for seed in from..from + count {
        let options = Options { verbose, ..Options::of(seed) };
        if let Err(violation) = run(options, &|settings| Brain::new(settings.clone())) {
            println!("{violation}");
            failed.push((seed, violation.rule));
        }
        if (seed - from + 1) % 100 == 0 {
            eprintln!("{} of {count} seeds, {} failed, {:?}", seed - from + 1, failed.len(), began.elapsed());
        }
        // Whoever reads along sees every failure at once.
        drop(std::io::stdout().flush());
    }
    for (seed, rule) in &failed {
        println!("seed {seed}: {rule}");
    }
    println!("{} of {count} seeds failed in {:?}", failed.len(), began.elapsed());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
