//! A seed is played again bit for bit.
#![allow(clippy::unwrap_used)]

mod naive;

use jiff::SignedDuration;
use millwright_sim::{Options, run};
use naive::{Flaw, brain};

#[test]
fn a_seed_replays_and_another_differs() {
    let once = |seed| {
        let peace = SignedDuration::from_mins(5);
        let options = Options { hard: 2, peace, ..Options::of(seed) };
        match run(options, &|settings| brain(settings, Flaw::None)) {
            Ok(report) => (report.events, report.digest),
            Err(violation) => (violation.history.count(), violation.history.digest()),
        }
    };
    for seed in 0..4 {
        assert_eq!(once(seed), once(seed), "seed {seed}");
    }
    assert_ne!(once(1), once(2));
}

/// Without limits and disruption even a simple controller comes to rest.
#[test]
fn a_simple_controller_finds_peace() {
    let mut peaceful = 0;
    let mut broken = Vec::new();
    for seed in 0..16 {
        let began = std::time::Instant::now();
        let options = Options { hard: 0, ..Options::of(seed) };
        let lasted = match run(options, &|settings| brain(settings, Flaw::None)) {
            Ok(report) => {
                peaceful += 1;
                format!("{report:?}")
            }
            Err(violation) => {
                broken.push(violation.rule);
                format!("{violation}")
            }
        };
        println!("{:?} {lasted}", began.elapsed());
    }
    assert!(peaceful >= 8, "{peaceful} of 16 seeds: {broken:?}");
}
