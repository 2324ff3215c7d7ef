//! Which nodes and in-flight claims take part, and how they look (spec 20
//! §2.5, §7.1).

use rustc_hash::FxHashMap;

use crate::karpenter::labels::{HOSTNAME, INITIALIZED, NODEPOOL, REGISTERED};
use crate::karpenter::nodeclaim::NodeClaim;
use crate::kube::meta::Labels;
use crate::kube::node::{Node, Taint};
use crate::resources::Resources;
use crate::world::World;

/// A node, or a claim that is to become one.
#[derive(Debug)]
pub(super) struct Standing<'a> {
    pub name: &'a str,
    pub hostname: &'a str,
    pub labels: &'a Labels,
    pub taints: Vec<Taint>,
    pub capacity: Resources,
    pub allocatable: Resources,
    pub node: Option<&'a Node>,
    /// Initialised, or not ours.
    pub settled: bool,
    /// On its way out: no target, and its pods need room elsewhere.
    pub leaving: bool,
}

impl Standing<'_> {
    pub fn pool(&self) -> Option<&str> {
        self.labels.get(NODEPOOL).map(String::as_str)
    }
}

/// Every node and every claim without one, settled ones first, then by name.
pub(super) fn standing(world: &World) -> Vec<Standing<'_>> {
    let by_provider: FxHashMap<&str, &NodeClaim> =
        world.node_claims.iter().filter(|c| !c.provider_id.is_empty()).map(|c| (c.provider_id.as_str(), c)).collect();
    let by_node: FxHashMap<&str, &NodeClaim> =
        world.node_claims.iter().filter(|c| !c.node_name.is_empty()).map(|c| (c.node_name.as_str(), c)).collect();
    let claim_of = |node: &Node| {
        let by_id = by_provider.get(node.provider_id.as_str()).filter(|_| !node.provider_id.is_empty());
        by_id.or_else(|| by_node.get(node.meta.name.as_str())).copied()
    };
    let mut taken: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for node in &world.nodes {
        let claim = claim_of(node);
        taken.extend(claim.map(|c| c.meta.name.as_str()));
        all.push(of_node(node, claim));
    }
    taken.sort_unstable();
    let free = world.node_claims.iter().filter(|c| taken.binary_search(&c.meta.name.as_str()).is_err());
    all.extend(free.map(of_claim));
    all.sort_by(|a, b| b.settled.cmp(&a.settled).then_with(|| a.name.cmp(b.name)));
    all
}

fn leaves(claim: &NodeClaim) -> bool {
    claim.meta.deletion_timestamp.is_some() || claim.is("InstanceTerminating")
}

fn of_claim(claim: &NodeClaim) -> Standing<'_> {
    let name = claim.meta.name.as_str();
    Standing {
        name,
        hostname: claim.meta.labels.get(HOSTNAME).map_or(name, String::as_str),
        labels: &claim.meta.labels,
        taints: lasting(&claim.taints, claim),
        capacity: claim.capacity.clone(),
        allocatable: claim.allocatable.clone(),
        node: None,
        settled: false,
        leaving: leaves(claim),
    }
}

fn of_node<'a>(node: &'a Node, claim: Option<&'a NodeClaim>) -> Standing<'a> {
    let says = |key: &str| node.meta.labels.get(key).is_some_and(|v| v == "true");
    let Some(claim) = claim else {
        return Standing {
            name: &node.meta.name,
            hostname: hostname(node),
            labels: &node.meta.labels,
            taints: node.taints.clone(),
            capacity: node.capacity.clone(),
            allocatable: node.allocatable.clone(),
            node: Some(node),
            settled: true,
            leaving: node.meta.deletion_timestamp.is_some(),
        };
    };
    let initialized = says(INITIALIZED) || claim.is("Initialized");
    let registered = initialized || says(REGISTERED) || claim.is("Registered");
    let taints = match (registered, initialized && !claim.is("Rebooting")) {
        (_, true) => node.taints.clone(),
        (true, false) => lasting(&node.taints, claim),
        (false, false) => lasting(&claim.taints, claim),
    };
    let filled = |seen: &Resources, promised: &Resources| {
        let mut all = seen.clone();
        if !initialized {
            promised.iter().filter(|(n, _)| seen.get(n) == 0).for_each(|(n, a)| all.set(n, a));
        }
        all
    };
    Standing {
        name: if registered { &node.meta.name } else { &claim.meta.name },
        hostname: hostname(node),
        labels: if registered { &node.meta.labels } else { &claim.meta.labels },
        taints,
        capacity: filled(&node.capacity, &claim.capacity),
        allocatable: filled(&node.allocatable, &claim.allocatable),
        node: Some(node),
        settled: initialized,
        leaving: leaves(claim),
    }
}

fn hostname(node: &Node) -> &str {
    node.meta.labels.get(HOSTNAME).unwrap_or(&node.meta.name)
}

/// Without the taints that go away by themselves before the node is ready.
fn lasting(taints: &[Taint], claim: &NodeClaim) -> Vec<Taint> {
    let ephemeral = |t: &Taint| match (t.key.as_str(), t.effect.as_str()) {
        ("node.kubernetes.io/not-ready", "NoSchedule" | "NoExecute")
        | ("node.kubernetes.io/unreachable", "NoSchedule")
        | ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule")
        | ("karpenter.sh/unregistered", "NoExecute")
        | ("karpenter.sh/rebooting", "NoSchedule") => true,
        (key, _) => key.starts_with("readiness.k8s.io/"),
    };
    let startup = |t: &Taint| claim.startup_taints.iter().any(|s| s.key == t.key && s.effect == t.effect);
    taints.iter().filter(|t| !ephemeral(t) && !startup(t)).cloned().collect()
}
