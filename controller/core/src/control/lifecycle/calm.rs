//! Claims that want nothing until something changes, so that a large quiet
//! cluster costs little to look at.

use jiff::Timestamp;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::node::Node;
use rustc_hash::{FxHashMap, FxHashSet};

/// By the uid of the claim.
#[derive(Debug, Default)]
pub(super) struct Calm(FxHashMap<String, Seen>);

/// The versions that were looked at, and when time alone changes something.
#[derive(Debug)]
struct Seen {
    claim: String,
    node: String,
    until: Timestamp,
}

impl Calm {
    pub fn forget(&mut self, live: &FxHashSet<&str>) {
        self.0.retain(|uid, _| live.contains(uid.as_str()));
    }

    /// Remembers that these versions want nothing before `until`.
    pub fn note(&mut self, claim: &NodeClaim, node: &Node, until: Timestamp) {
        let (version, of_node) = (&claim.meta.resource_version, &node.meta.resource_version);
        if version.is_empty() || of_node.is_empty() {
            return;
        }
        let seen = Seen { claim: version.clone(), node: of_node.clone(), until };
        self.0.insert(claim.meta.uid.clone(), seen);
    }

    /// Until when the claim wants nothing, if it is as it was.
    pub fn until(&self, claim: &NodeClaim, nodes: &[&Node], now: Timestamp) -> Option<Timestamp> {
        let [node] = nodes else { return None };
        let seen = self.0.get(&claim.meta.uid)?;
        let same = seen.claim == claim.meta.resource_version && seen.node == node.meta.resource_version;
        (same && now < seen.until).then_some(seen.until)
    }
}
