//! A redacted cluster is planned and audited like the one it was made from.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use std::collections::BTreeMap;
use std::time::Duration;

use millwright_core::consolidate::{self, Limits};
use millwright_core::provision::{Options, plan};
use millwright_models::catalog::{Catalog, file};
use millwright_models::lower::Settings;
use millwright_models::reader::{Document, ReadOptions, read};
use millwright_models::redact::redact;
use millwright_models::world::World;
use millwright_solver::engine;
use serde_json::{Value, json};

#[path = "support/worlds.rs"]
mod worlds;

fn world(objects: &[Value]) -> World {
    let text = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    read(&[Document { file: "objects".to_owned(), text }], &ReadOptions { default_pools: true }).unwrap()
}

fn catalog() -> Catalog {
    let lab: Value = serde_saphyr::from_str(include_str!("../../../fixtures/scenarios/greedy/lab.yaml")).unwrap();
    file::parse("catalog", &lab.to_string(), &|_| None).unwrap()
}

fn search() -> engine::Options {
    engine::Options { iterations: Some(10), threads: 1, ..engine::Options::default() }
}

/// What a plan comes to: cost, bound, nodes by type, pods per node, and how
/// many have no place.
fn planned(world: &World, catalog: &Catalog) -> (i64, i64, BTreeMap<(String, usize), usize>, usize) {
    let now = "2026-11-30T12:00:00Z".to_owned();
    let options = Options { lower: Settings::default(), engine: search(), now, baseline: false };
    let decision = plan(world, catalog, &options, &|| Duration::ZERO).unwrap();
    let mut nodes = BTreeMap::new();
    for node in &decision.nodes {
        *nodes.entry((node.instance_type.to_string(), node.pods.len())).or_default() += 1;
    }
    (decision.cost, decision.bound, nodes, decision.unscheduled.len())
}

fn audited(world: &World, catalog: &Catalog) -> (i64, i64, i64, usize, usize) {
    let options = consolidate::Options {
        lower: Settings::default(),
        engine: search(),
        now: "2026-11-30T12:00:00Z".parse().unwrap(),
        disruption_price: Some(0),
        limits: Limits::default(),
        drifted: consolidate::Drifted::Must,
        include_unmanaged: true,
        all_waves: false,
        frontier: false,
        reasons: false,
    };
    let audit = consolidate::audit(world, catalog, &options, &|| Duration::ZERO).unwrap();
    let wave = &audit.waves[0];
    (audit.current_cost, wave.cost, wave.bound, wave.removed.len(), wave.evictions())
}

#[test]
fn plans_and_audits_of_redacted_clusters_cost_the_same() {
    let catalog = catalog();
    for seed in 0..60 {
        let objects = worlds::objects(seed);
        let (own, redacted) = (world(&objects), world(&redact(&objects)));
        assert_eq!(own.pods.len(), redacted.pods.len());
        assert_eq!(planned(&own, &catalog), planned(&redacted, &catalog), "seed {seed}");
        assert_eq!(audited(&own, &catalog), audited(&redacted, &catalog), "seed {seed}");
    }
}

#[test]
fn no_name_of_a_random_cluster_survives() {
    for seed in 0..60 {
        let objects = worlds::objects(seed);
        let text = Value::Array(redact(&objects)).to_string();
        for object in &objects {
            let name = object["metadata"]["name"].as_str().unwrap();
            assert!(name == "default" || !text.contains(&format!("\"{name}\"")), "seed {seed}: {name}");
        }
    }
}

#[test]
fn redacting_twice_changes_nothing_but_tokens() {
    let catalog = catalog();
    let objects = worlds::objects(7);
    let once = redact(&objects);
    assert_eq!(planned(&world(&once), &catalog), planned(&world(&redact(&once)), &catalog));
}
