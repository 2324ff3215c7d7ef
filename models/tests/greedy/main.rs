//! Karpenter's greedy against the scenarios of `spec/20-scheduling.md` §21
//! and against Karpenter's own costs.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot read its input fails

mod common;
mod costs;
mod run;
mod scenario;

/// A test per file of `fixtures/scenarios/greedy`.
macro_rules! scenarios {
    ($($test:ident: $file:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            run::file($file);
        })*

        #[test]
        fn every_scenario_file_has_its_test() {
            run::files(&[$($file),*]);
        }
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
