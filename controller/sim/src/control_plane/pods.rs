//! The pod garbage collector: pods whose node is gone, and pods that ended.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::json;
use crate::server::{Key, Kind};
use crate::stage::Stage;

/// A node is missing for this long before its pods go.
const QUARANTINE: SignedDuration = SignedDuration::from_secs(40);

/// Pods without a node, and since when.
#[derive(Debug, Default)]
pub struct Orphans(BTreeMap<String, Timestamp>);

impl Orphans {
    pub fn run(&mut self, stage: &mut Stage) {
        let now = stage.now();
        let mut lost: Vec<(Key, String)> = Vec::new();
        let mut ended: Vec<(Key, String)> = Vec::new();
        for (key, pod) in stage.server.all(Kind::Pod) {
            let node = json::text(pod, &["spec", "nodeName"]);
            if !node.is_empty() && stage.server.get(&Key::node(node)).is_none() {
                lost.push((key.clone(), json::uid(pod).to_owned()));
            } else if json::has_ended(pod) {
                ended.push((key.clone(), json::uid(pod).to_owned()));
            }
        }
        self.0.retain(|uid, _| lost.iter().chain(&ended).any(|(_, u)| u == uid));
        for (key, uid) in lost.into_iter().chain(ended) {
            let since = *self.0.entry(uid.clone()).or_insert(now);
            if now.duration_since(since) >= QUARANTINE {
                drop(stage.server.delete(&key, &uid, Some(0), now));
            }
        }
    }
}
