//! Objects of the API server as JSON.

use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use http::{Method, Request};
use kube::Client;
use kube::core::WatchEvent;
use serde_json::Value;

use crate::fence::Fence;
use crate::pace::Pace;

/// An answer that takes longer counts as none.
const PATIENCE: Duration = Duration::from_secs(30);

/// A client that speaks plain JSON and writes only while the fence holds.
#[derive(Clone)]
pub struct Api {
    client: Client,
    pace: Arc<Pace>,
    fence: Fence,
}

/// What the API server refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {message}")]
pub struct ApiError {
    /// Method and path.
    pub what: String,
    /// HTTP; 0 where no answer came.
    pub code: u16,
    /// `AlreadyExists`, `NotFound`, …
    pub reason: String,
    pub message: String,
    /// Reasons of the causes that the server names.
    pub causes: Vec<String>,
}

impl ApiError {
    /// Nobody answered.
    pub fn silent(what: String, message: impl Into<String>) -> Self {
        Self { what, code: 0, reason: String::new(), message: message.into(), causes: Vec::new() }
    }

    fn of(what: String, error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self {
                what,
                code: status.code,
                reason: status.reason.clone(),
                message: status.message.clone(),
                causes: status.details.iter().flat_map(|d| d.causes.iter().map(|c| c.reason.clone())).collect(),
            },
            other => Self::silent(what, chain(&other)),
        }
    }

    pub fn is_not_found(&self) -> bool {
        self.code == 404
    }

    pub fn is_conflict(&self) -> bool {
        self.code == 409
    }
}

/// An error with everything beneath it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut beneath = error.source();
    while let Some(error) = beneath {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        beneath = error.source();
    }
    text
}

impl Api {
    pub fn new(client: Client, pace: Pace, fence: Fence) -> Self {
        Self { client, pace: Arc::new(pace), fence }
    }

    /// The same client and fence, with a pace of its own.
    pub fn paced(&self, pace: Pace) -> Self {
        Self::new(self.client.clone(), pace, self.fence.clone())
    }

    pub async fn get(&self, path: &str) -> Result<Value, ApiError> {
        self.send(Method::GET, path, "application/json", None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.write(Method::POST, path, "application/json", body).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.write(Method::PUT, path, "application/json", body).await
    }

    /// A merge patch (RFC 7386).
    pub async fn patch(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.write(Method::PATCH, path, "application/merge-patch+json", body).await
    }

    /// Changes single conditions, taints or containers of a built-in kind.
    pub async fn patch_strategic(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.write(Method::PATCH, path, "application/strategic-merge-patch+json", body).await
    }

    pub async fn delete(&self, path: &str, options: &Value) -> Result<Value, ApiError> {
        self.write(Method::DELETE, path, "application/json", options).await
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

    async fn write(&self, method: Method, path: &str, kind: &str, body: &Value) -> Result<Value, ApiError> {
        self.pace.turn().await;
        if !self.fence.holds() {
            return Err(ApiError::silent(format!("{method} {path}"), "the lease is not held"));
        }
        self.send(method, path, kind, Some(body)).await
    }

    async fn send(&self, method: Method, path: &str, kind: &str, body: Option<&Value>) -> Result<Value, ApiError> {
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
