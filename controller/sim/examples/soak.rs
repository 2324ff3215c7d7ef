//! `soak FROM COUNT [-v]`: runs seeds on all processors and prints those that
//! fail.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use millwright_core::control::brain::Brain;
use millwright_sim::{Options, run};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (from, count) = (number(0, 0), number(1, 1000));
    let verbose = arguments.iter().any(|a| a == "-v");
    let began = std::time::Instant::now();
    let (next, done) = (AtomicU64::new(from), AtomicU64::new(0));
    let failed = Mutex::new(Vec::new());
    let lane = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= from + count {
                return;
            }
            let options = Options { verbose, ..Options::of(seed) };
            let outcome = run(options, &|settings| Brain::new(settings.clone()));
            // A panic in another lane has ended the run anyway.
            let Ok(mut failed) = failed.lock() else { return };
            if let Err(violation) = outcome {
                // Whoever reads along sees every failure at once.
                println!("{violation}");
                drop(std::io::stdout().flush());
                failed.push((seed, violation.rule));
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(100) {
                eprintln!("{done} of {count} seeds, {} failed, {:?}", failed.len(), began.elapsed());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(lane);
        }
    });
    let mut failed = failed.into_inner().unwrap_or_default();
    failed.sort_unstable();
    for (seed, rule) in &failed {
        println!("seed {seed}: {rule}");
    }
    println!("{} of {count} seeds failed in {:?}", failed.len(), began.elapsed());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
