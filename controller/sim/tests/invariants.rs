//! Every promise is broken once, and noticed.
#![allow(clippy::unwrap_used)]

mod naive;

use jiff::SignedDuration;
use millwright_sim::{Options, run};
use naive::{Flaw, brain};

/// Whether some seed finds that `flaw` breaks one of `rules`.
fn breaks(flaw: Flaw, hard: i64, rules: &[&str]) -> bool {
    (0..40).any(|seed| {
        let (active, peace) = (SignedDuration::from_mins(12), SignedDuration::from_mins(1));
        let options = Options { hard, is_small: false, active, peace, ..Options::of(seed) };
        let Err(violation) = run(options, &|settings| brain(settings, flaw)) else { return false };
        let text = violation.to_string();
        assert!(text.starts_with(&format!("seed {seed}: {} broken at ", violation.rule)), "{text}");
        assert!((1..=30).contains(&violation.history.last().count()));
        rules.contains(&violation.rule)
    })
}

#[test]
fn a_controller_that_buys_too_much() {
    assert!(breaks(Flaw::Greedy, 0, &["launches"]));
}

#[test]
fn a_hold_that_outlives_its_timer() {
    assert!(breaks(Flaw::Holds, 0, &["holds"]));
}

#[test]
fn a_foreign_cordon_is_touched() {
    assert!(breaks(Flaw::Uncordons, 2, &["foreign cordons"]));
}

#[test]
fn a_machine_is_ended_under_its_claim() {
    assert!(breaks(Flaw::Kills, 0, &["terminations"]));
}

#[test]
fn a_machine_that_nobody_remembers() {
    assert!(breaks(Flaw::Forgets, 0, &["no machine without claim", "one machine per claim"]));
}

#[test]
fn a_binding_without_room() {
    assert!(breaks(Flaw::Crowds, 0, &["overcommitment"]));
}

#[test]
fn a_controller_that_spins() {
    assert!(breaks(Flaw::Spins, 0, &["spinning"]));
}

#[test]
fn an_eviction_for_no_reason() {
    assert!(breaks(Flaw::Evicts, 0, &["evictions"]));
}
