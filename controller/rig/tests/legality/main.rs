//! Plans against the real kube-scheduler.
//!
//! Needs the control plane that `deploy/rig/build.sh` builds; without it every
//! test says loudly what is missing, and passes.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot read its input fails

mod public;
mod random;
mod room;
mod written;

/// One of so many scenarios of the files, for the short run.
const SPARSE: usize = 16;

/// Needs no control plane: every plan can land by the rules, and what the reader, the planner or the makers of
/// objects refuse shows up everywhere.
#[test]
fn cases_can_be_staged() {
    let mut cases = written::cases();
    let seeds = if std::env::var_os("RIG_SEEDS").is_some() { room::seeds() } else { 0..20 };
    cases.extend(seeds.map(random::case));
    assert!(cases.len() >= 80, "{} cases", cases.len());
    room::stage_all(&cases);
}

/// Prints the objects of a random cluster, to look into a disagreement.
#[test]
#[ignore = "prints only"]
fn print_a_random_cluster() {
    for seed in room::seeds().take(1) {
        print!("{}", random::case(seed).objects);
    }
}

#[test]
fn some_scenarios_and_some_random_clusters() {
    let mut cases: Vec<_> = written::cases().into_iter().step_by(SPARSE).collect();
    cases.extend((0..10).map(random::case));
    room::judge_all("short run", cases);
}

#[test]
#[ignore = "minutes; make rig-test"]
fn every_scenario_of_the_files() {
    room::judge_all("scenario files", written::cases());
}

#[test]
#[ignore = "minutes; make rig-test"]
fn public_scenarios() {
    match public::cases() {
        Some(cases) => room::judge_all("public scenarios", cases),
        None => millwright_rig::say("SKIPPED: ../shared/scenarios/files is not here"),
    }
}

#[test]
#[ignore = "minutes; make rig-test"]
fn random_clusters() {
    room::judge_all("random clusters", room::seeds().map(random::case).collect());
}
