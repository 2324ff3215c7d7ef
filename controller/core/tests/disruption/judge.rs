//! Holds one scenario against the pure rules.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use millwright_core::budgets::{Reason, allowances};
use millwright_core::candidates::{Candidate, Class, Scene};
use millwright_core::consolidate::{self, Limits};
use millwright_core::nodes::Memory;
use millwright_core::pods::{Shield, shield};
use millwright_core::{cost, drift, expire};
use millwright_models::catalog::{Catalog, Gates, file};
use millwright_models::lower::{MinValuesPolicy, PreferencePolicy, Settings};
use millwright_models::reader::{Document, ReadOptions, read};
use millwright_models::world::World;
use millwright_solver::engine;
use serde_json::Value;

use super::scenario::{Audit, Expected, NOW, Scenario};
use super::{baseline, repair};

/// Everything that does not hold.
pub fn faults(scenario: &Scenario, lab: &Value) -> Vec<String> {
    let catalog = file::parse("catalog", &scenario.catalog(lab).to_string(), &|_| None)
        .unwrap_or_else(|e| panic!("{}: {e}", scenario.name));
    let document = Document { file: "objects".to_owned(), text: scenario.objects() };
    let world = match read(&[document], &ReadOptions { default_pools: false }) {
        Ok(world) => world,
        Err(e) => return vec![format!("{}: {e}", scenario.name)],
    };
    let gates: Gates = if scenario.gates.is_empty() { Gates::default() } else { scenario.gates.parse().unwrap() };
    let mut out = Vec::new();
    for expected in &scenario.expect {
        let now: Timestamp = expected.now.as_deref().unwrap_or(NOW).parse().unwrap();
        let mut scene = Scene::new(&world, &catalog, gates, now, memory(scenario));
        for pool in &scenario.unlisted {
            Arc::make_mut(&mut scene.pools).insert(pool.clone(), Err("the provider does not answer".to_owned()));
        }
        let mut check = Check { scene: &scene, out: Vec::new() };
        check.all(expected);
        let settings = settings(scenario, gates);
        if let Some(audit) = &expected.audit {
            check.audit(audit, &world, &catalog, settings.clone(), now);
        }
        if let Some(baseline) = &expected.baseline {
            baseline::check(&mut check, baseline, &world, &catalog, &settings);
        }
        repair::check(&mut check, expected, scenario);
        out.extend(check.out.into_iter().map(|f| format!("{} at {now}: {f}", scenario.name)));
    }
    out
}

fn settings(scenario: &Scenario, gates: Gates) -> Settings {
    Settings {
        gates,
        spot_types: 1,
        preferences: if scenario.ignore_preferences { PreferencePolicy::Ignore } else { PreferencePolicy::Respect },
        min_values: if scenario.best_effort { MinValuesPolicy::BestEffort } else { MinValuesPolicy::Strict },
    }
}

fn memory(scenario: &Scenario) -> Memory {
    let id = |name: &String| format!("lab:///{name}");
    Memory {
        queued: scenario.queued.iter().map(id).collect(),
        marked: scenario.marked.iter().map(id).collect(),
        nominated: scenario.nominated.iter().map(|(n, at)| (id(n), at.parse().unwrap())).collect(),
    }
}

pub struct Check<'s, 'w> {
    pub scene: &'s Scene<'w>,
    pub out: Vec<String>,
}

impl Check<'_, '_> {
    pub fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, got: T, wanted: T) {
        if got != wanted {
            self.out.push(format!("{what} is {got:?} instead of {wanted:?}"));
        }
    }

    /// `"yes"`, or a part of the reason.
    pub fn verdict(&mut self, what: &str, got: Result<(), String>, wanted: &str) {
        let holds = match &got {
            Ok(()) => wanted == "yes",
            Err(why) => wanted != "yes" && why.contains(wanted),
        };
        if !holds {
            self.out.push(format!("{what} is {got:?} instead of {wanted:?}"));
        }
    }

    pub fn node(&mut self, name: &str) -> usize {
        let found = self.scene.nodes.iter().position(|n| n.name() == name);
        found.unwrap_or_else(|| panic!("no node {name}"))
    }

    fn all(&mut self, e: &Expected) {
        let classes = [(Class::Graceful, &e.graceful), (Class::Eventual, &e.eventual), (Class::Repair, &e.repair)];
        for (class, wanted) in classes {
            for (name, wanted) in wanted {
                let n = self.node(name);
                let got = self.scene.candidate(n, class).map(|_| ()).map_err(|e| e.to_string());
                self.verdict(&format!("{class:?} {name}"), got, wanted);
            }
        }
        for (name, wanted) in &e.event {
            let n = self.node(name);
            let told = self.scene.candidate(n, Class::Graceful).err().is_some_and(|e| e.has_event());
            self.same(&format!("event of {name}"), told, *wanted);
        }
        self.filter("consolidatable", &e.consolidatable, |s, c| s.consolidatable(c).map_err(|e| e.to_string()));
        self.filter("emptiable", &e.emptiable, |s, c| s.emptiable(c).map_err(|e| e.to_string()));
        for (name, wanted) in &e.empty {
            let n = self.node(name);
            let got = self.scene.candidate(n, Class::Graceful).map(|c| c.is_empty());
            self.same(&format!("empty {name}"), got, Ok(*wanted));
        }
        self.budgets(e);
        self.claims(e);
        self.pods(e);
    }

    fn filter(
        &mut self,
        what: &str,
        wanted: &BTreeMap<String, String>,
        judge: fn(&Scene<'_>, &Candidate<'_>) -> Result<(), String>,
    ) {
        for (name, wanted) in wanted {
            let n = self.node(name);
            let candidate = self.scene.candidate(n, Class::Graceful).map_err(|e| e.to_string());
            let got = candidate.and_then(|c| judge(self.scene, &c));
            self.verdict(&format!("{what} {name}"), got, wanted);
        }
    }

    fn budgets(&mut self, e: &Expected) {
        let s = self.scene;
        let mut faults = Vec::new();
        for reason in Reason::ALL {
            let (all, bad) = allowances(&s.world.node_pools, s.census(), reason, s.now);
            faults.extend(bad.into_iter().map(|(pool, _)| pool));
            for (pool, a) in &all {
                let asked = |map: &BTreeMap<String, BTreeMap<String, i64>>| {
                    map.get(pool).and_then(|of| of.get(reason.as_str())).copied()
                };
                let what = format!("of {pool} for {}", reason.as_str());
                if let Some(wanted) = asked(&e.allowed) {
                    self.same(&format!("allowed {what}"), a.allowed, wanted);
                }
                if let Some(wanted) = asked(&e.remaining) {
                    self.same(&format!("remaining {what}"), a.remaining, wanted);
                }
                if let Some(wanted) = e.budget_event.get(pool).and_then(|of| of.get(reason.as_str())) {
                    self.same(&format!("event {what}"), a.blocked, *wanted);
                }
            }
        }
        faults.sort();
        faults.dedup();
        if let Some(wanted) = e.budget_faults {
            self.same("pools with budgets that cannot be evaluated", faults.len(), wanted);
        }
    }

    fn claims(&mut self, e: &Expected) {
        let s = self.scene;
        for (name, wanted) in &e.drift {
            let node = &s.nodes[self.node(name)];
            let (claim, pool) = (node.claim.unwrap(), s.world.node_pool(node.pool().unwrap()).unwrap());
            let class = s.world.node_class(&pool.template.node_class.name);
            let got = drift::drift(claim, pool, class, s.catalog, s.now).map_or("none", |d| d.as_str());
            self.same(&format!("drift of {name}"), got, wanted.as_str());
        }
        for (name, wanted) in &e.expired {
            let claim = s.nodes[self.node(name)].claim.unwrap();
            self.same(&format!("expired {name}"), expire::is_expired(claim, s.now), *wanted);
        }
    }

    fn pods(&mut self, e: &Expected) {
        let s = self.scene;
        let at = |name: &String| s.world.pods.iter().position(|p| p.name == *name).expect("a pod of the scenario");
        for (name, wanted) in &e.shield {
            let got = match shield(&s.world.pods[at(name)], s.now) {
                Shield::None => "none".to_owned(),
                Shield::Lasting => "lasting".to_owned(),
                Shield::Until(end) => format!("until {end}"),
                Shield::Elapsed(end) => format!("elapsed {end}"),
                Shield::Invalid => "invalid".to_owned(),
            };
            self.same(&format!("shield of {name}"), got.as_str(), wanted.as_str());
        }
        for (name, wanted) in &e.eviction_cost {
            let got = cost::of_eviction(&s.world.pods[at(name)], &s.gates);
            self.same(&format!("eviction cost of {name}"), got, *wanted);
        }
        for (name, wanted) in &e.fully_blocked {
            self.same(&format!("fully blocked {name}"), s.pdbs.fully_blocks(at(name), s.now), *wanted);
        }
    }

    fn audit(&mut self, wanted: &Audit, world: &World, catalog: &Catalog, lower: Settings, now: Timestamp) {
        let options = consolidate::Options {
            lower,
            engine: engine::Options { iterations: Some(20), threads: 1, ..engine::Options::default() },
            now,
            disruption_price: Some(0),
            drifted: consolidate::Drifted::Must,
            limits: Limits::default(),
            include_unmanaged: false,
            all_waves: false,
            frontier: false,
            reasons: true,
        };
        let audit = match consolidate::audit(world, catalog, &options, &|| Duration::ZERO) {
            Ok(audit) => audit,
            Err(e) => return self.out.push(format!("no audit: {e}")),
        };
        let wave = &audit.waves[0];
        let sorted = |of: fn(&millwright_models::lift::PlannedNode) -> &String| {
            let mut all: Vec<String> = wave.nodes.iter().map(of).cloned().collect();
            all.sort();
            all
        };
        if let Some(wanted) = &wanted.removed {
            self.same("removed", &wave.removed, wanted);
        }
        if let Some(wanted) = wanted.n_removed {
            self.same("number removed", wave.removed.len(), wanted);
        }
        if let Some(most) = wanted.most_removed.filter(|m| wave.removed.len() > *m) {
            self.out.push(format!("{} nodes removed, at most {most}", wave.removed.len()));
        }
        if let Some(wanted) = &wanted.bought {
            self.same("bought", &sorted(|n| &n.instance_type), wanted);
        }
        if let Some(wanted) = &wanted.capacity_types {
            self.same("capacity types", &sorted(|n| &n.capacity_type), wanted);
        }
        if let Some(wanted) = &wanted.zones {
            self.same("zones", &sorted(|n| &n.zone), wanted);
        }
        if let Some(wanted) = wanted.cost {
            self.same("cost", wave.cost, (wanted * 1e6).round() as i64);
        }
        for (name, part) in &wanted.stays {
            let got = audit.blocked.iter().find(|(n, _)| n == name).map(|(_, why)| why.join("; "));
            self.verdict(&format!("staying {name}"), got.map_or(Ok(()), Err), part);
        }
        for kind in &wanted.lacks_types {
            if wave.nodes.iter().any(|n| n.instance_types.contains(kind)) {
                self.out.push(format!("a launch list holds {kind}"));
            }
        }
    }
}
