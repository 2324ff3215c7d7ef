//! The garbage collector: what no owner of is left goes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json;
use crate::server::Key;
use crate::stage::Stage;

/// Deletes objects all of whose owners are gone.
pub fn run(stage: &mut Stage) {
    let now = stage.now();
    let alive: BTreeSet<&str> = stage.server.objects().map(|(_, o)| json::uid(o)).collect();
    let is_orphan = |object: &Value| {
        let owners = json::list(object, &["metadata", "ownerReferences"]);
        !owners.is_empty() && owners.iter().all(|o| !alive.contains(json::text(o, &["uid"])))
    };
    let orphans = stage.server.objects().filter(|(_, o)| !json::is_deleting(o) && is_orphan(o));
    let orphans: Vec<(Key, String)> = orphans.map(|(k, o)| (k.clone(), json::uid(o).to_owned())).collect();
    for (key, uid) in orphans {
        drop(stage.server.delete(&key, &uid, None, now));
    }
}
