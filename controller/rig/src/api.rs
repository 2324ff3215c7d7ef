//! Objects of the API server as JSON: written as the user wrote them.

use http::{Method, Request, StatusCode};
use kube::Client;
use serde_json::{Value, json};

/// A client that speaks plain JSON.
#[derive(Clone)]
pub struct Api {
    client: Client,
}

/// What the API server refused.
#[derive(Debug, thiserror::Error)]
#[error("{method} {path}: {reason}")]
pub struct ApiError {
    pub method: Method,
    pub path: String,
    /// 0 where no answer came.
    pub code: u16,
    pub reason: String,
}

impl ApiError {
    pub fn is(&self, code: StatusCode) -> bool {
        self.code == code.as_u16()
    }
}

/// How a PATCH is meant.
#[derive(Clone, Copy, Debug)]
pub enum Patch {
    Merge,
    Strategic,
}

impl Api {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    pub async fn get(&self, path: &str) -> Result<Value, ApiError> {
        self.send(Method::GET, path, "application/json", None).await
    }

    /// The items of a list.
    pub async fn list(&self, path: &str) -> Result<Vec<Value>, ApiError> {
        let mut all = self.get(path).await?;
        match all["items"].take() {
            Value::Array(items) => Ok(items),
            _ => Ok(Vec::new()),
        }
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.send(Method::POST, path, "application/json", Some(body)).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Result<Value, ApiError> {
        self.send(Method::PUT, path, "application/json", Some(body)).await
    }

    pub async fn patch(&self, path: &str, how: Patch, body: &Value) -> Result<Value, ApiError> {
        let kind = match how {
            Patch::Merge => "application/merge-patch+json",
            Patch::Strategic => "application/strategic-merge-patch+json",
        };
        self.send(Method::PATCH, path, kind, Some(body)).await
    }

    /// Deletes one object or a collection at once, without any grace.
    pub async fn delete(&self, path: &str) -> Result<(), ApiError> {
        let options = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
        match self.send(Method::DELETE, path, "application/json", Some(&options)).await {
            Err(error) if !error.is(StatusCode::NOT_FOUND) => Err(error),
            _ => Ok(()),
        }
    }

    /// Asks a pod to end, as a user would: with nobody to end it, it stays.
    pub async fn leave(&self, path: &str) -> Result<(), ApiError> {
        let options = json!({"gracePeriodSeconds": 3600});
        self.send(Method::DELETE, path, "application/json", Some(&options)).await.map(drop)
    }

    async fn send(&self, method: Method, path: &str, kind: &str, body: Option<&Value>) -> Result<Value, ApiError> {
        let failed =
            |code: u16, reason: String| ApiError { method: method.clone(), path: path.to_owned(), code, reason };
        let bytes = body.map(ToString::to_string).unwrap_or_default().into_bytes();
        let request = Request::builder().method(method.clone()).uri(path).header("content-type", kind).body(bytes);
        let request = request.map_err(|e| failed(0, e.to_string()))?;
        self.client.request(request).await.map_err(|error| match error {
            kube::Error::Api(status) => failed(status.code, status.message.clone()),
            other => failed(0, other.to_string()),
        })
    }
}
