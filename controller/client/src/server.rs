//! An API server that is spoken to in plain JSON.

use std::time::Duration;

use futures::{Stream, StreamExt};
use http::{Method, Request};
use kube::Client;
use kube::core::WatchEvent;
use serde_json::Value;

use crate::ApiError;

/// An answer that takes longer counts as none.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server.
#[derive(Clone)]
pub struct Server {
    client: Client,
}

impl Server {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    pub async fn get(&self, path: &str) -> Result<Value, ApiError> {
        self.send(Method::GET, path, "application/json", None).await
    }

    /// What happens to a collection from a version on, until the server ends it.
    pub async fn watch(
        &self,
        path: &str,
    ) -> Result<impl Stream<Item = Result<WatchEvent<Value>, ApiError>> + use<>, ApiError> {
        let what = format!("WATCH {path}");
        let request = Request::builder().method(Method::GET).uri(path).body(Vec::new());
        let request = request.map_err(|e| ApiError::silent(what.clone(), e.to_string()))?;
        let begin = self.client.request_events::<Value>(request);
        let stream = tokio::time::timeout(PATIENCE, begin).await;
        let stream = stream.map_err(|_| ApiError::silent(what.clone(), "no answer"))?;
        let stream = stream.map_err(|e| ApiError::of(what.clone(), e))?;
        Ok(stream.map(move |event: kube::Result<WatchEvent<Value>>| event.map_err(|e| ApiError::of(what.clone(), e))))
    }

    /// Any request; `kind` is the content type of the body.
    pub async fn send(&self, method: Method, path: &str, kind: &str, body: Option<&Value>) -> Result<Value, ApiError> {
        let what = format!("{method} {path}");
        let bytes = body.map(ToString::to_string).unwrap_or_default().into_bytes();
        let request = Request::builder().method(method).uri(path).header("content-type", kind).body(bytes);
        let request = request.map_err(|e| ApiError::silent(what.clone(), e.to_string()))?;
        match tokio::time::timeout(PATIENCE, self.client.request::<Value>(request)).await {
            Ok(answer) => answer.map_err(|e| ApiError::of(what, e)),
            Err(_) => Err(ApiError::silent(what, format!("no answer within {PATIENCE:?}"))),
        }
    }
}
