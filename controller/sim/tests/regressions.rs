//! Seeds that once found something, and what it was.
#![allow(clippy::unwrap_used)]

use millwright_core::control::brain::Brain;
use millwright_sim::{Options, run};

/// Whether a seed comes to a good end.
fn holds(seed: u64) {
    if let Err(violation) = run(Options::of(seed), &|settings| Brain::new(settings.clone())) {
        panic!("{violation}");
    }
}

#[test]
fn room_for_a_pod_that_a_budget_keeps_was_held_again_and_again() {
    holds(18);
    holds(27);
}

#[test]
fn nothing_is_decided_before_the_first_list() {
    holds(46);
}

#[test]
fn parts_of_a_wave_that_only_land_together_failed_one_by_one_for_ever() {
    holds(138);
}

#[test]
fn a_drifted_node_went_though_others_had_drawn_the_budget_meanwhile() {
    holds(183);
}
