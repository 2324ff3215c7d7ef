//! Nodes that exist and claims on their way, as places for pods.
//! (spec 20 §7.1)

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::columns::Labelled;
use crate::karpenter::labels;
use crate::karpenter::nodeclaim::NodeClaim;
use crate::kube::meta::Labels;
use crate::kube::node::{NO_SCHEDULE, Node, Taint, UNSCHEDULABLE};
use crate::resources::Resources;
use crate::world::World;

const DISRUPTED: &str = "karpenter.sh/disrupted";
const REBOOTING: &str = "karpenter.sh/rebooting";
const UNREGISTERED: &str = "karpenter.sh/unregistered";
/// Marks a cordon that is ours, see DESIGN "landing".
const HOLD: &str = "millwright.dev/hold";

/// A node or a claim in flight.
#[derive(Clone, Debug)]
pub struct Place<'w> {
    /// Name of the node, or of the claim while there is no node.
    pub name: &'w str,
    /// With the hostname.
    pub labels: Labels,
    /// Those that count.
    pub taints: Vec<Taint>,
    pub capacity: Resources,
    pub allocatable: Resources,
    pub node: Option<&'w Node>,
    pub claim: Option<&'w NodeClaim>,
    /// On its way out: no target, and its pods need new places.
    pub leaving: bool,
    /// Pods bound to it that are not terminal (positions in `World::pods`).
    pub running: Vec<usize>,
}

impl Place<'_> {
    /// The pool it belongs to.
    pub fn pool(&self) -> Option<&str> {
        self.labels.get(labels::NODEPOOL).map(String::as_str)
    }

    /// Registered and initialised, or not managed at all.
    pub fn is_initialized(&self) -> bool {
        self.claim.is_none_or(|c| c.is("Initialized")) && self.node.is_some()
    }

    /// Pods that run elsewhere may be moved here: it is initialized by its
    /// claim's word or by its own.
    pub fn is_destination(&self) -> bool {
        let label = |n: &Node| n.meta.labels.get(labels::INITIALIZED).is_some_and(|v| v == "true");
        self.is_initialized() || self.node.is_some_and(label)
    }
}

/// All places, initialised ones first, then by name.
pub struct Places<'w>(pub Vec<Place<'w>>);

impl<'w> AsRef<[Place<'w>]> for Places<'w> {
    fn as_ref(&self) -> &[Place<'w>] {
        &self.0
    }
}

impl Labelled for Places<'_> {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn label(&self, row: usize, key: &str) -> Option<&str> {
        self.0.label(row, key)
    }
}

impl Labelled for Vec<Place<'_>> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn label(&self, row: usize, key: &str) -> Option<&str> {
        let all = &self[row].labels;
        all.get(key).or_else(|| all.get(labels::normalise(key))).map(String::as_str)
    }
}

/// Gathers the places of a world. Claims that have not been launched cannot
/// be places; they are returned by name.
pub fn places(world: &World) -> (Places<'_>, Vec<&str>) {
    let by_node: FxHashMap<&str, &NodeClaim> =
        world.node_claims.iter().filter(|c| !c.node_name.is_empty()).map(|c| (c.node_name.as_str(), c)).collect();
    let by_provider: FxHashMap<&str, &NodeClaim> =
        world.node_claims.iter().filter(|c| !c.provider_id.is_empty()).map(|c| (c.provider_id.as_str(), c)).collect();
    let mut all = Vec::new();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for node in &world.nodes {
        let claim =
            by_node.get(node.meta.name.as_str()).or_else(|| by_provider.get(node.provider_id.as_str())).copied();
        if let Some(c) = claim {
            used.insert(&c.meta.name);
        }
        all.push(from_node(node, claim));
    }
    let mut unlaunched = Vec::new();
    for claim in world.node_claims.iter().filter(|c| !used.contains(c.meta.name.as_str())) {
        if claim.allocatable.is_empty() {
            if claim.meta.deletion_timestamp.is_none() {
                unlaunched.push(claim.meta.name.as_str());
            }
            continue;
        }
        all.push(from_claim(claim));
    }
    all.sort_by_key(|p: &Place| (!p.is_initialized(), p.name));
    let index: FxHashMap<&str, usize> = all.iter().enumerate().map(|(i, p)| (p.name, i)).collect();
    let mut running: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for (i, pod) in world.pods.iter().enumerate() {
        if let Some(&place) = pod.node_name.as_deref().and_then(|n| index.get(n))
            && !pod.is_terminal()
        {
            running[place].push(i);
        }
    }
    for (place, pods) in all.iter_mut().zip(running) {
        place.running = pods;
    }
    (Places(all), unlaunched)
}

fn from_node<'w>(node: &'w Node, claim: Option<&'w NodeClaim>) -> Place<'w> {
    let mut all = node.meta.labels.clone();
    all.entry(labels::HOSTNAME.to_owned()).or_insert_with(|| node.meta.name.clone());
    let mut taints = node.taints.clone();
    if node.unschedulable && !taints.iter().any(|t| t.key == UNSCHEDULABLE) {
        taints.push(Taint::new(UNSCHEDULABLE, "", NO_SCHEDULE));
    }
    // A hold of the controller is no taint: by a taint of its own, or else by
    // the cordon.
    if node.meta.annotations.contains_key(HOLD) {
        let by_taint = taints.iter().any(|t| t.key == HOLD);
        taints.retain(|t| t.key != if by_taint { HOLD } else { UNSCHEDULABLE });
    }
    let leaving = node.meta.deletion_timestamp.is_some()
        || claim.is_some_and(|c| c.meta.deletion_timestamp.is_some() || c.is("InstanceTerminating"))
        || taints.iter().any(|t| t.key == DISRUPTED);
    let mut capacity = node.capacity.clone();
    let mut allocatable = node.allocatable.clone();
    if let Some(claim) = claim {
        let settled = claim.is("Initialized");
        if !settled || claim.is("Rebooting") {
            let startup = &claim.startup_taints;
            taints.retain(|t| !is_ephemeral(t) && t.key != REBOOTING && !startup.contains(t));
        }
        if !settled {
            fill(&mut capacity, &claim.capacity);
            fill(&mut allocatable, &claim.allocatable);
        }
        if !claim.is("Registered") {
            for (key, value) in &claim.meta.labels {
                all.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    Place {
        name: &node.meta.name,
        labels: all,
        taints,
        capacity,
        allocatable,
        node: Some(node),
        claim,
        leaving,
        running: Vec::new(),
    }
}

fn from_claim(claim: &NodeClaim) -> Place<'_> {
    let mut all = claim.meta.labels.clone();
    all.entry(labels::HOSTNAME.to_owned()).or_insert_with(|| claim.meta.name.clone());
    Place {
        name: &claim.meta.name,
        labels: all,
        taints: claim.taints.clone(),
        capacity: claim.capacity.clone(),
        allocatable: claim.allocatable.clone(),
        node: None,
        claim: Some(claim),
        leaving: claim.meta.deletion_timestamp.is_some(),
        running: Vec::new(),
    }
}

/// Takes what a kubelet does not report yet (missing or zero) from the claim.
fn fill(have: &mut Resources, claimed: &Resources) {
    for (name, amount) in claimed.iter() {
        if have.get(name) == 0 {
            have.set(name, amount);
        }
    }
}

/// Taints that go away by themselves while a node starts.
fn is_ephemeral(taint: &Taint) -> bool {
    match taint.key.as_str() {
        "node.kubernetes.io/not-ready" => taint.effect == "NoSchedule" || taint.effect == "NoExecute",
        "node.kubernetes.io/unreachable" | "node.cloudprovider.kubernetes.io/uninitialized" => {
            taint.effect == "NoSchedule"
        }
        UNREGISTERED => taint.effect == "NoExecute",
        key => key.starts_with("readiness.k8s.io/"),
    }
}
