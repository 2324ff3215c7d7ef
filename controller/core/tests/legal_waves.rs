//! No wave of a random cluster breaks a budget, a PodDisruptionBudget, an
//! opt-out or a node's room, judged from the description that the cluster was
//! made from. `MILLWRIGHT_CLUSTERS=10000` tries more of them.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot read its input fails

#[path = "support/dice.rs"]
mod dice;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use dice::Dice;
use millwright_core::against::{Proposal, certify};
use millwright_core::consolidate::{Audit, Drifted, Limits, Options, audit};
use millwright_core::karpenter::{self, Pass};
use millwright_models::catalog::{Catalog, file};
use millwright_models::lower::Settings;
use millwright_models::reader::{Document, ReadOptions, read};
use millwright_models::world::World;
use millwright_solver::engine;
use serde_json::{Value, json};

struct Pool {
    name: &'static str,
    policy: &'static str,
    /// Nodes that may go for being empty and for being underutilised.
    empty: &'static str,
    under: &'static str,
    never: bool,
}

struct Node {
    name: String,
    pool: usize,
    cpus: u64,
    shielded: bool,
    fresh: bool,
    unready: bool,
}

struct Pod {
    name: String,
    node: usize,
    app: &'static str,
    millis: u64,
    shielded: bool,
}

struct Cluster {
    pools: Vec<Pool>,
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    /// Evictions that the budget of each app allows.
    pdbs: BTreeMap<&'static str, i64>,
    limits: Limits,
}

const APPS: [&str; 3] = ["a", "b", "c"];

fn cluster(seed: u64) -> Cluster {
    let mut dice = Dice(seed);
    let amounts = ["0", "1", "2", "30%", "100%"];
    let pool = |name, dice: &mut Dice| Pool {
        name,
        policy: dice.of(&["WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "Balanced", "WhenEmpty"]),
        empty: dice.of(&amounts),
        under: dice.of(&amounts),
        never: dice.one_in(8),
    };
    let pools = vec![pool("p", &mut dice), pool("q", &mut dice)];
    let (mut nodes, mut pods) = (Vec::new(), Vec::new());
    for n in 0..3 + dice.below(5) as usize {
        let cpus = dice.of(&[1, 2, 4, 8]);
        let mut room = cpus * 1000 - 100;
        for _ in 0..dice.below(4) {
            let millis = 100 * (1 + dice.below(9));
            if millis <= room {
                room -= millis;
                let (app, shielded) = (dice.of(&APPS), dice.one_in(12));
                pods.push(Pod { name: format!("w{}", pods.len()), node: n, app, millis, shielded });
            }
        }
        let (shielded, fresh, unready) = (dice.one_in(10), dice.one_in(8), dice.one_in(12));
        nodes.push(Node { name: format!("n{n}"), pool: dice.below(2) as usize, cpus, shielded, fresh, unready });
    }
    let pdbs = APPS.iter().filter(|_| dice.one_in(2)).copied().collect::<Vec<_>>();
    let pdbs = pdbs.into_iter().map(|app| (app, dice.below(3) as i64)).collect();
    let cap = |dice: &mut Dice| dice.one_in(5).then(|| dice.below(4) as i64);
    let limits = Limits { evictions: cap(&mut dice), removed: cap(&mut dice) };
    Cluster { pools, nodes, pods, pdbs, limits }
}

fn objects(c: &Cluster) -> String {
    let mut all: Vec<Value> = Vec::new();
    for p in &c.pools {
        let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
        let budgets =
            json!([{"nodes": p.empty, "reasons": ["Empty"]}, {"nodes": p.under, "reasons": ["Underutilized"]}]);
        all.push(json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": p.name}, "spec": {
            "template": {"spec": {"nodeClassRef": class, "expireAfter": "Never", "requirements": [
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}]}},
            "disruption": {"consolidationPolicy": p.policy, "budgets": budgets,
                "consolidateAfter": if p.never { "Never" } else { "1h" }}}}));
    }
    for n in &c.nodes {
        let labels = json!({"kubernetes.io/hostname": n.name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": format!("t{}", n.cpus), "topology.kubernetes.io/zone": "z1",
            "karpenter.sh/capacity-type": "on-demand", "karpenter.sh/nodepool": c.pools[n.pool].name,
            "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"});
        let room = json!({"cpu": format!("{}m", n.cpus * 1000 - 100), "memory": format!("{}Mi", n.cpus * 2048 - 100),
            "pods": (n.cpus * 5).to_string()});
        let annotations = if n.shielded { json!({"karpenter.sh/do-not-disrupt": "true"}) } else { json!({}) };
        let event = if n.fresh { "2026-11-30T11:30:00Z" } else { "2026-11-30T10:00:00Z" };
        let ready = if n.unready { "False" } else { "True" };
        let id = format!("lab:///{}", n.name);
        all.push(json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": n.name, "labels": labels, "annotations": annotations}, "spec": {"providerID": id},
            "status": {"allocatable": room, "capacity": room, "conditions": [{"type": "Ready", "status": ready}]}}));
        all.push(json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": format!("c-{}", n.name), "labels": labels},
            "spec": {"requirements": [], "expireAfter": "Never",
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
            "status": {"providerID": id, "nodeName": n.name, "allocatable": room, "capacity": room,
                "lastPodEventTime": event, "conditions": [{"type": "Initialized", "status": "True"}]}}));
    }
    for p in &c.pods {
        let annotations = if p.shielded { json!({"karpenter.sh/do-not-disrupt": "true"}) } else { json!({}) };
        all.push(json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": p.name, "namespace": "d", "labels": {"app": p.app}, "annotations": annotations,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": p.app, "uid": p.app, "controller": true}]},
            "spec": {"nodeName": c.nodes[p.node].name, "containers": [{"name": "c", "resources": {"requests":
                {"cpu": format!("{}m", p.millis), "memory": "128Mi"}}}]},
            "status": {"phase": "Running"}}));
    }
    for (app, allowed) in &c.pdbs {
        all.push(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": app, "namespace": "d"},
            "spec": {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": 1},
            "status": {"disruptionsAllowed": allowed}}));
    }
    let mut text = String::new();
    all.iter().for_each(|o| write!(text, "---\n{o}\n").unwrap());
    text
}

/// What is wrong with a wave.
fn faults(c: &Cluster, audit: &Audit) -> Vec<String> {
    let wave = &audit.waves[0];
    let mut out = Vec::new();
    let gone: BTreeSet<&str> = wave.removed.iter().map(String::as_str).collect();
    let pods_on = |n: usize| c.pods.iter().filter(move |p| p.node == n);
    let leavers: Vec<usize> = (0..c.nodes.len()).filter(|n| gone.contains(c.nodes[*n].name.as_str())).collect();
    for &n in &leavers {
        let (node, pool) = (&c.nodes[n], &c.pools[c.nodes[n].pool]);
        let empty = pods_on(n).next().is_none();
        for (bad, what) in [
            (node.shielded, "opts out"),
            (node.fresh, "is too fresh"),
            (pool.never, "is never consolidated"),
            (pods_on(n).any(|p| p.shielded), "has a pod that opts out"),
            (pool.policy == "WhenEmpty" && !empty, "is not empty"),
        ] {
            if bad {
                out.push(format!("{} {what}", node.name));
            }
        }
    }
    for (i, pool) in c.pools.iter().enumerate() {
        let of_pool = || c.nodes.iter().filter(|n| n.pool == i);
        let unready = of_pool().filter(|n| n.unready).count() as i64;
        let allowed = |text: &str| {
            let whole = of_pool().count() as i64;
            let n = text.strip_suffix('%').map_or_else(
                || text.parse().unwrap(),
                |p| (whole as f64 * p.parse::<f64>().unwrap() / 100.0).ceil() as i64,
            );
            (n - unready).max(0)
        };
        let mine = || leavers.iter().filter(|n| c.nodes[**n].pool == i);
        let empties = mine().filter(|n| pods_on(**n).next().is_none()).count() as i64;
        let others = mine().count() as i64 - empties;
        // Some order of the removals must find each within its allowance.
        let (for_empty, for_other) = (allowed(pool.empty), allowed(pool.under));
        let fine = |first: i64, most: i64, then: i64, most_then: i64| {
            first <= most && (then == 0 || first + then <= most_then)
        };
        if !fine(empties, for_empty, others, for_other) && !fine(others, for_other, empties, for_empty) {
            out.push(format!("{}: {empties} empty of {for_empty} and {others} of {for_other} removed", pool.name));
        }
    }
    let evicted: Vec<&Pod> = leavers.iter().flat_map(|n| pods_on(*n)).collect();
    for (app, allowed) in &c.pdbs {
        let n = evicted.iter().filter(|p| p.app == *app).count() as i64;
        if n > *allowed {
            out.push(format!("{n} pods of {app} evicted, {allowed} allowed"));
        }
    }
    if c.limits.evictions.is_some_and(|most| evicted.len() as i64 > most)
        || c.limits.removed.is_some_and(|most| leavers.len() as i64 > most)
    {
        out.push(format!("{} evictions and {} removed against {:?}", evicted.len(), leavers.len(), c.limits));
    }
    let target: BTreeMap<&str, &str> =
        wave.moves.iter().map(|m| (m.pod.strip_prefix("d/").unwrap(), m.to.as_str())).collect();
    if target.len() != evicted.len() || evicted.iter().any(|p| !target.contains_key(p.name.as_str())) {
        out.push(format!("{} pods move, {} are evicted", target.len(), evicted.len()));
    }
    let mut load: BTreeMap<&str, u64> = BTreeMap::new();
    for p in &c.pods {
        let at = target.get(p.name.as_str()).copied().unwrap_or(&c.nodes[p.node].name);
        *load.entry(at).or_default() += p.millis;
    }
    for (name, millis) in load {
        let old = c.nodes.iter().find(|n| n.name == name && !gone.contains(name)).map(|n| n.cpus);
        let new = wave.names.iter().position(|n| n == name).map(|i| wave.nodes[i].instance_type[1..].parse().unwrap());
        match old.or(new) {
            Some(cpus) if millis <= cpus * 1000 - 100 => {}
            cpus => out.push(format!("{name} of {cpus:?} CPUs runs {millis}m")),
        }
    }
    if wave.cost > audit.current_cost || wave.bound > wave.cost || audit.ideal.cost > wave.cost {
        out.push(format!(
            "{} → {} (at least {}), ideal {}",
            audit.current_cost, wave.cost, wave.bound, audit.ideal.cost
        ));
    }
    let told: BTreeSet<&str> = audit.blocked.iter().map(|(n, _)| n.as_str()).collect();
    if told.len() + gone.len() != c.nodes.len() || audit.blocked.iter().any(|(_, why)| why.iter().any(String::is_empty))
    {
        out.push("not every node goes or has a reason".to_owned());
    }
    out
}

fn world(c: &Cluster) -> World {
    let document = Document { file: "objects".to_owned(), text: objects(c) };
    read(&[document], &ReadOptions { default_pools: false }).unwrap()
}

fn options(limits: Limits) -> Options {
    Options {
        lower: Settings { spot_types: 1, ..Settings::default() },
        engine: engine::Options { iterations: Some(2), threads: 1, ..engine::Options::default() },
        now: "2026-11-30T12:00:00Z".parse().unwrap(),
        disruption_price: Some(0),
        drifted: Drifted::Must,
        limits,
        include_unmanaged: false,
        all_waves: false,
        frontier: false,
        reasons: true,
    }
}

fn audited(c: &Cluster, catalog: &Catalog) -> Audit {
    audit(&world(c), catalog, &options(c.limits), &|| Duration::ZERO).unwrap()
}

fn lab() -> Catalog {
    let lab = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenarios/greedy/lab.yaml"));
    file::parse("lab", &std::fs::read_to_string(lab).unwrap(), &|_| None).unwrap()
}

fn clusters(usual: u64) -> u64 {
    std::env::var("MILLWRIGHT_CLUSTERS").map_or(usual, |n| n.parse().unwrap())
}

/// Karpenter's next command as somebody's proposal.
fn command(world: &World, catalog: &Catalog, options: &Options) -> Option<Proposal> {
    let settings = karpenter::Settings { lower: &options.lower, now: options.now, unmanaged: false };
    let scene = karpenter::scene(world, catalog, settings);
    let never = || false;
    let pass = Pass::new(&scene, &options.lower, &never);
    let command = pass.next()?;
    let launch = command.plan.claims.iter().map(|claim| {
        let (kind, zone, capacity) = claim.cheapest.clone().unwrap();
        let types = &scene.pools[claim.pool.as_str()].as_ref().unwrap().types;
        json!({"nodePool": claim.pool, "instanceType": &*types[kind as usize].name, "zone": &*zone,
            "capacityType": capacity.as_str()})
    });
    let remove: Vec<&str> = command.nodes.iter().map(|n| scene.nodes[*n].name()).collect();
    let written = json!({"apiVersion": "millwright.dev/v1", "kind": "Proposal", "remove": remove,
        "launch": launch.collect::<Vec<_>>()});
    Some(Proposal::read(&[written]).unwrap())
}

/// Karpenter counts the pods of a PodDisruptionBudget one by one, we count
/// them together: its commands are compared where both call them legal.
#[test]
fn wherever_karpenter_saves_legally_the_wave_saves_as_much() {
    let (catalog, options) = (lab(), options(Limits::default()));
    let clusters = clusters(60);
    let (mut compared, mut better) = (0, 0);
    for seed in 0..clusters {
        let c = cluster(seed);
        let world = world(&c);
        let Some(proposal) = command(&world, &catalog, &options) else { continue };
        let judged = certify(&world, &catalog, &options, &|| Duration::ZERO, &proposal).unwrap();
        if judged.broken.iter().all(|why| why.contains("PodDisruptionBudget")) && !judged.broken.is_empty() {
            continue;
        }
        assert_eq!(judged.broken, [] as [String; 0], "seed {seed}: {proposal:?}");
        // Karpenter lets a node of a Balanced pool that is not worth its
        // disruption go in the shadow of one that is.
        let balanced = |name: &String| {
            let node = c.nodes.iter().find(|n| n.name == *name).unwrap();
            c.pools[node.pool].policy == "Balanced"
        };
        if judged.removed.len() > 1 && judged.removed.iter().any(balanced) {
            continue;
        }
        let wave = audit(&world, &catalog, &options, &|| Duration::ZERO).unwrap().waves.remove(0);
        assert!(wave.cost <= judged.cost, "seed {seed}: {} against {} by {proposal:?}", wave.cost, judged.cost);
        compared += 1;
        better += u64::from(wave.cost < judged.cost);
    }
    assert!(compared > clusters / 5 && better > 0, "{compared} compared, {better} better");
}

#[test]
fn waves_of_random_clusters_are_legal() {
    let (catalog, clusters) = (lab(), clusters(60));
    let (mut removed, mut bought) = (0, 0);
    for seed in 0..clusters {
        let c = cluster(seed);
        let audit = audited(&c, &catalog);
        let faults = faults(&c, &audit);
        assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n"));
        removed += audit.waves[0].removed.len();
        bought += audit.waves[0].nodes.len();
    }
    // Else nothing was tested.
    assert!(removed as u64 > clusters / 2 && bought > 0, "{removed} removed, {bought} bought in {clusters} clusters");
}
