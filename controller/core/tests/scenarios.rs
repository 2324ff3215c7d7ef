//! The scenarios of `spec/20-scheduling.md` §21, planned: at least as many
//! pods as Karpenter's greedy places in its first pass get a place, and where
//! it is as many, at no higher cost.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot read its input fails

use std::path::Path;
use std::time::Duration;

use millwright_core::provision::{Options, plan};
use millwright_models::catalog::{Gates, file, pool_types};
use millwright_models::greedy::{GreedyOptions, MinValuesPolicy, PreferencePolicy, solve};
use millwright_models::lower::Settings;
use millwright_models::reader::{Document, ReadOptions, read};
use millwright_solver::engine;
use serde_json::Value;

#[allow(dead_code)] // what a greedy pass must give is not looked at here
#[path = "../../../models/tests/greedy/scenario.rs"]
mod scenario;

use scenario::Scenario;

#[path = "support/stage.rs"]
mod stage;

/// Scenarios in which ours does not reach the greedy, and why.
const DEPARTURES: [(&str, &str); 2] = [
    ("SCH-177 each pod may start", "kube-scheduler lets an affinity start only where no such pod is anywhere"),
    ("SCH-247 but does", "kube-scheduler lets an affinity start only where no such pod is anywhere"),
];

/// Scenarios whose plan the scheduler would not let happen, and why.
const UNREALISED: [(&str, &str); 1] = [(
    "SCH-144 a local volume",
    "Karpenter forgets the host of a local volume, kube-scheduler does not: a node is bought in vain",
)];

fn yaml<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenarios/greedy"));
    let text = std::fs::read_to_string(directory.join(name)).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

fn file_holds(name: &str) {
    let lab: Value = yaml("lab.yaml");
    let scenarios: Vec<Scenario> = yaml(name);
    let mut faults: Vec<String> = Vec::new();
    for s in &scenarios {
        let departs = DEPARTURES.iter().any(|(name, _)| s.name.starts_with(name));
        match fault(s, &lab) {
            Some(f) if !departs => faults.push(f),
            None if departs => faults.push(format!("{} is no departure any more", s.name)),
            _ => {}
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn fault(scenario: &Scenario, lab: &Value) -> Option<String> {
    let catalog = file::parse("catalog", &scenario.catalog(lab), &|_| None).unwrap();
    let document = Document { file: "objects".to_owned(), text: scenario.objects() };
    let world = read(&[document], &ReadOptions { default_pools: false }).unwrap();
    let gates = Gates { reserved_capacity: !scenario.no_reservations, ..Gates::default() };
    let preferences = if scenario.ignore_preferences { PreferencePolicy::Ignore } else { PreferencePolicy::Respect };
    let min_values = if scenario.best_effort { MinValuesPolicy::BestEffort } else { MinValuesPolicy::Strict };
    let options = Options {
        lower: Settings { preferences, min_values, gates, spot_types: 1 },
        engine: engine::Options { iterations: Some(20), threads: 1, ..engine::Options::default() },
        now: "2026-01-01T00:00:00Z".to_owned(),
        baseline: false,
    };
    let ours = match plan(&world, &catalog, &options, &|| Duration::ZERO) {
        Ok(decision) => decision,
        Err(e) => return Some(format!("{}: {e}", scenario.name)),
    };
    let settings = GreedyOptions {
        preference_policy: preferences,
        min_values_policy: min_values,
        strict_reservations: !scenario.fallback,
        ..GreedyOptions::new(gates)
    };
    let pools: Vec<_> =
        world.node_pools.iter().map(|p| (p, pool_types(&world, &catalog, p, &gates).unwrap())).collect();
    let theirs = solve(&world, &pools, &settings, &|| false);
    let unrealised = UNREALISED.iter().any(|(name, _)| scenario.name.starts_with(name));
    match stage::holds(&world, &catalog, &options.lower, &ours) {
        Err(why) if !unrealised => return Some(format!("{}: {why}", scenario.name)),
        Ok(()) if unrealised => return Some(format!("{}: the scheduler lets it happen", scenario.name)),
        _ => {}
    }
    let left = theirs.unscheduled.len() + theirs.deferred.len();
    let words = || {
        let nodes: Vec<_> = ours.nodes.iter().map(|n| (&n.pool, &n.instance_type, &n.zone, n.pods.len())).collect();
        format!("{} $/h, {nodes:?}, {:?}", ours.cost as f64 / 1e6, ours.unscheduled)
    };
    if ours.unscheduled.len() > left {
        return Some(format!("{}: greedy leaves {left} pods; {}", scenario.name, words()));
    }
    if ours.unscheduled.len() == left && ours.cost > theirs.cost {
        return Some(format!("{}: greedy pays {}; {}", scenario.name, theirs.cost as f64 / 1e6, words()));
    }
    None
}

macro_rules! scenarios {
    ($($test:ident: $file:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            file_holds($file);
        })*
    };
}

scenarios! {
    sch_018_to_261_displaced: "displaced.yaml",
    sch_040_to_046_pools: "pools.yaml",
    sch_048_to_063_requirements: "requirements.yaml",
    sch_064_to_074_preferences: "preferences.yaml",
    sch_075_to_083_taints: "taints.yaml",
    sch_084_to_100_resources: "resources.yaml",
    sch_101_to_113_packing: "packing.yaml",
    sch_114_to_124_nodes: "nodes.yaml",
    sch_125_to_137_daemons: "daemons.yaml",
    sch_138_to_147_ports_and_volumes: "volumes.yaml",
    sch_148_to_171_spread: "spread.yaml",
    sch_172_to_187_affinity: "affinity.yaml",
    sch_188_to_196_limits: "limits.yaml",
    sch_197_to_204_min_values: "minvalues.yaml",
    sch_205_to_215_reservations: "reservations.yaml",
}
