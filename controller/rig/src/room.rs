//! A plane that is cleared and filled again and again.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::api::{Api, ApiError, Patch};
use crate::objects;

/// Requests at a time.
const WIDTH: usize = 8;
/// Nothing that Kubernetes does by itself takes longer.
const LONG: Duration = Duration::from_secs(60);

/// Objects that belong to no namespace, with the collections they are in.
const WHOLE: [&str; 6] = [
    "/api/v1/nodes",
    "/api/v1/persistentvolumes",
    "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/storage.k8s.io/v1/csinodes",
    "/apis/node.k8s.io/v1/runtimeclasses",
    "/apis/storage.k8s.io/v1/volumeattachments",
];
const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

/// Why a room cannot be set.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    #[error(transparent)]
    Api(#[from] ApiError),
    /// Something that Kubernetes does by itself did not happen.
    #[error("not within a minute: {0}")]
    Late(String),
    /// A request was broken off.
    #[error("a task failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// A plane for one scene at a time.
#[derive(Clone)]
pub struct Room {
    pub api: Api,
}

impl Room {
    pub fn new(api: Api) -> Self {
        Self { api }
    }

    /// Takes everything away that a scene may have left.
    pub async fn clear(&self) -> Result<(), RoomError> {
        self.empty("/apis/apps/v1", "daemonsets").await?;
        self.empty("/api/v1", "limitranges").await?;
        self.empty("/api/v1", "pods").await?;
        self.empty("/api/v1", "persistentvolumeclaims").await?;
        for collection in WHOLE {
            self.remove_all(collection).await?;
        }
        // Its set may have made a pod while it went.
        self.empty("/api/v1", "pods").await?;
        for class in self.api.list(CLASSES).await? {
            if !objects::name(&class).starts_with("system-") {
                self.api.delete(&format!("{CLASSES}/{}", objects::name(&class))).await?;
            }
        }
        Ok(())
    }

    /// Removes the objects of a kind from all namespaces.
    async fn empty(&self, group: &str, kind: &str) -> Result<(), RoomError> {
        let all = self.api.list(&format!("{group}/{kind}")).await?;
        let mut namespaces: Vec<&str> = all.iter().map(objects::namespace).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        for namespace in namespaces {
            self.remove_all(&format!("{group}/namespaces/{namespace}/{kind}")).await?;
        }
        Ok(())
    }

    /// Deletes a collection until it is empty, finalizers or not.
    async fn remove_all(&self, collection: &str) -> Result<(), RoomError> {
        let start = Instant::now();
        loop {
            let left = self.api.list(collection).await?;
            if left.is_empty() {
                return Ok(());
            }
            if start.elapsed() > LONG {
                return Err(RoomError::Late(format!("{collection} is empty")));
            }
            self.api.delete(collection).await?;
            for object in left.iter().filter(|o| !o["metadata"]["finalizers"].is_null()) {
                let path = format!("{collection}/{}", objects::name(object));
                let freed = self.api.patch(&path, Patch::Merge, &json!({"metadata": {"finalizers": null}})).await;
                match freed {
                    Err(e) if !e.is(StatusCode::NOT_FOUND) && !e.is(StatusCode::CONFLICT) => return Err(e.into()),
                    _ => {}
                }
            }
        }
    }

    /// Makes a namespace, or gives the one there is exactly these labels.
    pub async fn namespace(&self, name: &str, labels: &BTreeMap<String, String>) -> Result<(), RoomError> {
        let path = format!("/api/v1/namespaces/{name}");
        let mut all = labels.clone();
        all.insert("kubernetes.io/metadata.name".to_owned(), name.to_owned());
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": all}});
        match self.api.put(&path, &object).await {
            Err(e) if e.is(StatusCode::NOT_FOUND) => drop(self.api.post("/api/v1/namespaces", &object).await?),
            other => drop(other?),
        }
        Ok(())
    }

    /// Makes many objects at a time; what each became, or why it was refused,
    /// in the same order.
    pub async fn make(&self, wanted: Vec<(String, Value)>) -> Result<Vec<Result<Value, ApiError>>, RoomError> {
        self.each(wanted, |api, (path, object)| async move { api.post(&path, &object).await }).await
    }

    /// As [`Room::make`], where nothing may be refused.
    pub async fn make_all(&self, wanted: Vec<(String, Value)>) -> Result<Vec<Value>, RoomError> {
        let made = self.make(wanted).await?;
        Ok(made.into_iter().collect::<Result<_, _>>()?)
    }

    /// Does something to each, a few at a time.
    pub async fn each<T, R, F>(&self, all: Vec<T>, work: impl Fn(Api, T) -> F) -> Result<Vec<R>, RoomError>
    where
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
    {
        let mut done: Vec<(usize, R)> = Vec::with_capacity(all.len());
        let mut running = JoinSet::new();
        for (i, item) in all.into_iter().enumerate() {
            if running.len() >= WIDTH
                && let Some(result) = running.join_next().await
            {
                done.push(result?);
            }
            let task = work(self.api.clone(), item);
            running.spawn(async move { (i, task.await) });
        }
        while let Some(result) = running.join_next().await {
            done.push(result?);
        }
        done.sort_unstable_by_key(|(i, _)| *i);
        Ok(done.into_iter().map(|(_, r)| r).collect())
    }

    /// Waits until a list is as it should be.
    pub async fn until(
        &self,
        path: &str,
        what: &str,
        holds: impl Fn(&[Value]) -> bool,
    ) -> Result<Vec<Value>, RoomError> {
        let start = Instant::now();
        loop {
            let all = self.api.list(path).await?;
            if holds(&all) {
                return Ok(all);
            }
            if start.elapsed() > LONG {
                return Err(RoomError::Late(what.to_owned()));
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }
}
