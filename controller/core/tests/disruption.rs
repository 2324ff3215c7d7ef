//! The scenarios of `spec/30-disruption.md` §26 that pure rules answer.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot read its input fails

#[path = "disruption/baseline.rs"]
mod baseline;
#[path = "support/json.rs"]
mod json;
#[path = "disruption/judge.rs"]
mod judge;
#[path = "disruption/repair.rs"]
mod repair;
#[path = "disruption/scenario.rs"]
mod scenario;

use std::path::Path;

use scenario::Scenario;

fn yaml<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenarios"));
    let text = std::fs::read_to_string(directory.join(name)).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn file_holds(name: &str) {
    let lab: serde_json::Value = yaml("greedy/lab.yaml");
    let scenarios: Vec<Scenario> = yaml(&format!("disruption/{name}"));
    assert!(!scenarios.is_empty());
    let faults: Vec<String> = scenarios.iter().flat_map(|s| judge::faults(s, &lab)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
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
    dis_001_to_020_candidates: "candidates.yaml",
    dis_021_to_028_pod_disruption_budgets: "pdbs.yaml",
    dis_029_to_033_opt_outs: "optouts.yaml",
    dis_034_to_046_budgets: "budgets.yaml",
    dis_047_to_059_emptiness: "emptiness.yaml",
    dis_060_to_102_moves: "moves.yaml",
    dis_062_to_109_karpenter: "karpenter.yaml",
    dis_084_to_092_spot: "spot.yaml",
    dis_110_to_121_balanced: "balanced.yaml",
    dis_134_to_146_drift: "drift.yaml",
    dis_135_to_166_forced: "forced.yaml",
    dis_152_to_190_repair: "repair.yaml",
    dis_155_to_197_life: "life.yaml",
}
