//! kube-scheduler: filters by `models::rules`, the emptiest node wins.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::pod::Pod;
use millwright_models::resources::{CPU, Resources};
use millwright_models::rules::State;
use millwright_models::world::World;
use serde_json::json;

use crate::dice::Dice;
use crate::json;
use crate::server::Key;
use crate::stage::{Happening, Stage};

/// The scheduler.
#[derive(Debug)]
pub struct Scheduler {
    dice: Dice,
    /// Bindings that are on their way, by uid of the pod: they count already.
    assumed: BTreeMap<String, String>,
    /// Pods that failed wait before the next attempt.
    backoff: BTreeMap<String, (Timestamp, u32)>,
    /// What the pods that wait were last weighed against.
    weighed: u64,
}

impl Scheduler {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed, "scheduler"), assumed: BTreeMap::new(), backoff: BTreeMap::new(), weighed: 0 }
    }

    /// Finds places for the pods that wait.
    pub fn run(&mut self, stage: &mut Stage) {
        let now = stage.now();
        let version = stage.server.version();
        let (world, _) = stage.world();
        let is_mine = |p: &&Pod| {
            p.node_name.is_none()
                && !p.is_terminal()
                && p.deleted.is_none()
                && p.spec.scheduling_gates.is_empty()
                && matches!(p.spec.scheduler_name.as_str(), "" | "default-scheduler")
                && !self.assumed.contains_key(&p.uid)
        };
        let mut waiting: Vec<&Pod> = world.pods.iter().filter(is_mine).collect();
        self.backoff.retain(|uid, _| waiting.iter().any(|p| p.uid == *uid));
        waiting.retain(|p| self.backoff.get(&p.uid).is_none_or(|(at, _)| *at <= now));
        if waiting.is_empty() || (self.weighed == version && self.backoff.is_empty()) {
            return;
        }
        self.weighed = version;
        waiting.sort_by_key(|p| (-i64::from(p.spec.priority.unwrap_or(0)), p.created, p.name.clone()));
        let Some(mut state) = self.state(&world) else { return };
        let mut room = room(&world, &self.assumed);
        for pod in waiting {
            match self.choose(&mut state, &room, &world, pod) {
                Ok(node) => {
                    if let Some(free) = room.get_mut(&node) {
                        free.sub(&pod.requests);
                    }
                    if state.place(&Arc::new(pod.clone()), &node).is_err() {
                        continue;
                    }
                    self.backoff.remove(&pod.uid);
                    self.assumed.insert(pod.uid.clone(), node.clone());
                    let (key, uid) = (Key::pod(&pod.namespace, &pod.name), pod.uid.clone());
                    stage.agenda.after(self.dice.millis(3, 120), Happening::Bind { pod: key, uid, node });
                }
                Err(why) => self.give_up(stage, pod, &why, now),
            }
        }
    }

    /// Nodes with what runs there or is assumed to.
    fn state(&self, world: &World) -> Option<State> {
        let mut state = State::of(world).ok()?;
        for pod in world.pods.iter().filter(|p| p.node_name.is_none()) {
            if let Some(node) = self.assumed.get(&pod.uid) {
                // The node may be gone meanwhile.
                drop(state.place(&Arc::new(pod.clone()), node));
            }
        }
        Some(state)
    }

    /// The nominated node, else the one with most room left.
    fn choose(
        &mut self,
        state: &mut State,
        room: &BTreeMap<String, Resources>,
        world: &World,
        pod: &Pod,
    ) -> Result<String, String> {
        if let Some(node) = pod.nominated_node.as_deref()
            && state.filter(pod, node).is_ok()
        {
            return Ok(node.to_owned());
        }
        let mut best: Option<(i64, &str)> = None;
        let mut why = format!("0/{} nodes are available", world.nodes.len());
        for (i, node) in world.nodes.iter().enumerate() {
            let name = node.meta.name.as_str();
            match state.filter(pod, name) {
                Ok(()) => {
                    let free = room.get(name).map_or(0, |r| r.get(CPU));
                    let score = free * 8 + self.dice.between(0, 7);
                    if best.is_none_or(|(s, _)| score > s) {
                        best = Some((score, name));
                    }
                }
                Err(refusal) if i == 0 => why = format!("{why}: {refusal}"),
                Err(_) => {}
            }
        }
        best.map(|(_, name)| name.to_owned()).ok_or(why)
    }

    /// Marks a pod and lets it wait.
    fn give_up(&mut self, stage: &mut Stage, pod: &Pod, why: &str, now: Timestamp) {
        let entry = self.backoff.entry(pod.uid.clone()).or_insert((now, 0));
        entry.0 = now + SignedDuration::from_secs((1 << entry.1.min(3)).min(10));
        entry.1 += 1;
        let key = Key::pod(&pod.namespace, &pod.name);
        let Some(object) = stage.server.get(&key) else { return };
        let marked =
            json::condition(object, "PodScheduled").is_some_and(|c| json::text(c, &["reason"]) == "Unschedulable");
        if !marked {
            let conditions = json::with_condition(object, "PodScheduled", "False", "Unschedulable", why, now);
            drop(stage.server.patch(&key, true, &json!({"status": {"conditions": conditions}})));
        }
    }

    /// A binding arrives at the API server.
    pub fn bind(&mut self, pod: &Key, uid: &str, node: &str, stage: &mut Stage) {
        let now = stage.now();
        self.assumed.remove(uid);
        // Refused where somebody was faster; the pod is weighed again if it
        // still waits.
        drop(stage.server.bind(pod, uid, node, now));
    }
}

/// Room left on each node.
fn room(world: &World, assumed: &BTreeMap<String, String>) -> BTreeMap<String, Resources> {
    let mut room: BTreeMap<String, Resources> =
        world.nodes.iter().map(|n| (n.meta.name.clone(), n.allocatable.clone())).collect();
    for pod in world.pods.iter().filter(|p| !p.is_terminal()) {
        let node = pod.node_name.as_ref().or_else(|| assumed.get(&pod.uid));
        if let Some(free) = node.and_then(|n| room.get_mut(n)) {
            free.sub(&pod.requests);
        }
    }
    room
}
