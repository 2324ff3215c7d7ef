//! A case taken apart: what the cluster holds, and the fate of each pod that
//! waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use millwright_core::provision::{self, Decision, PlanError};
use millwright_models::catalog::{Catalog, CatalogError, pool_types};
use millwright_models::lower::{self, LowerError, Place};
use millwright_models::reader::{Document, ReadErrors, ReadOptions, read};
use millwright_models::rules::{Placement, State, StateError};
use millwright_models::world::World;
use millwright_solver::engine;
use serde_json::Value;

use super::foreign::Foreign;
use super::workloads;
use crate::objects::{self, DocumentError, Documents};

/// The driver whose volumes an instance type limits.
const EBS: &str = "ebs.csi.aws.com";

/// Objects, a catalogue, and how to plan.
pub struct Case {
    pub name: String,
    /// A stream of Kubernetes objects.
    pub objects: String,
    pub catalog: Catalog,
    pub settings: lower::Settings,
    /// Rounds of search.
    pub rounds: u64,
}

/// What becomes of a pod that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The plan has a place for it.
    Lands(String),
    /// The plan has none, and says why.
    Waits(Vec<String>),
}

/// A pod that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Position in `World::pods`.
    pub pod: usize,
    pub namespace: String,
    pub name: String,
    pub object: Value,
    pub fate: Fate,
}

/// A pod that runs.
#[derive(Clone, Debug)]
pub struct Running {
    pub object: Value,
    /// As it was written.
    pub status: Value,
    pub terminating: bool,
    /// The DaemonSet that it belongs to.
    pub daemon_set: Option<String>,
}

/// A case, planned, as objects.
pub struct Scene {
    pub world: World,
    pub decision: Decision,
    pub documents: Documents,
    /// In the order in which nodes came into being: old ones first.
    pub nodes: Vec<Value>,
    pub volume_limits: Vec<Value>,
    pub running: Vec<Running>,
    pub waiting: Vec<Waiting>,
    /// Claims of the input, and those of StatefulSets.
    pub claims: Vec<Value>,
    pub namespaces: BTreeSet<String>,
}

/// Why a case cannot be staged.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    #[error("the reader refuses it: {0}")]
    Read(#[from] ReadErrors),
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error("there is no plan: {0}")]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Lower(#[from] LowerError),
    #[error("the rules do not take its objects: {0}")]
    State(#[from] StateError),
    #[error("types of a pool: {0}")]
    Catalog(#[from] CatalogError),
    #[error("{0} is in the plan but not in the input")]
    NoPod(String),
}

impl Scene {
    /// Reads and plans a case.
    pub fn of(case: &Case) -> Result<Self, SceneError> {
        let document = Document { file: case.name.clone(), text: case.objects.clone() };
        let world = read(&[document], &ReadOptions::default())?;
        let documents = Documents::parse(&case.name, &case.objects)?;
        let options = provision::Options {
            lower: case.settings.clone(),
            engine: engine::Options { iterations: Some(case.rounds), threads: 1, ..engine::Options::default() },
            now: "2026-01-01T00:00:00Z".to_owned(),
            baseline: false,
        };
        let decision = provision::plan(&world, &case.catalog, &options, &|| Duration::ZERO)?;
        Self::set(case, world, documents, decision)
    }

    /// A case that another provisioner has planned.
    pub fn of_foreign(case: &Case, plan: &Foreign) -> Result<Self, SceneError> {
        let scene = Self::of(case)?;
        let decision = plan.decision(&scene.world, scene.decision).map_err(SceneError::NoPod)?;
        Self::set(case, scene.world, scene.documents, decision)
    }

    fn set(case: &Case, world: World, documents: Documents, decision: Decision) -> Result<Self, SceneError> {
        let mut scene = Self {
            nodes: Vec::new(),
            volume_limits: documents.of("CSINode").map(objects::afresh).collect(),
            running: Vec::new(),
            waiting: Vec::new(),
            claims: documents.of("PersistentVolumeClaim").map(objects::claim).collect(),
            namespaces: BTreeSet::new(),
            world,
            decision,
            documents,
        };
        scene.old_nodes(case)?;
        scene.new_nodes(case)?;
        scene.wait()?;
        scene.run();
        scene.absent_claims();
        scene.name_namespaces();
        Ok(scene)
    }

    /// A pod that waits, on a node, as the rules take it.
    pub fn placement(&self, waiting: &Waiting, node: &str) -> Placement {
        let mut pod = self.world.pods[waiting.pod].clone();
        pod.node_name = None;
        Placement::new(Arc::new(pod), node)
    }

    /// Everything that the plan places, and the state that it meets, without
    /// the pods that DaemonSets will make.
    pub fn landing(&self) -> Result<(State, Vec<Placement>), SceneError> {
        let running = self.running.iter().map(|r| {
            let mut pod = r.object.clone();
            pod["status"] = serde_json::json!({"phase": r.status["phase"]});
            pod
        });
        let all = self.nodes.iter().chain(&self.volume_limits).cloned().chain(running);
        let text: String = all.map(|o| format!("---\n{o}\n")).collect();
        let documents = [Document { file: "nodes".to_owned(), text }];
        let made = read(&documents, &ReadOptions { default_pools: false })?;
        let world = World { nodes: made.nodes, csi_nodes: made.csi_nodes, pods: made.pods, ..self.world.clone() };
        let places = self.waiting.iter().filter_map(|w| match &w.fate {
            Fate::Lands(node) => Some(self.placement(w, node)),
            Fate::Waits(_) => None,
        });
        Ok((State::of(&world)?, places.collect()))
    }

    /// Nodes that exist or are on their way.
    fn old_nodes(&mut self, case: &Case) -> Result<(), SceneError> {
        let lowered = lower::lower(&self.world, &case.catalog, &case.settings)?;
        let by_name: BTreeMap<&str, &Place<'_>> = lowered.places.iter().map(|p| (p.name, p)).collect();
        let mut nodes: Vec<Value> = Vec::new();
        for node in self.documents.of("Node") {
            nodes.push(match by_name.get(objects::name(node)) {
                // It will be as its claim says once it is initialised, or has rebooted.
                Some(place) if is_coming(place) => objects::in_flight(place),
                Some(place) => objects::existing(node, place.leaving),
                None => objects::existing(node, true),
            });
        }
        for place in lowered.places.iter().filter(|p| p.node.is_none() && !p.leaving) {
            nodes.push(objects::in_flight(place));
        }
        self.nodes = nodes;
        Ok(())
    }

    /// Nodes that the plan buys, as `planned-i`.
    fn new_nodes(&mut self, case: &Case) -> Result<(), SceneError> {
        let mut types = BTreeMap::new();
        for pool in &self.world.node_pools {
            if self.decision.nodes.iter().all(|n| n.pool != pool.name()) {
                continue;
            }
            types.insert(pool.name().to_owned(), pool_types(&self.world, &case.catalog, pool, &case.settings.gates)?);
        }
        for (i, (node, claim)) in self.decision.nodes.iter().zip(&self.decision.claims).enumerate() {
            let name = planned_name(i);
            let kind = types.get(&node.pool).and_then(|t| t.types.iter().find(|t| *t.name == *node.instance_type));
            let Some(kind) = kind else { return Err(SceneError::NoPod(format!("type {}", node.instance_type))) };
            let told = objects::PlannedType {
                labels: &kind.labels,
                capacity: &kind.capacity,
                allocatable: &kind.allocatable,
                region: &case.catalog.region,
            };
            self.nodes.push(objects::planned(&name, node, claim, &told, true));
            if let Some(count) = kind.volume_attachments {
                self.volume_limits.push(objects::volume_limits(&name, EBS, count));
            }
        }
        Ok(())
    }

    /// Pods that are bound already; those that leave their node and are planned
    /// anew are gone from it.
    fn run(&mut self) {
        let nodes: BTreeSet<&str> = self.nodes.iter().map(objects::name).collect();
        let moving: BTreeSet<(&str, &str)> =
            self.waiting.iter().map(|w| (w.namespace.as_str(), w.name.as_str())).collect();
        for pod in self.documents.of("Pod") {
            if moving.contains(&(objects::namespace(pod), objects::name(pod))) {
                continue;
            }
            let Some(node) = pod["spec"]["nodeName"].as_str().filter(|n| nodes.contains(n)) else { continue };
            let owners = pod["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            let daemon_set = owners.filter(|o| o["kind"] == "DaemonSet").find_map(|o| o["name"].as_str());
            self.running.push(Running {
                object: objects::bound(pod, node),
                status: pod["status"].clone(),
                terminating: !pod["metadata"]["deletionTimestamp"].is_null(),
                daemon_set: daemon_set.map(str::to_owned),
            });
        }
    }

    /// Pods that wait, with their fates.
    fn wait(&mut self) -> Result<(), SceneError> {
        let mut fates: BTreeMap<usize, Fate> = BTreeMap::new();
        for (i, node) in self.decision.nodes.iter().enumerate() {
            fates.extend(node.pods.iter().map(|p| (*p, Fate::Lands(planned_name(i)))));
        }
        for (node, pods) in &self.decision.existing {
            fates.extend(pods.iter().map(|p| (*p, Fate::Lands(node.clone()))));
        }
        fates.extend(self.decision.unscheduled.iter().map(|(p, why)| (*p, Fate::Waits(why.clone()))));
        for (pod, fate) in fates {
            let read = &self.world.pods[pod];
            let made = workloads::object(&self.documents, read).ok_or_else(|| SceneError::NoPod(read.full_name()))?;
            self.claims.extend(made.claims);
            self.waiting.push(Waiting {
                pod,
                namespace: read.namespace.clone(),
                name: read.name.clone(),
                object: objects::waiting(&read.name, &read.namespace, &made.pod),
                fate,
            });
        }
        Ok(())
    }

    /// Claims that pods name and nobody has written: they are taken for ones
    /// that wait for their first consumer.
    fn absent_claims(&mut self) {
        let known: BTreeSet<(String, String)> = self.claims.iter().map(full_name).collect();
        let mut absent = BTreeSet::new();
        for pod in self.waiting.iter().map(|w| &w.object).chain(self.running.iter().map(|r| &r.object)) {
            for volume in pod["spec"]["volumes"].as_array().into_iter().flatten() {
                if let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() {
                    absent.insert((objects::namespace(pod).to_owned(), claim.to_owned()));
                }
            }
        }
        for (namespace, name) in absent.difference(&known) {
            let template = serde_json::json!({"spec": {"storageClassName": super::stage::LATE}});
            self.claims.push(objects::claim_from_template(name, namespace, &template));
        }
    }

    fn name_namespaces(&mut self) {
        let written = self.documents.of("DaemonSet").chain(self.documents.of("LimitRange"));
        let all = written.chain(&self.claims).chain(self.running.iter().map(|r| &r.object));
        self.namespaces = all.map(|o| objects::namespace(o).to_owned()).collect();
        self.namespaces.extend(self.waiting.iter().map(|w| w.namespace.clone()));
        self.namespaces.extend(self.documents.of("Namespace").map(|n| objects::name(n).to_owned()));
    }
}

/// Whether a node will be as its claim says, but is not yet.
fn is_coming(place: &Place<'_>) -> bool {
    let reboots = place.claim.is_some_and(|c| c.is("Rebooting"));
    !place.leaving && (reboots || !place.is_initialized())
}

fn planned_name(i: usize) -> String {
    format!("planned-{i}")
}

fn full_name(object: &Value) -> (String, String) {
    (objects::namespace(object).to_owned(), objects::name(object).to_owned())
}
