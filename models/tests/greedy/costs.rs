//! Costs on generated instances, beside those of Karpenter itself.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use millwright_models::catalog::Gates;
use millwright_models::greedy::GreedyOptions;

use super::common;

/// A line of `provisioning.csv`.
struct Measured {
    instance: String,
    cost: f64,
    nodes: usize,
    unscheduled: usize,
}

fn measured(shared: &Path) -> Vec<Measured> {
    let text = std::fs::read_to_string(shared.join("data/karpenter/provisioning.csv")).unwrap();
    let line = |line: &str| {
        let mut fields = line.split(',');
        let mut next = || fields.next().unwrap().to_owned();
        Measured {
            instance: next(),
            cost: next().parse().unwrap(),
            nodes: next().parse().unwrap(),
            unscheduled: next().parse().unwrap(),
        }
    };
    text.lines().skip(1).map(line).collect()
}

/// Generates the instance that a name like `free-1000-s1-spot` describes.
fn generate(shared: &Path, name: &str) -> Option<PathBuf> {
    let out = std::env::temp_dir().join("millwright-instances").join(name);
    if out.join("objects.yaml").is_file() && out.join("catalog.json").is_file() {
        return Some(out);
    }
    let mut parts = name.split('-');
    let (family, pods) = (parts.next()?, parts.next()?);
    let mut command = Command::new("python3");
    command.arg(shared.join("accept/gen_instance.py")).arg(&out).args(["--family", family, "--pods", pods]);
    for part in parts {
        match part.strip_prefix('s').filter(|n| n.parse::<u32>().is_ok()) {
            Some(seed) => command.args(["--seed", seed]),
            None => command.arg(format!("--{part}")),
        };
    }
    command.stdout(std::process::Stdio::null()).status().ok().filter(|s| s.success()).map(|_| out)
}

/// Compares every instance that `wanted` admits; prints the table.
fn compare(wanted: impl Fn(usize) -> bool) {
    let Some(shared) = common::shared() else {
        println!("SKIPPED: ../shared with Karpenter's own costs is not here");
        return;
    };
    let pods = |m: &Measured| m.instance.split('-').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut bad = Vec::new();
    for m in measured(&shared).into_iter().filter(|m| wanted(pods(m))) {
        let Some(directory) = generate(&shared, &m.instance) else {
            println!("SKIPPED: python3 could not generate {}", m.instance);
            continue;
        };
        let read = |file: &str| std::fs::read_to_string(directory.join(file)).unwrap();
        let (world, catalog) = (common::world(&read("objects.yaml")), common::catalog(&read("catalog.json")));
        let start = Instant::now();
        let (plan, _) = common::plan(&world, &catalog, &GreedyOptions::new(Gates::default()));
        let elapsed = start.elapsed().as_secs_f64();
        let (cost, n) = (plan.cost as f64 / 1e6, world.pods.len());
        let ratio = cost / m.cost;
        println!(
            "{:26} {cost:10.4} of {:10.4} = {ratio:.4}  nodes {} of {}  unscheduled {} of {}  {:.0} pods/s",
            m.instance,
            m.cost,
            plan.claims.len(),
            m.nodes,
            plan.unscheduled.len(),
            m.unscheduled,
            n as f64 / elapsed
        );
        if m.unscheduled == 0 && !((ratio - 1.0).abs() <= 0.03 && plan.unscheduled.is_empty()) {
            bad.push(m.instance);
        }
    }
    assert!(bad.is_empty(), "more than 3 % from Karpenter's cost, or pods left: {bad:?}");
}

#[test]
fn costs_of_1000_pods_are_those_of_karpenter() {
    compare(|pods| pods <= 1000);
}

#[test]
#[ignore = "minutes in a debug build"]
fn costs_of_all_instances_are_those_of_karpenter() {
    compare(|_| true);
}
