//! The cluster as a pod would find it that comes to a held node: holds of ours
//! are none, bindings on their way count, and so do DaemonSet pods that
//! are still to come.

use std::collections::BTreeMap;
use std::sync::Arc;

use millwright_models::kube::meta::OwnerReference;
use millwright_models::kube::node::Node;
use millwright_models::kube::pod::{Phase, Pod};
use millwright_models::kube::workload::DaemonSet;
use millwright_models::rules::State;
use millwright_models::world::World;

use super::berths::{is_held, is_hold, is_tainted};

const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// A node without a hold of ours.
pub fn opened(node: &Node) -> Node {
    let mut node = node.clone();
    if is_tainted(&node) {
        node.taints.retain(|t| !is_hold(t));
    } else if is_held(&node) {
        node.unschedulable = false;
        node.taints.retain(|t| t.key != UNSCHEDULABLE);
    }
    node
}

/// The state that landing is judged by. `bound`: nodes of pods (by uid) whose
/// binding does not show yet.
pub fn state(world: &World, bound: &BTreeMap<String, String>) -> State {
    let mut state = State::of(&World {
        nodes: world.nodes.iter().map(opened).collect(),
        pods: Vec::new(),
        namespaces: world.namespaces.clone(),
        claims: world.claims.clone(),
        volumes: world.volumes.clone(),
        storage_classes: world.storage_classes.clone(),
        csi_nodes: world.csi_nodes.clone(),
        ..World::default()
    })
    .unwrap_or_default();
    for pod in world.pods.iter().filter(|p| !p.is_terminal()) {
        let promised = || bound.get(&pod.uid).or(pod.nominated_node.as_ref());
        let Some(node) = pod.node_name.as_ref().or_else(promised) else { continue };
        // A pod whose node is gone is nowhere.
        drop(state.place(&Arc::new(pod.clone()), node));
    }
    for node in world.nodes.iter().filter(|n| is_held(n)) {
        for pod in missing_daemons(world, node) {
            drop(state.place(&Arc::new(pod), &node.meta.name));
        }
    }
    state
}

/// Pods that DaemonSets will still put on a node.
pub fn missing_daemons(world: &World, node: &Node) -> Vec<Pod> {
    if world.daemon_sets.is_empty() {
        return Vec::new();
    }
    let mut bare = opened(node);
    bare.taints.retain(|t| !t.key.starts_with("node.kubernetes.io/") && t.effect != "PreferNoSchedule");
    let Ok(mut empty) = State::new(vec![bare], Vec::new()) else { return Vec::new() };
    let runs = |set: &DaemonSet| {
        world.pods.iter().any(|p| {
            p.node_name.as_deref() == Some(node.meta.name.as_str())
                && p.is_daemon()
                && p.namespace == set.meta.namespace
                && p.owner.as_ref().is_some_and(|o| o.name == set.meta.name)
        })
    };
    let admitted = |set: &&DaemonSet| set.spec.resource_claims.is_empty() && !runs(set);
    let pods = world.daemon_sets.iter().filter(admitted).map(|set| expected(set, &node.meta.name));
    pods.filter(|pod| empty.filter_anew(pod, &node.meta.name).is_ok()).collect()
}

fn expected(set: &DaemonSet, node: &str) -> Pod {
    Pod {
        namespace: set.meta.namespace.clone(),
        name: format!("{}-expected-on-{node}", set.meta.name),
        uid: String::new(),
        created: None,
        deleted: None,
        owner: Some(OwnerReference {
            api_version: "apps/v1".to_owned(),
            kind: "DaemonSet".to_owned(),
            name: set.meta.name.clone(),
            uid: set.meta.uid.clone(),
            controller: true,
            block_owner_deletion: None,
        }),
        is_static: false,
        labels: set.labels.clone(),
        annotations: Arc::default(),
        spec: set.spec.clone(),
        requests: set.requests.clone(),
        node_name: None,
        phase: Phase::Pending,
        conditions: Vec::new(),
        nominated_node: None,
        started: None,
        synthetic: true,
    }
}
