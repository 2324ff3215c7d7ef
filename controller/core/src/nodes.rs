//! Nodes and their claims, paired. (spec 30 §0)

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::meta::{Condition, Labels};
use millwright_models::kube::node::Node;
use millwright_models::world::World;
use rustc_hash::FxHashMap;

/// A promise of pods protects a node for this long.
const NOMINATION: SignedDuration = SignedDuration::from_secs(20);

/// What a controller knows beside the API's objects, by the names that
/// [`StateNode::id`] gives. Empty for a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// In a command that is being carried out.
    pub queued: BTreeSet<String>,
    /// Marked for deletion.
    pub marked: BTreeSet<String>,
    /// Last time pods were promised to the node.
    pub nominated: BTreeMap<String, Timestamp>,
}

/// A node, a claim, or both.
#[derive(Clone, Debug)]
pub struct StateNode<'w> {
    pub node: Option<&'w Node>,
    pub claim: Option<&'w NodeClaim>,
    /// Bound to the node, finished ones too (positions in `World::pods`).
    pub pods: Vec<usize>,
}

/// All of a world, by name.
pub fn state_nodes(world: &World) -> Vec<StateNode<'_>> {
    let by = |key: fn(&NodeClaim) -> &str| -> FxHashMap<&str, &NodeClaim> {
        world.node_claims.iter().map(|c| (key(c), c)).filter(|(k, _)| !k.is_empty()).collect()
    };
    let (by_name, by_provider) = (by(|c| &c.node_name), by(|c| &c.provider_id));
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut all = Vec::with_capacity(world.nodes.len());
    for node in &world.nodes {
        let name = node.meta.name.as_str();
        let claim = by_name.get(name).or_else(|| by_provider.get(node.provider_id.as_str())).copied();
        taken.extend(claim.map(|c| c.meta.name.as_str()));
        all.push(StateNode { node: Some(node), claim, pods: Vec::new() });
    }
    let alone = world.node_claims.iter().filter(|c| !taken.contains(c.meta.name.as_str()));
    all.extend(alone.map(|claim| StateNode { node: None, claim: Some(claim), pods: Vec::new() }));
    all.sort_by_key(|n| (n.name(), n.node.is_none()));
    let real = all.iter().enumerate().filter(|(_, n)| n.node.is_some());
    let index: FxHashMap<&str, usize> = real.map(|(i, n)| (n.name(), i)).collect();
    let mut bound: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for (p, pod) in world.pods.iter().enumerate() {
        if let Some(&at) = pod.node_name.as_deref().and_then(|n| index.get(n)) {
            bound[at].push(p);
        }
    }
    for (node, pods) in all.iter_mut().zip(bound) {
        node.pods = pods;
    }
    all
}

impl<'w> StateNode<'w> {
    /// Of the node, of the claim while there is no node.
    pub fn name(&self) -> &'w str {
        match (self.node, self.claim) {
            (Some(node), _) => &node.meta.name,
            (None, Some(claim)) => &claim.meta.name,
            (None, None) => "",
        }
    }

    /// The provider's id where there is one, else the name.
    pub fn id(&self) -> &'w str {
        let of_node = self.node.map(|n| n.provider_id.as_str());
        let of_claim = self.claim.map(|c| c.provider_id.as_str());
        [of_node, of_claim].into_iter().flatten().find(|id| !id.is_empty()).unwrap_or_else(|| self.name())
    }

    fn node_label(&self, key: &str) -> Option<&'w str> {
        self.node.and_then(|n| n.meta.labels.get(key)).map(String::as_str)
    }

    /// A Karpenter NodeClaim stands behind it.
    pub fn is_managed(&self) -> bool {
        self.claim.is_some()
    }

    /// Joined the cluster; what nobody manages counts as joined.
    pub fn is_registered(&self) -> bool {
        self.claim.is_none() || self.node_label(labels::REGISTERED) == Some("true")
    }

    /// Ready for pods once; what nobody manages counts as that.
    pub fn is_initialized(&self) -> bool {
        self.claim.is_none() || self.node_label(labels::INITIALIZED) == Some("true")
    }

    /// Labels of the node; of the claim until the node is registered.
    pub fn labels(&self) -> &'w Labels {
        const NONE: &Labels = &Labels::new();
        match (self.node, self.claim) {
            (Some(node), _) if self.is_registered() => &node.meta.labels,
            (_, Some(claim)) => &claim.meta.labels,
            (Some(node), None) => &node.meta.labels,
            (None, None) => NONE,
        }
    }

    fn annotations(&self) -> &'w Labels {
        const NONE: &Labels = &Labels::new();
        match (self.node, self.claim) {
            (Some(node), _) if self.is_registered() => &node.meta.annotations,
            (_, Some(claim)) => &claim.meta.annotations,
            (Some(node), None) => &node.meta.annotations,
            (None, None) => NONE,
        }
    }

    /// Its NodePool's name.
    pub fn pool(&self) -> Option<&'w str> {
        self.labels().get(labels::NODEPOOL).map(String::as_str)
    }

    /// Its annotation says that nothing may disrupt it.
    pub fn is_shielded(&self) -> bool {
        self.annotations().get(labels::DO_NOT_DISRUPT).is_some_and(|v| v == "true")
    }

    /// A reboot is under way.
    pub fn is_rebooting(&self) -> bool {
        self.claim.is_some_and(|c| c.is("Rebooting"))
    }

    /// Its machine is being terminated.
    pub fn is_terminating_instance(&self) -> bool {
        self.claim.is_some_and(|c| c.is("InstanceTerminating"))
    }

    /// On its way out.
    pub fn is_marked(&self, memory: &Memory) -> bool {
        let deleting = match (self.claim, self.node) {
            (Some(claim), _) => claim.meta.deletion_timestamp.is_some(),
            (None, Some(node)) => node.meta.deletion_timestamp.is_some(),
            (None, None) => false,
        };
        deleting || self.is_terminating_instance() || memory.marked.contains(self.id())
    }

    /// In a command that is being carried out.
    pub fn is_queued(&self, memory: &Memory) -> bool {
        memory.queued.contains(self.id())
    }

    /// Pods were promised to it a moment ago.
    pub fn is_nominated(&self, memory: &Memory, now: Timestamp) -> bool {
        memory.nominated.get(self.id()).is_some_and(|at| now.duration_since(*at) < NOMINATION)
    }

    /// A condition of the claim.
    pub fn condition(&self, kind: &str) -> Option<&'w Condition> {
        self.claim.and_then(|c| c.conditions.iter().find(|c| c.kind == kind))
    }

    /// Whether the kubelet is well. A node without the condition is taken to
    /// be: snapshots leave it out.
    pub fn is_ready(&self) -> bool {
        let ready = self.node.and_then(|n| n.conditions.iter().find(|c| c.kind == "Ready"));
        ready.is_none_or(|c| c.status == "True")
    }
}
