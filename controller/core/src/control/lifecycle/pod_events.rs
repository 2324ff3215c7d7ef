//! When pods last came to a node or left it. (spec 40 §9)

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault};

use jiff::{SignedDuration, Timestamp};
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::pod::Pod;
use rustc_hash::{FxHashMap, FxHasher};
use serde_json::json;

use super::Case;
use crate::control::keys::is_managed;
use crate::control::view::View;

/// Events so soon after the last are not written.
const LEAST: SignedDuration = SignedDuration::from_secs(10);

/// What was seen of the pods, and what is to be written.
#[derive(Debug, Default)]
pub(super) struct PodEvents {
    /// Whether each pod was ending, by the hash of its uid; nothing before the
    /// first look.
    seen: Option<FxHashMap<u64, bool>>,
    /// By claim.
    due: BTreeMap<String, Timestamp>,
}

impl PodEvents {
    /// Compares with the last look: a pod that is bound, or ends. What was
    /// there at the first look counts from its start, so that a restart sets
    /// no clock back.
    pub fn look(&mut self, view: &View<'_>) {
        self.due.retain(|name, _| view.world.node_claim(name).is_some());
        let mut seen = FxHashMap::default();
        for node in &view.nodes {
            let claim = node.claim.filter(|_| node.node.is_some());
            let Some(claim) = claim.filter(|c| is_managed(&c.node_class) && c.meta.deletion_timestamp.is_none()) else {
                continue;
            };
            for pod in node.pods.iter().map(|p| &view.world.pods[*p]).filter(|p| !p.is_daemon()) {
                let key = hash(pod);
                let ending = pod.is_terminal() || pod.deleted.is_some();
                seen.insert(key, ending);
                let at = match &self.seen {
                    None => pod.started.filter(|at| !ending && later(claim, *at)),
                    Some(before) => (before.get(&key) != Some(&ending)).then_some(view.now),
                };
                if let Some(at) = at.filter(|at| is_due(claim, *at)) {
                    let due = self.due.entry(claim.meta.name.clone()).or_insert(at);
                    *due = at.max(*due);
                }
            }
        }
        self.seen = Some(seen);
    }

    /// Whether something is to be written for the claim.
    pub fn is_due(&self, claim: &str) -> bool {
        self.due.contains_key(claim)
    }

    /// Puts what is due into the claim's status.
    pub fn write(&mut self, case: &mut Case<'_>) {
        let claim = case.claim;
        let Some(at) = self.due.get(&claim.meta.name).copied() else { return };
        if !is_due(claim, at) {
            self.due.remove(&claim.meta.name);
            return;
        }
        let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
        case.edit.status("lastPodEventTime", json!(at.to_string()));
    }
}

fn later(claim: &NodeClaim, at: Timestamp) -> bool {
    claim.last_pod_event.is_none_or(|last| at > last)
}

fn is_due(claim: &NodeClaim, at: Timestamp) -> bool {
    claim.last_pod_event.is_none_or(|last| at.duration_since(last) >= LEAST)
}

fn hash(pod: &Pod) -> u64 {
    let build = BuildHasherDefault::<FxHasher>::default();
    if pod.uid.is_empty() { build.hash_one((&pod.namespace, &pod.name)) } else { build.hash_one(&pod.uid) }
}
