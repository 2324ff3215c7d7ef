//! `DELETE`.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Denial, Key, Kind, Server};
use crate::json;

impl Server {
    /// Deletes the object of this uid (any, if it is empty): at once, or once
    /// its finalizers are gone and, for a pod that runs, its grace period is
    /// used up. Again: a grace period can only become shorter.
    pub fn delete(&mut self, key: &Key, uid: &str, grace: Option<i64>, now: Timestamp) -> Result<(), Denial> {
        let old = self.expect(key, uid)?;
        let grace = if key.kind == Kind::Pod { pod_grace(&old, grace) } else { 0 };
        let left = json::get(&old, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
        if json::is_deleting(&old) && left.is_some_and(|left| grace >= left && left > 0 || left == 0 && grace > 0) {
            return Ok(());
        }
        let held = !json::list(&old, &["metadata", "finalizers"]).is_empty();
        if !held && grace == 0 {
            self.drop_object(key);
            return Ok(());
        }
        if json::is_deleting(&old) && key.kind != Kind::Pod {
            return Ok(());
        }
        let mut new = (*old).clone();
        new["metadata"]["deletionTimestamp"] = json::stamp(now + SignedDuration::from_secs(grace));
        new["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
        let generation = json::get(&old, &["metadata", "generation"]).and_then(Value::as_i64).unwrap_or(1);
        new["metadata"]["generation"] = json!(generation + 1);
        self.store(key.clone(), new);
        Ok(())
    }
}

/// Seconds a pod gets: none where no kubelet has to stop it.
fn pod_grace(pod: &Value, asked: Option<i64>) -> i64 {
    if json::text(pod, &["spec", "nodeName"]).is_empty() || json::has_ended(pod) {
        return 0;
    }
    let own = || json::get(pod, &["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_i64).unwrap_or(30);
    asked.unwrap_or_else(own).max(0)
}
