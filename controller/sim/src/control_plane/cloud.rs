//! The cloud's node controller: Nodes whose machine is gone are deleted.

use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

/// Deletes what is not ready and has no machine.
pub fn run(stage: &mut Stage) {
    let now = stage.now();
    let is_lost = |id: &str| stage.provider.machine(id).is_none_or(|m| m.is_gone(now));
    let lost = stage.server.all(Kind::Node).filter(|(_, node)| {
        !json::is_deleting(node) && !json::is_true(node, "Ready") && is_lost(json::text(node, &["spec", "providerID"]))
    });
    let lost: Vec<(Key, String)> = lost.map(|(k, n)| (k.clone(), json::uid(n).to_owned())).collect();
    for (key, uid) in lost {
        drop(stage.server.delete(&key, &uid, None, now));
    }
}
