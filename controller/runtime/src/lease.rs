//! One leader at a time, by a Lease.
//!
//! Each change is a patch that holds only for the version that was read, so
//! two processes never both take it. Whoever wants it watches the version, not
//! the clock in it: it takes the lease over once the version has stood still
//! for the whole duration by its own clock.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::api::{Api, ApiError};
use crate::fence::Fence;

/// Without renewal, another may take over after this.
const DURATION: Duration = Duration::from_secs(15);
/// Without renewal, we stop writing after this.
const DEADLINE: Duration = Duration::from_secs(10);
/// Between two attempts.
const RETRY: Duration = Duration::from_secs(2);

/// Who may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Waiting,
    Leading,
    /// It led, and no longer may.
    Lost,
}

/// A candidate for a lease.
pub struct Candidate {
    api: Api,
    fence: Fence,
    collection: String,
    name: String,
    /// Who we are; two processes never share it.
    identity: String,
    role: watch::Sender<Role>,
}

/// A lease as another left it, and since when it looks like that.
struct Standing {
    version: String,
    since: Instant,
}

impl Candidate {
    /// `api` must not be behind `fence`: it is what opens it.
    pub fn new(api: Api, fence: Fence, namespace: &str, name: &str, role: watch::Sender<Role>) -> Self {
        let collection = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
        Self { api, fence, collection, name: name.to_owned(), identity: identity(), role }
    }

    /// Tries to lead, leads, until `stop`; then gives the lease back.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut standing: Option<Standing> = None;
        let mut renewed = Instant::now();
        loop {
            let is_leading = *self.role.borrow() == Role::Leading;
            let sent = Instant::now();
            match self.attempt(&mut standing, is_leading).await {
                Ok(true) => {
                    renewed = sent;
                    self.fence.renew(sent, DEADLINE);
                    if !is_leading {
                        tracing::info!(lease = self.name, identity = self.identity, "became leader");
                        self.role.send_replace(Role::Leading);
                    }
                }
                Ok(false) if is_leading => return self.lose("another holds it"),
                Ok(false) => {}
                Err(error) => tracing::warn!(lease = self.name, error = %error, "the lease could not be renewed"),
            }
            if is_leading && renewed.elapsed() >= DEADLINE {
                return self.lose("it was not renewed in time");
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY) => {}
                _ = stop.wait_for(|s| *s) => break,
            }
        }
        if *self.role.borrow() == Role::Leading {
            self.fence.close();
            self.release().await;
        }
    }

    fn lose(&self, why: &str) {
        self.fence.close();
        tracing::error!(lease = self.name, why, "leadership is lost");
        self.role.send_replace(Role::Lost);
    }

    /// Takes or renews the lease; false where another has it.
    async fn attempt(&self, standing: &mut Option<Standing>, is_leading: bool) -> Result<bool, ApiError> {
        let path = format!("{}/{}", self.collection, self.name);
        let lease = match self.api.get(&path).await {
            Ok(lease) => lease,
            Err(error) if error.is_not_found() => {
                let mut lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"});
                lease["metadata"] = json!({"name": self.name});
                lease["spec"] = self.spec(Timestamp::now(), 0);
                return taken(self.api.post(&self.collection, &lease).await);
            }
            Err(error) => return Err(error),
        };
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        let is_ours = holder == self.identity;
        if !is_ours && (is_leading || !is_free(&lease, holder, standing)) {
            return Ok(false);
        }
        let mut spec = if is_ours {
            json!({"renewTime": micros(Timestamp::now())})
        } else {
            let transitions = lease["spec"]["leaseTransitions"].as_i64().unwrap_or_default() + 1;
            self.spec(Timestamp::now(), transitions)
        };
        spec["leaseDurationSeconds"] = json!(DURATION.as_secs());
        let version = &lease["metadata"]["resourceVersion"];
        let answer = self.api.patch(&path, &json!({"metadata": {"resourceVersion": version}, "spec": spec})).await;
        // Whoever touched our own lease may only have annotated it: look again.
        if is_ours { answer.map(|_| true) } else { taken(answer) }
    }

    fn spec(&self, now: Timestamp, transitions: i64) -> Value {
        json!({
            "holderIdentity": self.identity,
            "leaseDurationSeconds": DURATION.as_secs(),
            "acquireTime": micros(now),
            "renewTime": micros(now),
            "leaseTransitions": transitions,
        })
    }

    /// Lets the next one lead at once.
    async fn release(&self) {
        let path = format!("{}/{}", self.collection, self.name);
        let released = async {
            let lease = self.api.get(&path).await?;
            if lease["spec"]["holderIdentity"] != json!(self.identity) {
                return Ok(());
            }
            let version = &lease["metadata"]["resourceVersion"];
            let spec = json!({"holderIdentity": "", "leaseDurationSeconds": 1});
            let body = json!({"metadata": {"resourceVersion": version}, "spec": spec});
            self.api.patch(&path, &body).await.map(drop)
        };
        match released.await {
            Ok(()) => tracing::info!(lease = self.name, "gave the lease back"),
            Err::<(), ApiError>(error) => {
                tracing::warn!(lease = self.name, error = %error, "the lease could not be given back");
            }
        }
    }
}

/// The host and something that no other process has.
fn identity() -> String {
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let unique = Timestamp::now().as_nanosecond();
    format!("{}_{}_{unique:x}", host.trim(), std::process::id())
}

/// Whether another's lease may be taken over.
fn is_free(lease: &Value, holder: &str, standing: &mut Option<Standing>) -> bool {
    if holder.is_empty() {
        return true;
    }
    let version = lease["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let seconds = lease["spec"]["leaseDurationSeconds"].as_u64().unwrap_or(DURATION.as_secs());
    match standing {
        Some(s) if s.version == version => s.since.elapsed() >= Duration::from_secs(seconds),
        _ => {
            *standing = Some(Standing { version: version.to_owned(), since: Instant::now() });
            false
        }
    }
}

/// Someone else was faster: that is an answer, not an error.
fn taken(answer: Result<Value, ApiError>) -> Result<bool, ApiError> {
    match answer {
        Ok(_) => Ok(true),
        Err(error) if error.is_conflict() => Ok(false),
        Err(error) => Err(error),
    }
}

/// As the API has times of leases.
fn micros(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_free_when_given_back_or_standing_still() {
        let lease = |version: &str, seconds: u64| json!({"metadata": {"resourceVersion": version}, "spec": {"leaseDurationSeconds": seconds}});
        let mut standing = None;
        assert!(is_free(&lease("1", 15), "", &mut standing));
        assert!(!is_free(&lease("1", 0), "other", &mut standing), "first sight");
        assert!(is_free(&lease("1", 0), "other", &mut standing), "it stood still for its duration");
        assert!(!is_free(&lease("2", 0), "other", &mut standing), "it was renewed");
        assert!(!is_free(&lease("2", 60), "other", &mut standing), "not for long enough");
    }

    #[test]
    fn times_are_as_the_api_has_them() {
        assert_eq!(micros("2026-05-01T10:00:00.25Z".parse().unwrap()), "2026-05-01T10:00:00.250000Z");
    }
}
