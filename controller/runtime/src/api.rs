//! Objects of the API server as JSON, written only by a leader.

use std::sync::Arc;

use futures::Stream;
use http::Method;
use kube::Client;
use kube::core::WatchEvent;
pub use millwright_client::ApiError;
use millwright_client::server::Server;
use serde_json::Value;

use crate::fence::Fence;
use crate::pace::Pace;

/// A client that speaks plain JSON and writes only while the fence holds.
#[derive(Clone)]
pub struct Api {
    server: Server,
    pace: Arc<Pace>,
    fence: Fence,
}

impl Api {
    pub fn new(client: Client, pace: Pace, fence: Fence) -> Self {
        Self { server: Server::new(client), pace: Arc::new(pace), fence }
    }

    /// The same client and fence, with a pace of its own.
    pub fn paced(&self, pace: Pace) -> Self {
        Self { server: self.server.clone(), pace: Arc::new(pace), fence: self.fence.clone() }
    }

    pub async fn get(&self, path: &str) -> Result<Value, ApiError> {
        self.server.get(path).await
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
        self.server.watch(path).await
    }

    async fn write(&self, method: Method, path: &str, kind: &str, body: &Value) -> Result<Value, ApiError> {
        self.pace.turn().await;
        if !self.fence.holds() {
            return Err(ApiError::silent(format!("{method} {path}"), "the lease is not held"));
        }
        self.server.send(method, path, kind, Some(body)).await
    }
}
