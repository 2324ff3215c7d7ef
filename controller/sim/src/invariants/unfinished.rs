//! What must not be left once there is peace.

use jiff::SignedDuration;
use serde_json::Value;

use super::{DISRUPTED, HOLD, Invariants};
use crate::json;
use crate::server::Kind;
use crate::stage::Stage;

impl Invariants {
    /// The first thing that was not brought to its end.
    pub fn unfinished(&self, stage: &Stage) -> Option<String> {
        let starting = |claim: &Value| is_starting(stage, claim);
        for (key, claim) in stage.server.all(Kind::NodeClaim) {
            let drains = json::is_deleting(claim) && !is_blocked(stage, claim);
            if drains {
                return Some(format!("{key} is deleted and does not go"));
            }
            if !json::is_deleting(claim) && !json::is_true(claim, "Initialized") && !starting(claim) {
                return Some(format!("{key} never came up"));
            }
        }
        for (key, node) in stage.server.all(Kind::Node) {
            if json::annotation(node, HOLD).is_some() {
                return Some(format!("{key} is still held"));
            }
            let marked = json::list(node, &["spec", "taints"]).iter().any(|t| json::text(t, &["key"]) == DISRUPTED);
            if marked && !json::is_deleting(node) {
                return Some(format!("{key} is still tainted to go"));
            }
        }
        let up = stage.provider.machines().filter(|m| m.is_up());
        let mut orphans = up.filter(|m| !stage.server.all(Kind::NodeClaim).any(|(_, c)| json::uid(c) == m.token));
        orphans.next().map(|m| format!("{} runs for nobody", m.id))
    }
}

/// A machine that never registers is given up after a quarter of an hour.
const GIVEN_UP: SignedDuration = SignedDuration::from_mins(16);

/// Whether a claim may still wait for its node.
pub fn is_starting(stage: &Stage, claim: &Value) -> bool {
    let born = json::time(claim, &["metadata", "creationTimestamp"]);
    !json::is_true(claim, "Registered") && born.is_some_and(|born| stage.now().duration_since(born) < GIVEN_UP)
}

/// A drain that shields or budgets of pods may hold for ever.
fn is_blocked(stage: &Stage, claim: &Value) -> bool {
    let node = json::text(claim, &["status", "nodeName"]);
    stage
        .server
        .all(Kind::Pod)
        .any(|(_, p)| json::text(p, &["spec", "nodeName"]) == node && json::controller(p).is_some())
}
