//! Pods let in one after the other, each with the node that the plan has for
//! it, and what the scheduler makes of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use millwright_models::karpenter::labels;
use millwright_models::reader::{Document, ReadErrors, ReadOptions, read};
use millwright_models::rules::{Placement, State, StateError, landing_steps};
use serde_json::{Value, json};

use super::scene::{Fate, Scene, Waiting};
use super::stage::{pods, unschedulable};
use crate::api::{Api, ApiError, Patch};
use crate::objects;
use crate::room::{Room, RoomError};

/// A refusal must last so long: the scheduler learns of nodes and pods by
/// different watches, and tries again after a second.
const STUBBORN: Duration = Duration::from_secs(4);
/// No scheduling takes longer.
const LONG: Duration = Duration::from_secs(30);

/// What the scheduler did with a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Bound(String),
    Refused(String),
    /// No decision.
    Silent,
}

/// Where plan and scheduler differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    #[error("the rules find no order: {0}")]
    NoOrder(String),
    #[error("{pod} is planned on {planned}, the scheduler says: {verdict:?}")]
    Elsewhere { pod: String, planned: String, verdict: Outcome },
    #[error("{pod} is left pending ({reasons}), the scheduler binds it to {node}; the rules {rules}")]
    Placed { pod: String, reasons: String, node: String, rules: String },
    #[error("{pod} is planned, the API server refuses it: {reason}")]
    Invalid { pod: String, reason: String },
    #[error("{pod} got no answer")]
    Silent { pod: String },
}

/// What came of a landing.
#[derive(Clone, Debug, Default)]
pub struct Landing {
    pub wrong: Vec<Disagreement>,
    /// Pods that the plan leaves out for a domain that could be bought, where
    /// the scheduler only looks at what there is.
    pub stricter: Vec<String>,
}

impl Landing {
    fn broken(wrong: Vec<Disagreement>) -> Self {
        Self { wrong, stricter: Vec::new() }
    }
}

/// Why a landing broke off.
#[derive(Debug, thiserror::Error)]
pub enum LandError {
    #[error(transparent)]
    Room(#[from] RoomError),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("what the API server holds cannot be read: {0}")]
    Read(#[from] ReadErrors),
    #[error("what the API server holds is no state: {0}")]
    State(#[from] StateError),
}

/// Lets the pods of a scene that is set up come in. `absent`: those that the
/// API server did not accept.
pub async fn land(room: &Room, scene: &Scene, absent: &[usize]) -> Result<Landing, LandError> {
    let mut state = observe(&room.api).await?;
    let coming: Vec<(&Waiting, &str)> = scene
        .waiting
        .iter()
        .enumerate()
        .filter(|(i, _)| !absent.contains(i))
        .filter_map(|(_, w)| match &w.fate {
            Fate::Lands(node) => Some((w, node.as_str())),
            Fate::Waits(_) => None,
        })
        .collect();
    let placements: Vec<Placement> = coming.iter().map(|(w, node)| scene.placement(w, node)).collect();
    let steps = match landing_steps(&state, &placements) {
        Ok(steps) => steps,
        Err(stuck) => return Ok(Landing::broken(vec![Disagreement::NoOrder(stuck.to_string())])),
    };
    for step in steps {
        let now: Vec<(String, String)> = step.iter().map(|i| (path(coming[*i].0), coming[*i].1.to_owned())).collect();
        let outcomes = room.each(now, |api, (path, node)| async move { come(&api, &path, Some(&node)).await }).await?;
        let mut wrong = Vec::new();
        for (i, outcome) in step.into_iter().zip(outcomes) {
            let (waiting, planned) = coming[i];
            let outcome = outcome?;
            if outcome == Outcome::Bound(planned.to_owned()) {
                state.place(&placements[i].pod, planned)?;
            } else {
                wrong.push(Disagreement::Elsewhere {
                    pod: format!("{}/{}", waiting.namespace, waiting.name),
                    planned: planned.to_owned(),
                    verdict: outcome,
                });
            }
        }
        // What comes after a wrong step proves nothing.
        if !wrong.is_empty() {
            return Ok(Landing::broken(wrong));
        }
    }
    let left: Vec<&Waiting> = scene
        .waiting
        .iter()
        .enumerate()
        .filter(|(i, w)| !absent.contains(i) && matches!(w.fate, Fate::Waits(_)))
        // Nobody makes their ResourceClaims here, so they are never tried.
        .filter(|(_, w)| w.object["spec"]["resourceClaims"].is_null())
        .map(|(_, w)| w)
        .collect();
    stay(room, scene, &mut state, &left).await
}

/// Pods that the plan leaves out must find no place by themselves either.
async fn stay(room: &Room, scene: &Scene, state: &mut State, left: &[&Waiting]) -> Result<Landing, LandError> {
    let (mut wrong, mut stricter) = (Vec::new(), Vec::new());
    let paths: Vec<String> = left.iter().map(|w| path(w)).collect();
    let outcomes = room.each(paths, |api, path| async move { come(&api, &path, None).await }).await?;
    for (waiting, outcome) in left.iter().zip(outcomes) {
        let pod = format!("{}/{}", waiting.namespace, waiting.name);
        match outcome? {
            Outcome::Refused(_) => {}
            Outcome::Silent => wrong.push(Disagreement::Silent { pod }),
            Outcome::Bound(node) => {
                let mut read = scene.world.pods[waiting.pod].clone();
                read.node_name = None;
                let rules = match state.filter(&read, &node) {
                    Ok(()) => "agree with it".to_owned(),
                    Err(refusal) => format!("say {refusal}"),
                };
                let Fate::Waits(reasons) = &waiting.fate else { continue };
                if is_stricter(&waiting.object, reasons) {
                    stricter.push(pod);
                    continue;
                }
                wrong.push(Disagreement::Placed { pod, reasons: reasons.join("; "), node, rules });
            }
        }
    }
    Ok(Landing { wrong, stricter })
}

/// Whether a pod stays out for a domain that the scheduler does not see: a
/// value of a key that could be bought, but that no node has yet, is as empty a
/// domain as any.
fn is_stricter(pod: &Value, reasons: &[String]) -> bool {
    let spreads = pod["spec"]["topologySpreadConstraints"].as_array().into_iter().flatten();
    let mut keys =
        spreads.filter(|s| s["whenUnsatisfiable"] != "ScheduleAnyway").filter_map(|s| s["topologyKey"].as_str());
    keys.any(|key| {
        let words = format!("topology spread over {key} ");
        key != labels::HOSTNAME && reasons.iter().any(|reason| reason.contains(&words))
    })
}

/// What the API server holds, as the rules see it.
async fn observe(api: &Api) -> Result<State, LandError> {
    let paths: BTreeMap<&str, &str> = BTreeMap::from([
        ("Node", "/api/v1/nodes"),
        ("Namespace", "/api/v1/namespaces"),
        ("PersistentVolume", "/api/v1/persistentvolumes"),
        ("PersistentVolumeClaim", "/api/v1/persistentvolumeclaims"),
        ("Pod", "/api/v1/pods"),
    ]);
    let mut text = String::new();
    let mut add = |kind: &str, version: &str, all: Vec<Value>| {
        for mut object in all {
            object["kind"] = json!(kind);
            object["apiVersion"] = json!(version);
            // Pods that wait are none of the state, whatever a reader says to their gates.
            if kind != "Pod" || !object["spec"]["nodeName"].is_null() {
                text.push_str(&format!("---\n{object}\n"));
            }
        }
    };
    for (kind, path) in paths {
        add(kind, "v1", api.list(path).await?);
    }
    for (kind, path) in [("StorageClass", "storageclasses"), ("CSINode", "csinodes")] {
        add(kind, "storage.k8s.io/v1", api.list(&format!("/apis/storage.k8s.io/v1/{path}")).await?);
    }
    let document = Document { file: "the API server".to_owned(), text };
    let world = read(&[document], &ReadOptions { default_pools: false })?;
    Ok(State::of(&world)?)
}

fn path(waiting: &Waiting) -> String {
    format!("{}/{}", pods(&waiting.namespace), waiting.name)
}

/// Nominates a pod, lets it in, waits for the scheduler.
async fn come(api: &Api, path: &str, node: Option<&str>) -> Result<Outcome, ApiError> {
    if let Some(node) = node {
        let status = json!({"status": {"nominatedNodeName": node}});
        api.patch(&format!("{path}/status"), Patch::Merge, &status).await?;
    }
    let pod = api.get(path).await?;
    let mut gates: Vec<Value> = pod["spec"]["schedulingGates"].as_array().cloned().unwrap_or_default();
    gates.retain(|g| g["name"] != objects::GATE);
    api.patch(path, Patch::Merge, &json!({"spec": {"schedulingGates": gates}})).await?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(4);
    loop {
        let pod = api.get(path).await?;
        if let Some(node) = pod["spec"]["nodeName"].as_str() {
            return Ok(Outcome::Bound(node.to_owned()));
        }
        let refusal = unschedulable(&pod);
        match refusal {
            // Without a nomination one refusal is enough.
            Some(why) if node.is_none() || start.elapsed() > STUBBORN => return Ok(Outcome::Refused(why.to_owned())),
            _ if start.elapsed() > LONG => return Ok(Outcome::Silent),
            _ => {}
        }
        super::provisioner::serve(api, &pod).await?;
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(60));
    }
}
