//! The node controllers: taints that follow conditions and cordons, and the
//! eviction of pods that do not tolerate what executes.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::node::Taint;
use millwright_models::kube::pod::Toleration;
use serde_json::{Value, json};

use super::daemons::taints;
use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// A kubelet that is silent for this long counts as lost.
const SILENCE: SignedDuration = SignedDuration::from_secs(50);

/// What is remembered between two looks.
#[derive(Debug, Default)]
pub struct NodeState {
    silent: BTreeMap<String, Timestamp>,
    /// Since when a node has a taint that executes.
    tainted: BTreeMap<(String, String), Timestamp>,
}

impl NodeState {
    pub fn run(&mut self, stage: &mut Stage) {
        let now = stage.now();
        let nodes: Vec<(Key, std::sync::Arc<Value>)> =
            stage.server.all(Kind::Node).map(|(k, o)| (k.clone(), o.clone())).collect();
        self.silent.retain(|name, _| nodes.iter().any(|(k, _)| k.name == *name));
        for (key, node) in nodes {
            let up = stage.provider.machine(json::text(&node, &["spec", "providerID"])).is_some_and(|m| m.is_up());
            let mut status = json::condition(&node, "Ready").map_or("Unknown", |c| json::text(c, &["status"]));
            if up {
                self.silent.remove(&key.name);
            } else {
                let since = *self.silent.entry(key.name.clone()).or_insert(now);
                if now.duration_since(since) >= SILENCE && status != "Unknown" {
                    let lost = json::with_condition(&node, "Ready", "Unknown", "NodeStatusUnknown", "silent", now);
                    drop(stage.server.patch(&key, true, &json!({"status": {"conditions": lost}})));
                    status = "Unknown";
                }
            }
            let known = json::condition(&node, "Ready").is_some();
            self.taint(stage, &key, &node, if known { status } else { "False" });
        }
        self.execute(stage);
    }

    fn taint(&self, stage: &mut Stage, key: &Key, node: &Value, ready: &str) {
        let cordoned = node["spec"].get("unschedulable").and_then(Value::as_bool).unwrap_or(false);
        let wanted = [
            (NOT_READY, "NoSchedule", ready == "False"),
            (NOT_READY, "NoExecute", ready == "False"),
            (UNREACHABLE, "NoSchedule", ready == "Unknown"),
            (UNREACHABLE, "NoExecute", ready == "Unknown"),
            (UNSCHEDULABLE, "NoSchedule", cordoned),
        ];
        let mut list = json::list(node, &["spec", "taints"]).to_vec();
        for (taint, effect, is_wanted) in wanted {
            let same = |t: &Value| json::text(t, &["key"]) == taint && json::text(t, &["effect"]) == effect;
            let there = list.iter().any(same);
            if is_wanted && !there {
                list.push(json!({"key": taint, "effect": effect}));
            } else if !is_wanted && there {
                list.retain(|t| !same(t));
            }
        }
        if list != json::list(node, &["spec", "taints"]) {
            drop(stage.server.patch(key, false, &json!({"spec": {"taints": list}})));
        }
    }

    /// Deletes pods that no longer tolerate their node.
    fn execute(&mut self, stage: &mut Stage) {
        let now = stage.now();
        let mut executing: BTreeMap<String, Vec<Taint>> = BTreeMap::new();
        for (key, node) in stage.server.all(Kind::Node) {
            let mut all = taints(node);
            all.retain(|t| t.effect == "NoExecute");
            if !all.is_empty() {
                executing.insert(key.name.clone(), all);
            }
        }
        self.tainted.retain(|(node, taint), _| executing.get(node).is_some_and(|l| l.iter().any(|t| t.key == *taint)));
        if executing.is_empty() {
            return;
        }
        let mut gone: Vec<(Key, String)> = Vec::new();
        for (key, pod) in stage.server.all(Kind::Pod) {
            let node = json::text(pod, &["spec", "nodeName"]);
            let Some(taints) = executing.get(node).filter(|_| !json::is_deleting(pod)) else { continue };
            let tolerations = pod["spec"].get("tolerations").cloned().unwrap_or_default();
            let tolerations: Vec<Toleration> = serde_json::from_value(tolerations).unwrap_or_default();
            let over = taints.iter().any(|taint| {
                let since = *self.tainted.entry((node.to_owned(), taint.key.clone())).or_insert(now);
                let mut fitting = tolerations.iter().filter(|t| t.tolerates(taint)).peekable();
                if fitting.peek().is_none() {
                    return true;
                }
                let seconds = fitting.filter_map(|t| t.toleration_seconds).min();
                seconds.is_some_and(|s| now.duration_since(since) >= SignedDuration::from_secs(s))
            });
            if over {
                gone.push((key.clone(), json::uid(pod).to_owned()));
            }
        }
        for (key, uid) in gone {
            drop(stage.server.delete(&key, &uid, None, now));
        }
    }
}
