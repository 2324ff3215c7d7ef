//! Kubelets: Nodes that register, pods that start and stop.

use std::collections::BTreeMap;

use jiff::Timestamp;
use millwright_models::kube::pod::Pod;
use millwright_models::resources::{CPU, MEMORY, PODS, Resources};
use serde_json::{Value, json};

use crate::clients::version;
use crate::dice::Dice;
use crate::json;
use crate::provider::{Machine, machine_amounts};
use crate::server::{Key, Kind};
use crate::stage::{Happening, Stage};

const UNREGISTERED: &str = "karpenter.sh/unregistered";

/// All kubelets.
#[derive(Debug)]
pub struct Kubelets {
    dice: Dice,
    /// Pods that were admitted, by uid.
    admitted: BTreeMap<String, String>,
    /// Pods that are being stopped, by uid, and their latest end.
    stopping: BTreeMap<String, Timestamp>,
}

impl Kubelets {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed, "kubelets"), admitted: BTreeMap::new(), stopping: BTreeMap::new() }
    }

    /// A machine makes its Node, if it still runs.
    pub fn boot(&mut self, id: &str, stage: &mut Stage) {
        let now = stage.now();
        let Some(machine) = stage.provider.machine(id).filter(|m| m.is_up()) else { return };
        let ready_in = machine.ready_in;
        let node = node(machine, now);
        if stage.server.create(node, now).is_ok() {
            stage.agenda.after(ready_in, Happening::Ready { machine: id.to_owned() });
        }
    }

    /// A kubelet reports Ready.
    pub fn ready(&mut self, id: &str, stage: &mut Stage) {
        let now = stage.now();
        let Some(machine) = stage.provider.machine(id).filter(|m| m.is_up()) else { return };
        let key = Key::node(&machine.node);
        let status =
            json!({"capacity": machine_amounts(&machine.capacity), "allocatable": machine_amounts(&machine.offered)});
        let Some(object) = stage.server.get(&key).cloned() else { return };
        let mut status = status;
        status["conditions"] = json::with_condition(&object, "Ready", "True", "KubeletReady", "ready", now);
        drop(stage.server.patch(&key, true, &json!({"status": status})));
    }

    /// Starts and stops what was bound or deleted.
    pub fn run(&mut self, stage: &mut Stage) {
        let now = stage.now();
        let mut running: BTreeMap<&str, &Machine> = BTreeMap::new();
        for machine in stage.provider.machines().filter(|m| m.is_up()) {
            running.insert(&machine.node, machine);
        }
        let mut fresh: Vec<Key> = Vec::new();
        let mut later: Vec<(Timestamp, Happening)> = Vec::new();
        for (key, pod) in stage.server.all(Kind::Pod) {
            if !running.contains_key(json::text(pod, &["spec", "nodeName"])) || json::has_ended(pod) {
                continue;
            }
            let uid = json::uid(pod);
            if let Some(end) = json::time(pod, &["metadata", "deletionTimestamp"]) {
                if self.stopping.get(uid).is_none_or(|known| end < *known) {
                    self.stopping.insert(uid.to_owned(), end);
                    let at = (now + self.dice.millis(100, 20_000)).min(end.max(now));
                    later.push((at, Happening::Finish { pod: key.clone(), uid: uid.to_owned() }));
                }
            } else if !self.admitted.contains_key(uid) {
                fresh.push(key.clone());
            }
        }
        for (at, happening) in later {
            stage.agenda.at(at, happening);
        }
        if !fresh.is_empty() {
            self.admit(fresh, stage);
        }
        let alive: std::collections::BTreeSet<&str> = stage.server.all(Kind::Pod).map(|(_, p)| json::uid(p)).collect();
        self.admitted.retain(|uid, _| alive.contains(uid.as_str()));
        self.stopping.retain(|uid, _| alive.contains(uid.as_str()));
    }

    /// Weighs pods that came to their node, the oldest binding first.
    fn admit(&mut self, mut fresh: Vec<Key>, stage: &mut Stage) {
        let now = stage.now();
        let (world, _) = stage.world();
        fresh.sort_by_key(|key| stage.server.get(key).map(|p| version(p)));
        for key in fresh {
            let Some(pod) = world.pod(&key.namespace, &key.name) else { continue };
            let node = pod.node_name.clone().unwrap_or_default();
            let Some(machine) = stage.provider.machines().find(|m| m.node == node && m.is_up()) else { continue };
            let here = |p: &&Pod| p.node_name.as_deref() == Some(&node) && self.admitted.contains_key(&p.uid);
            let mut used = Resources::default();
            for other in world.pods.iter().filter(|p| here(p) && !p.is_terminal()) {
                used.add(&other.requests);
            }
            match short(&used, pod, &machine.offered) {
                Some(resource) => {
                    let status = json!({"phase": "Failed", "reason": format!("OutOf{resource}")});
                    drop(stage.server.patch(&key, true, &json!({"status": status})));
                }
                None => {
                    self.admitted.insert(pod.uid.clone(), node);
                    let uid = pod.uid.clone();
                    stage.agenda.at(now + self.dice.millis(300, 4000), Happening::Run { pod: key, uid });
                }
            }
        }
    }

    /// A pod runs.
    pub fn start(&mut self, key: &Key, uid: &str, stage: &mut Stage) {
        let now = stage.now();
        let Some(pod) = stage.server.get(key).filter(|p| json::uid(p) == uid && !json::is_deleting(p)) else { return };
        let conditions = json::with_condition(pod, "Ready", "True", "", "", now);
        let status = json!({"phase": "Running", "startTime": json::stamp(now), "conditions": conditions});
        drop(stage.server.patch(key, true, &json!({"status": status})));
    }

    /// A pod has stopped.
    pub fn finish(&mut self, key: &Key, uid: &str, stage: &mut Stage) {
        let now = stage.now();
        drop(stage.server.delete(key, uid, Some(0), now));
    }
}

/// The first resource that is short once `pod` runs too.
fn short(used: &Resources, pod: &Pod, offered: &Resources) -> Option<&'static str> {
    [CPU, MEMORY, PODS].into_iter().find(|r| used.get(r) + pod.requests.get(r) > offered.get(r))
}

/// The Node that a machine registers.
fn node(machine: &Machine, now: Timestamp) -> Value {
    let mut labels = machine.labels.clone();
    labels.insert("kubernetes.io/hostname".to_owned(), machine.node.clone());
    let mut taints = machine.taints.clone();
    taints.push(json!({"key": UNREGISTERED, "effect": "NoExecute"}));
    let ready = json!({
        "type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "starting",
        "lastTransitionTime": json::stamp(now),
    });
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": machine.node, "labels": labels},
        "spec": {"providerID": machine.id, "taints": taints},
        "status": {
            "capacity": machine_amounts(&machine.capacity),
            "allocatable": machine_amounts(&machine.offered),
            "conditions": [ready],
        },
    })
}
