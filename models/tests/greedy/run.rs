//! Runs scenario files and compares.

use std::collections::BTreeMap;
use std::path::Path;

use millwright_models::catalog::{Catalog, Gates, PoolTypes};
use millwright_models::greedy::{GreedyClaim, GreedyOptions, GreedyPlan, MinValuesPolicy, PreferencePolicy};
use millwright_models::kube::node::Node;
use millwright_models::world::World;
use serde_json::Value;

use super::common;
use super::scenario::{Expected, ExpectedClaim, Scenario};

fn directory() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/scenarios/greedy"))
}

fn yaml<T: serde::de::DeserializeOwned>(file: &str) -> T {
    let path = directory().join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every scenario of a file; all failures are told at once.
pub fn file(name: &str) {
    let lab: Value = yaml("lab.yaml");
    let scenarios: Vec<Scenario> = yaml(name);
    assert!(!scenarios.is_empty(), "{name} holds no scenario");
    let failures: Vec<String> = scenarios.iter().flat_map(|s| run(s, &lab)).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn run(scenario: &Scenario, lab: &Value) -> Vec<String> {
    let catalog = common::catalog(&scenario.catalog(lab));
    let mut world = common::world(&scenario.objects());
    let mut options = GreedyOptions::new(Gates::default());
    options.gates.reserved_capacity = !scenario.no_reservations;
    options.strict_reservations = !scenario.fallback;
    if scenario.ignore_preferences {
        options.preference_policy = PreferencePolicy::Ignore;
    }
    if scenario.best_effort {
        options.min_values_policy = MinValuesPolicy::BestEffort;
    }
    let mut failures = Vec::new();
    for (pass, expected) in scenario.passes.iter().enumerate() {
        let (plan, types) = common::plan(&world, &catalog, &options);
        let (again, _) = common::plan(&world, &catalog, &options);
        let seen = Seen { world: &world, types: &types, plan: &plan };
        let mut found = seen.compare(expected);
        if format!("{plan:?}") != format!("{again:?}") {
            found.push("a second run decides otherwise".to_owned());
        }
        failures.extend(
            found.into_iter().map(|f| format!("{} pass {}: {f}\n    got {}", scenario.name, pass + 1, seen.words())),
        );
        carry_out(&mut world, &catalog, &types, &plan, pass);
    }
    failures
}

/// A plan with what its indices mean.
struct Seen<'a> {
    world: &'a World,
    types: &'a BTreeMap<String, PoolTypes>,
    plan: &'a GreedyPlan,
}

impl Seen<'_> {
    fn pods(&self, indices: &[usize]) -> Vec<String> {
        let mut names: Vec<String> = indices.iter().map(|i| self.world.pods[*i].name.clone()).collect();
        names.sort();
        names
    }

    fn types(&self, claim: &GreedyClaim) -> Vec<String> {
        claim.types.iter().map(|t| self.name(claim, *t)).collect()
    }

    fn name(&self, claim: &GreedyClaim, kind: u32) -> String {
        self.types[&claim.pool].types[kind as usize].name.to_string()
    }

    fn zones(claim: &GreedyClaim) -> Vec<String> {
        claim.zones.iter().map(|z| z.to_string()).collect()
    }

    fn kinds(claim: &GreedyClaim) -> Vec<String> {
        claim.capacity_types.iter().map(|c| c.as_str().to_owned()).collect()
    }

    fn words(&self) -> String {
        let claims: Vec<String> = self
            .plan
            .claims
            .iter()
            .map(|c| {
                format!(
                    "{} {:?} {:?} {:?} pods {:?}",
                    c.pool,
                    self.types(c),
                    Self::zones(c),
                    Self::kinds(c),
                    self.pods(&c.pods)
                )
            })
            .collect();
        let pending: Vec<_> = self.plan.unscheduled.iter().map(|(p, r)| (&self.world.pods[*p].name, r)).collect();
        format!("claims {claims:#?}, existing {:?}, pending {pending:?}", self.plan.existing)
    }

    fn compare(&self, expected: &Expected) -> Vec<String> {
        let mut found = Vec::new();
        let mut equal = |what: &str, got: String, wanted: Option<String>| {
            if let Some(wanted) = wanted.filter(|w| *w != got) {
                found.push(format!("{what}: {got} instead of {wanted}"));
            }
        };
        let pending: Vec<usize> = self.plan.unscheduled.iter().map(|(p, _)| *p).collect();
        let text = |v: &Vec<String>| {
            let mut v = v.clone();
            v.sort();
            format!("{v:?}")
        };
        equal("claims", self.plan.claims.len().to_string(), expected.claims.map(|n| n.to_string()));
        equal("pending", text(&self.pods(&pending)), expected.pending.as_ref().map(text));
        equal("pending", pending.len().to_string(), expected.n_pending.map(|n| n.to_string()));
        equal("deferred", text(&self.pods(&self.plan.deferred)), expected.deferred.as_ref().map(text));
        let existing: BTreeMap<_, _> = self.plan.existing.iter().map(|(n, p)| (n.clone(), self.pods(p))).collect();
        equal("existing", format!("{existing:?}"), expected.existing.as_ref().map(|e| format!("{e:?}")));
        let zones = self.count(Self::zones);
        let mut numbers: Vec<usize> = zones.values().copied().collect();
        numbers.sort_unstable();
        equal("per zone", format!("{numbers:?}"), expected.per_zone.as_ref().map(|n| format!("{n:?}")));
        let kinds = self.count(Self::kinds);
        equal("per capacity type", format!("{kinds:?}"), expected.per_capacity_type.as_ref().map(|n| format!("{n:?}")));
        let most = self.plan.claims.iter().map(|c| c.pods.len()).max().unwrap_or(0);
        equal("most", most.to_string(), expected.most.map(|n| n.to_string()));
        for (pod, reasons) in &self.plan.unscheduled {
            let all = reasons.join("; ");
            if all.is_empty() || expected.reason.as_ref().is_some_and(|r| !all.contains(r.as_str())) {
                found.push(format!("reason of {}: {all:?}", self.world.pods[*pod].name));
            }
        }
        let mut free: Vec<&GreedyClaim> = self.plan.claims.iter().collect();
        for wanted in &expected.with {
            match free.iter().position(|c| self.fits(c, wanted)) {
                Some(i) => drop(free.remove(i)),
                None => found.push(format!("no claim is as {wanted:?}")),
            }
        }
        found
    }

    /// Pods per value over claims that leave only one.
    fn count(&self, values: fn(&GreedyClaim) -> Vec<String>) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for claim in &self.plan.claims {
            if let [value] = values(claim).as_slice() {
                *counts.entry(value.clone()).or_default() += claim.pods.len();
            }
        }
        counts
    }

    fn fits(&self, claim: &GreedyClaim, wanted: &ExpectedClaim) -> bool {
        let types = self.types(claim);
        let same = |wanted: &Option<Vec<String>>, got: Vec<String>| wanted.as_ref().is_none_or(|w| *w == got);
        let words: Vec<String> = claim.requirements.iter().map(ToString::to_string).collect();
        let cheapest = claim.cheapest.as_ref().map(|(t, ..)| self.name(claim, *t));
        wanted.pool.as_ref().is_none_or(|p| *p == claim.pool)
            && same(&wanted.pods, self.pods(&claim.pods))
            && wanted.n_pods.is_none_or(|n| n == claim.pods.len())
            && same(&wanted.types, types.clone())
            && wanted.has_types.iter().all(|t| types.contains(t))
            && !wanted.lacks_types.iter().any(|t| types.contains(t))
            && wanted.cheapest.as_ref().is_none_or(|t| Some(t) == cheapest.as_ref())
            && same(&wanted.zones, Self::zones(claim))
            && same(&wanted.capacity_types, Self::kinds(claim))
            && wanted.requirements.iter().all(|r| words.contains(r))
            && wanted.relaxed.is_none_or(|r| r == claim.min_values_relaxed)
    }
}

/// Claims become initialised nodes of their cheapest offering, and every pod
/// runs where it was planned.
fn carry_out(
    world: &mut World,
    catalog: &Catalog,
    types: &BTreeMap<String, PoolTypes>,
    plan: &GreedyPlan,
    pass: usize,
) {
    let bind = |world: &mut World, pods: &[usize], node: &str| {
        for pod in pods {
            world.pods[*pod].node_name = Some(node.to_owned());
        }
    };
    for (node, pods) in &plan.existing {
        bind(world, pods, node);
    }
    for (i, claim) in plan.claims.iter().enumerate() {
        let (kind, zone, capacity_type) = claim.cheapest.clone().expect("a launchable offering");
        let kind = &types[&claim.pool].types[kind as usize];
        let kind = &catalog.types[kind.type_index];
        let mut node = Node { capacity: kind.capacity.clone(), ..Node::default() };
        node.allocatable = kind.allocatable.clone().expect("the lab gives allocatable");
        node.meta.name = format!("made-{pass}-{i:03}");
        let labels = [
            ("topology.kubernetes.io/zone", zone.to_string()),
            ("karpenter.sh/capacity-type", capacity_type.as_str().to_owned()),
            ("karpenter.sh/nodepool", claim.pool.clone()),
            ("kubernetes.io/hostname", node.meta.name.clone()),
            ("kubernetes.io/arch", kind.architecture.clone()),
            ("kubernetes.io/os", "linux".to_owned()),
            ("node.kubernetes.io/instance-type", kind.name.clone()),
        ];
        node.meta.labels = labels.into_iter().map(|(k, v)| (k.to_owned(), v)).chain(kind.labels.clone()).collect();
        bind(world, &claim.pods, &node.meta.name.clone());
        world.nodes.push(node);
    }
    world.nodes.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
}

/// Every file but the catalogue is run by some test.
pub fn files(tested: &[&str]) {
    let names = std::fs::read_dir(directory()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut untested: Vec<String> = names.filter(|n| n != "lab.yaml" && !tested.contains(&n.as_str())).collect();
    untested.sort();
    assert!(untested.is_empty(), "no test runs {untested:?}");
}
