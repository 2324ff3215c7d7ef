//! Plans of random clusters: the scheduler would let them happen, the order of
//! the input does not matter, and more to choose from never costs more.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot read its input fails

use std::path::Path;
use std::time::Duration;

use millwright_core::explain::{self, Whereabouts};
use millwright_core::provision::{Decision, Options, plan};
use millwright_models::catalog::{self, Catalog, file};
use millwright_models::lower::Settings;
use millwright_models::reader::{Document, ReadOptions, read};
use millwright_models::world::World;
use millwright_solver::engine;
use serde_json::{Value, json};

#[path = "support/stage.rs"]
mod stage;
#[path = "support/worlds.rs"]
mod worlds;

use worlds::Random;

fn fixture(name: &str) -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures")).join(name);
    std::fs::read_to_string(path).unwrap()
}

fn lab() -> Value {
    serde_saphyr::from_str(&fixture("scenarios/greedy/lab.yaml")).unwrap()
}

fn parsed(catalog: &Value) -> Catalog {
    file::parse("catalog", &catalog.to_string(), &|_| None).unwrap()
}

fn world(objects: &[Value]) -> World {
    let documents: Vec<Document> =
        objects.iter().enumerate().map(|(i, o)| Document { file: format!("{i}.json"), text: o.to_string() }).collect();
    read(&documents, &ReadOptions { default_pools: false }).unwrap()
}

fn options() -> Options {
    Options {
        lower: Settings { spot_types: 1, ..Settings::default() },
        engine: engine::Options { iterations: Some(10), threads: 1, ..engine::Options::default() },
        now: "2026-01-01T00:00:00Z".to_owned(),
        baseline: false,
    }
}

fn planned(world: &World, catalog: &Catalog) -> Decision {
    plan(world, catalog, &options(), &|| Duration::ZERO).unwrap()
}

#[test]
fn the_scheduler_lets_random_plans_happen() {
    let catalog = parsed(&lab());
    let (mut placed, mut left) = (0, 0);
    let mut faults = Vec::new();
    for seed in 0..150 {
        let world = world(&worlds::objects(seed));
        let decision = planned(&world, &catalog);
        placed += decision.nodes.iter().map(|n| n.pods.len()).sum::<usize>();
        left += decision.unscheduled.len();
        if let Err(why) = stage::holds(&world, &catalog, &options().lower, &decision) {
            faults.push(format!("seed {seed}: {why}"));
        }
        let vague =
            decision.unscheduled.iter().filter(|(_, why)| why.iter().any(|w| w.starts_with("no place was found")));
        faults.extend(vague.map(|(p, _)| format!("seed {seed}: nothing is told of {}", world.pods[*p].full_name())));
    }
    assert!(faults.is_empty(), "{} of 150\n{}", faults.len(), faults.join("\n"));
    assert!(placed > 300 && left > 30, "{placed} placed on new nodes, {left} left");
}

#[test]
fn the_scheduler_lets_the_quickstart_happen() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/quickstart"));
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let documents: Vec<Document> = files
        .iter()
        .map(|f| Document { file: f.display().to_string(), text: std::fs::read_to_string(f).unwrap() })
        .collect();
    let world = read(&documents, &ReadOptions::default()).unwrap();
    let catalog = catalog::embedded("us-east-1").unwrap();
    let decision = planned(&world, &catalog);
    assert!(!decision.nodes.is_empty());
    stage::holds(&world, &catalog, &options().lower, &decision).unwrap();
}

#[test]
fn sch_245_the_order_of_objects_types_and_offerings_changes_nothing() {
    for seed in 0..40 {
        let mut objects = worlds::objects(seed);
        let mut lab = lab();
        let before = planned(&world(&objects), &parsed(&lab));
        let mut random = Random(seed ^ 0x5eed);
        random.shuffle(&mut objects);
        let types = lab["types"].as_array_mut().unwrap();
        random.shuffle(types);
        types.iter_mut().for_each(|t| random.shuffle(t["offerings"].as_array_mut().unwrap()));
        let after = planned(&world(&objects), &parsed(&lab));
        let look = |d: &Decision| (d.cost, d.bound, d.unscheduled.clone(), d.existing.clone());
        assert_eq!(look(&before), look(&after), "seed {seed}");
    }
}

/// Pods served and the cost; only what is known to be the optimum counts.
fn optimum(world: &World, catalog: &Catalog) -> Option<(usize, i64)> {
    let d = planned(world, catalog);
    let proven = d.cost == d.bound || d.claimed_bound == Some(d.cost);
    proven.then_some((d.unscheduled.len(), d.cost))
}

#[test]
fn more_types_and_lower_prices_never_cost_more() {
    let mut compared = 0;
    for seed in 0..60 {
        let mut random = Random(seed);
        let objects = worlds::objects(seed);
        // Limits count the capacity of what is bought, so a cheaper type may be the larger one; they
        // are left out, and so is the order of pools and preferences, which goes before money.
        let objects: Vec<Value> = objects
            .into_iter()
            .map(|mut o| {
                if o["kind"] == "NodePool" {
                    o["spec"].as_object_mut().unwrap().remove("limits");
                }
                o
            })
            .collect();
        let world = world(&objects);
        let full = lab();
        let mut fewer = full.clone();
        let gone = random.below(fewer["types"].as_array().unwrap().len());
        fewer["types"].as_array_mut().unwrap().remove(gone);
        let mut cheaper = full.clone();
        let types = cheaper["types"].as_array_mut().unwrap();
        let at = random.below(types.len());
        for offering in types[at]["offerings"].as_array_mut().unwrap() {
            let price: f64 = offering["price"].as_str().unwrap().parse().unwrap();
            offering["price"] = json!(format!("{:.6}", price * 0.6));
        }
        let all = optimum(&world, &parsed(&full));
        for (what, more, less) in [
            ("fewer types", all, optimum(&world, &parsed(&fewer))),
            ("lower prices", optimum(&world, &parsed(&cheaper)), all),
        ] {
            if let (Some((left, cost)), Some((left_before, cost_before))) = (more, less) {
                compared += 1;
                assert!(left <= left_before, "seed {seed}, {what}: {left} against {left_before} left");
                assert!(left < left_before || cost <= cost_before, "seed {seed}, {what}: {cost} against {cost_before}");
            }
        }
    }
    assert!(compared > 40, "{compared} comparisons");
}

#[test]
fn explanations_never_contradict_the_plan() {
    let catalog = parsed(&lab());
    let (mut explained, mut helped) = (0, 0);
    for seed in 0..60 {
        let world = world(&worlds::objects(seed));
        let decision = planned(&world, &catalog);
        let mut asked: Vec<usize> = decision.unscheduled.iter().map(|(p, _)| *p).take(1).collect();
        asked.extend(world.pods.len().checked_sub(1));
        for p in asked {
            let pod = &world.pods[p];
            let answer =
                explain::pod(&world, &catalog, &options(), &|| Duration::ZERO, &pod.namespace, &pod.name).unwrap();
            let left = decision.unscheduled.iter().find(|(x, _)| *x == p);
            assert_eq!(answer.whereabouts == Whereabouts::Pending, left.is_some(), "seed {seed}: {answer:?}");
            if let Some((_, reasons)) = left {
                explained += 1;
                assert!(answer.reasons.starts_with(reasons), "seed {seed}: {:?} against {reasons:?}", answer.reasons);
                helped += usize::from(!answer.relaxations.is_empty());
                let costs: Vec<_> = answer.relaxations.iter().map(|r| r.changes.len()).collect();
                assert!(costs.windows(2).all(|w| w[0] == w[1]), "only the smallest sets are told");
            } else {
                assert!(answer.reasons.is_empty() && answer.relaxations.is_empty());
            }
        }
    }
    assert!(explained > 15 && helped * 2 > explained, "{explained} explained, {helped} with a remedy");
}

/// A cluster whose nodes take few volumes and whose pods share claims.
fn sharing(random: &mut Random) -> Vec<Value> {
    const EBS: &str = "ebs.csi.aws.com";
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"},
        "provisioner": EBS, "volumeBindingMode": "WaitForFirstConsumer"});
    let pool = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p"}, "spec":
        {"template": {"spec": {"expireAfter": "Never", "requirements": [], "nodeClassRef":
            {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}});
    let mut all = vec![class, pool];
    for claim in 0..5 {
        all.push(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": format!("c{claim}"),
            "namespace": "default"}, "spec": {"storageClassName": "s"}, "status": {"phase": "Pending"}}));
    }
    let pod = |random: &mut Random, name: String, node: Option<usize>| {
        let mut claims: Vec<usize> = (0..1 + random.below(2)).map(|_| random.below(5)).collect();
        claims.dedup();
        let volumes: Vec<Value> = claims
            .iter()
            .map(|c| json!({"name": format!("v{c}"), "persistentVolumeClaim": {"claimName": format!("c{c}")}}))
            .collect();
        let mut spec = json!({"volumes": volumes, "containers": [{"name": "c", "resources": {"requests":
            {"cpu": "100m", "memory": "64Mi"}}}]});
        node.iter().for_each(|n| spec["nodeName"] = json!(format!("n{n}")));
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec})
    };
    for n in 0..random.below(3) {
        let amounts = json!({"cpu": 8, "memory": "16Gi", "pods": 50});
        all.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{n}"), "labels":
            {"topology.kubernetes.io/zone": "z1"}}, "status": {"allocatable": amounts, "capacity": amounts}}));
        let count = 2 + random.below(3);
        all.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": format!("n{n}")},
            "spec": {"drivers": [{"name": EBS, "nodeID": "n", "topologyKeys": [], "allocatable": {"count": count}}]}}));
        for i in 0..random.below(2) {
            all.push(pod(random, format!("run-{n}-{i}"), Some(n)));
        }
    }
    for i in 0..3 + random.below(6) {
        all.push(pod(random, format!("wait-{i}"), None));
    }
    all
}

#[test]
fn sch_145_sch_256_no_node_attaches_more_volumes_than_it_takes() {
    let mut lab = lab();
    lab["types"].as_array_mut().unwrap().iter_mut().for_each(|t| t["volumeAttachments"] = json!(4));
    let catalog = parsed(&lab);
    let (mut shared, mut left) = (0, 0);
    for seed in 0..120 {
        let world = &world(&sharing(&mut Random(seed)));
        let decision = planned(world, &catalog);
        let distinct = |pods: &mut dyn Iterator<Item = usize>| {
            let volumes = pods.flat_map(|p| &world.pods[p].spec.volumes);
            let all: Vec<&str> =
                volumes.filter_map(|v| Some(v.persistent_volume_claim.as_ref()?.claim_name.as_str())).collect();
            let mut once = all.clone();
            once.sort_unstable();
            once.dedup();
            (once.len(), all.len())
        };
        let on = |node: &str| -> Vec<usize> {
            (0..world.pods.len()).filter(|p| world.pods[*p].node_name.as_deref() == Some(node)).collect()
        };
        for (node, pods) in &decision.existing {
            let limit =
                world.csi_nodes.iter().find(|c| c.meta.name == *node).unwrap().drivers["ebs.csi.aws.com"].unwrap();
            let (once, all) = distinct(&mut on(node).into_iter().chain(pods.iter().copied()));
            assert!(once <= limit as usize, "seed {seed}: {node} attaches {once} of {limit}");
            shared += usize::from(all > limit as usize);
        }
        for node in &decision.nodes {
            let (once, all) = distinct(&mut node.pods.iter().copied());
            assert!(once <= 4, "seed {seed}: a {} attaches {once} of 4", node.instance_type);
            shared += usize::from(all > 4);
        }
        left += decision.unscheduled.len();
    }
    assert!(shared > 20, "only {shared} nodes are full by the count of pods");
    assert_eq!(left, 0, "a new node takes any of these pods");
}
