//! Many seeds, each a cluster with its own faults, driven by the controller.
#![allow(clippy::unwrap_used)]

use millwright_core::control::brain::Brain;
use millwright_sim::{Options, run};

/// How many seeds a test run plays: each takes about 0.6 s of a processor.
/// `make soak SEEDS=…` plays more.
const SEEDS: u64 = 200;

#[test]
fn schedules() {
    let threads = 2_u64;
    let failed: Vec<String> = std::thread::scope(|scope| {
        let lane = |lane: u64| {
            let seeds = (0..SEEDS).filter(move |seed| seed % threads == lane);
            let play = |seed| run(Options::of(seed), &|settings| Brain::new(settings.clone())).err();
            seeds.filter_map(play).map(|violation| violation.to_string()).collect::<Vec<_>>()
        };
        let lanes: Vec<_> = (0..threads).map(|i| scope.spawn(move || lane(i))).collect();
        lanes.into_iter().flat_map(|l| l.join().unwrap()).collect()
    });
    let first: Vec<&str> = failed.iter().filter_map(|f| f.lines().next()).collect();
    let shown = failed.first().cloned().unwrap_or_default();
    assert!(failed.is_empty(), "{} of {SEEDS} seeds failed:\n{}\n\n{shown}", failed.len(), first.join("\n"));
}
