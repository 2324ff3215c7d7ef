//! Plans against the real kube-scheduler.
//!
//! Needs the control plane that `deploy/rig/build.sh` builds; without it every
//! test says loudly what is missing, and passes.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot read its input fails

mod export;
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

/// Writes random clusters to the folder `RIG_EXPORT`, workloads as the pods they make, so that another provisioner
/// can plan them.
#[test]
#[ignore = "writes only; make peer-diff"]
fn export_random_clusters() {
    let folder = std::env::var("RIG_EXPORT").expect("RIG_EXPORT names the folder to write to");
    for seed in room::seeds() {
        export::cluster(&std::path::Path::new(&folder).join(seed.to_string()), seed);
    }
}

/// Writes what kube-scheduler's rules say of Karpenter's plans for such clusters beside them, as `verdict.json`.
#[test]
#[ignore = "needs plans of Karpenter; make peer-diff"]
fn plans_of_karpenter() {
    let folder = std::env::var("RIG_EXPORT").expect("RIG_EXPORT names the folder to read from");
    for entry in std::fs::read_dir(folder).unwrap() {
        export::verdict(&entry.unwrap().path());
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
