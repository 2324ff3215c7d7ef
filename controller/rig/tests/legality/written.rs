//! The scenario files of the tree.

use std::path::Path;

use millwright_models::catalog::{Gates, file};
use millwright_models::lower::{MinValuesPolicy, PreferencePolicy, Settings};
use millwright_rig::legality::Case;
use serde_json::Value;

#[allow(dead_code)] // what a greedy pass must give is not looked at here
#[path = "../../../../models/tests/greedy/scenario.rs"]
mod scenario;

use scenario::Scenario;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenarios/greedy");

/// The catalogue that scenarios and random clusters buy from.
pub fn lab() -> Value {
    serde_saphyr::from_str(&std::fs::read_to_string(Path::new(FILES).join("lab.yaml")).unwrap()).unwrap()
}

/// Every scenario, by file and place in it.
pub fn cases() -> Vec<Case> {
    let lab = lab();
    let mut files: Vec<_> = std::fs::read_dir(FILES).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for path in files.iter().filter(|p| !p.ends_with("lab.yaml")) {
        let scenarios: Vec<Scenario> = serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        cases.extend(scenarios.iter().map(|s| case(s, &lab)));
    }
    cases
}

fn case(scenario: &Scenario, lab: &Value) -> Case {
    let preferences = if scenario.ignore_preferences { PreferencePolicy::Ignore } else { PreferencePolicy::Respect };
    let min_values = if scenario.best_effort { MinValuesPolicy::BestEffort } else { MinValuesPolicy::Strict };
    let gates = Gates { reserved_capacity: !scenario.no_reservations, ..Gates::default() };
    Case {
        name: scenario.name.clone(),
        objects: scenario.objects(),
        catalog: file::parse("catalog", &scenario.catalog(lab), &|_| None).unwrap(),
        settings: Settings { preferences, min_values, gates, spot_types: 1 },
        rounds: 20,
    }
}
