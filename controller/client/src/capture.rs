//! A cluster's objects, all that plans, audits and explanations read.

use std::path::Path;

use serde_json::Value;

use crate::ApiError;
use crate::connect::{ConnectError, client, cluster};
use crate::kinds::{ALWAYS, BUFFERS, FURTHER, OVERLAYS, Watched};
use crate::server::Server;

/// A list that the server forgot half-way is begun anew so often.
const TRIES: usize = 3;
/// Without these there is no cluster to look at.
const VITAL: [&str; 2] = ["Pod", "Node"];
/// `kubectl apply` keeps a copy of the object there.
const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What was captured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capture {
    /// As the API has them, each with its `apiVersion` and `kind`.
    pub objects: Vec<Value>,
    /// Kinds that could not be read, one sentence each.
    pub warnings: Vec<String>,
}

/// Why nothing was captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("no thread for requests: {0}")]
    Thread(std::io::Error),
}

/// Captures the cluster that is meant; waits until that is done.
pub fn capture_now(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Capture, CaptureError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CaptureError::Thread)?;
    runtime.block_on(async {
        let server = Server::new(client(cluster(kubeconfig, context).await?)?);
        Ok(capture(&server).await?)
    })
}

/// Captures a cluster. Pods come first: each node that one of them names is
/// then in the list of nodes, unless it was deleted in between.
pub async fn capture(server: &Server) -> Result<Capture, ApiError> {
    let mut capture = Capture::default();
    for kind in ALWAYS.into_iter().chain(OVERLAYS).chain(FURTHER) {
        capture.add(server, &kind).await?;
    }
    // Workloads matter only where a buffer may name them: their pods are there.
    let [buffers, sources @ ..] = BUFFERS;
    if capture.add(server, &buffers).await? > 0 {
        for kind in sources {
            capture.add(server, &kind).await?;
        }
    }
    Ok(capture)
}

impl Capture {
    /// Adds all objects of a kind; tells how many there are. A kind that the
    /// server does not know has none; one that we may not read is told of.
    async fn add(&mut self, server: &Server, kind: &Watched) -> Result<usize, ApiError> {
        let is_vital = VITAL.contains(&kind.kind);
        let found = match list(server, kind).await {
            Ok(found) => found,
            Err(error) if error.code == 404 && !is_vital => return Ok(0),
            Err(error) if error.code == 403 && !is_vital => {
                let warning = format!("{} may not be listed and are left out: {}", kind.plural, error.message);
                self.warnings.push(warning);
                return Ok(0);
            }
            Err(error) => return Err(error),
        };
        let count = found.len();
        self.objects.extend(found);
        Ok(count)
    }
}

/// Everything of a kind, page by page.
async fn list(server: &Server, kind: &Watched) -> Result<Vec<Value>, ApiError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match pages(server, kind).await {
            // The pages are of one version, which the server has forgotten.
            Err(error) if error.code == 410 && tries < TRIES => {}
            other => return other,
        }
    }
}

async fn pages(server: &Server, kind: &Watched) -> Result<Vec<Value>, ApiError> {
    let mut all = Vec::new();
    let mut token = String::new();
    loop {
        let mut page = server.get(&kind.page(&token)).await?;
        token = page["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
        if let Value::Array(items) = page["items"].take() {
            all.extend(items.into_iter().map(|item| lean(item, kind)));
        }
        if token.is_empty() {
            return Ok(all);
        }
    }
}

/// An item of a list as an object of its own, without what only takes room.
fn lean(mut item: Value, kind: &Watched) -> Value {
    if let Some(fields) = item.as_object_mut() {
        fields.insert("apiVersion".to_owned(), kind.api_version.into());
        fields.insert("kind".to_owned(), kind.kind.into());
    }
    if let Some(meta) = item.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("managedFields");
        if let Some(annotations) = meta.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(APPLIED);
        }
    }
    if let Some(status) = item.get_mut("status").and_then(Value::as_object_mut)
        && kind.kind == "Node"
    {
        status.remove("images");
    }
    item
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_of_lists_say_what_they_are_and_carry_no_ballast() {
        let item = json!({"metadata": {"name": "n", "managedFields": [{}], "annotations": {APPLIED: "{}", "a": "b"}},
            "status": {"images": [{}], "capacity": {"cpu": "1"}}});
        let node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "n", "annotations": {"a": "b"}}, "status": {"capacity": {"cpu": "1"}}});
        assert_eq!(lean(item, &ALWAYS[1]), node);
    }
}
