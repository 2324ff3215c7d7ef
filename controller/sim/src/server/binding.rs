//! `pods/binding`.

use jiff::Timestamp;
use serde_json::json;

use super::{Denial, Key, Server};
use crate::json;

impl Server {
    /// Binds a pod. Neither room nor rules are checked, nor that the node
    /// exists: that is how the real one does it.
    pub fn bind(&mut self, pod: &Key, uid: &str, node: &str, now: Timestamp) -> Result<(), Denial> {
        let old = self.expect(pod, uid)?;
        if json::is_deleting(&old) {
            return Err(Denial::Conflict(format!("{pod} is being deleted, cannot be assigned to a host")));
        }
        let bound = json::text(&old, &["spec", "nodeName"]);
        if !bound.is_empty() {
            return Err(Denial::Conflict(format!("{pod} is already assigned to node {bound}")));
        }
        if !json::list(&old, &["spec", "schedulingGates"]).is_empty() {
            return Err(Denial::Conflict(format!("{pod} has scheduling gates")));
        }
        let mut new = (*old).clone();
        new["spec"]["nodeName"] = json!(node);
        new["status"]["conditions"] = json::with_condition(&old, "PodScheduled", "True", "", "", now);
        self.store(pod.clone(), new);
        Ok(())
    }
}
