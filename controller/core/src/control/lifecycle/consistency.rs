//! Whether a node offers what its claim promised. Informational only.
//! (spec 40 §7.4)

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::node::Node;
use millwright_models::quantity;
use rustc_hash::FxHashSet;

use super::Case;
use crate::control::conditions::Truth;
use crate::control::desk::Desk;
use crate::control::keys::{CONSISTENT, INITIALIZED};
use crate::control::view::View;

const EVERY: SignedDuration = SignedDuration::from_mins(10);

/// When each claim was last compared, by uid.
#[derive(Debug, Default)]
pub(super) struct Scans(BTreeMap<String, Timestamp>);

impl Scans {
    pub fn forget(&mut self, live: &FxHashSet<&str>) {
        self.0.retain(|uid, _| live.contains(uid.as_str()));
    }

    /// The next comparison of a claim that was compared.
    pub fn next(&self, claim: &NodeClaim) -> Option<Timestamp> {
        self.0.get(&claim.meta.uid).map(|at| *at + EVERY)
    }

    pub fn look(&mut self, case: &mut Case<'_>, view: &View<'_>, desk: &mut Desk) {
        let claim = case.claim;
        let Some(node) = case.node() else { return };
        let last = self.0.get(&claim.meta.uid);
        if claim.provider_id.is_empty() || !claim.is(INITIALIZED) {
            return;
        }
        if let Some(next) = last.map(|at| *at + EVERY).filter(|next| *next > view.now) {
            return desk.wake(next);
        }
        let issues = issues(claim, node);
        self.0.insert(claim.meta.uid.clone(), view.now);
        for issue in &issues {
            case.warn(desk, "FailedConsistencyCheck", issue.clone());
        }
        if issues.is_empty() {
            case.conditions.set_true(CONSISTENT);
        } else {
            case.conditions.set(CONSISTENT, Truth::False, "ConsistencyCheckFailed", &issues.join(", "));
        }
    }
}

/// Requested resources of which the node has less than nine tenths.
fn issues(claim: &NodeClaim, node: &Node) -> Vec<String> {
    let mut issues = Vec::new();
    for (name, _) in claim.requests.iter().filter(|(_, amount)| *amount != 0) {
        let (expected, found) = (claim.capacity.get(name), node.capacity.get(name));
        if expected > 0 && i128::from(found) * 10 < i128::from(expected) * 9 {
            issues.push(format!(
                "expected {} of resource {name}, but found {} ({:.1}% of expected)",
                quantity::format(name, expected),
                quantity::format(name, found),
                found as f64 / expected as f64 * 100.0,
            ));
        }
    }
    issues
}
