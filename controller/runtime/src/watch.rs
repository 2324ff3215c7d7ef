//! Lists a collection and follows what happens to it, for ever.
//!
//! Every object is told once as it is now and again at each change. What
//! vanished while nobody listened is found by comparing lists.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use kube::core::WatchEvent;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::api::{Api, ApiError};
use crate::kinds::Watched;

/// The server ends a watch after this many seconds.
const SPAN: u64 = 290;
/// A watch that is silent for longer is dead: bookmarks come every minute.
const SILENCE: Duration = Duration::from_secs(150);
/// Waits after failures.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// Between two looks for a kind that the server does not know.
const ABSENT: Duration = Duration::from_secs(10);

/// News of a collection.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// As it is now.
    Applied(Value),
    Removed(Gone),
    /// The list is complete.
    Listed(Watched),
    /// The server does not know the kind, or does not let us read it.
    Absent(Watched),
}

/// An object that is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    pub kind: Watched,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// The version at which it was seen to go, or the last one known.
    pub resource_version: String,
}

/// What is known of each object: uid and version.
type Known = BTreeMap<(String, String), (String, String)>;

struct Watch {
    api: Api,
    kind: Watched,
    known: Known,
    news: mpsc::Sender<News>,
}

/// Nobody listens any more.
struct Deaf;

/// Why a round has ended.
enum End {
    /// The listener is gone.
    Deaf,
    /// Go on from this version.
    At(String),
    /// List anew.
    Stale,
    /// Go on from this version, if there is one.
    Failed(ApiError, Option<String>),
}

impl From<Deaf> for End {
    fn from(_: Deaf) -> Self {
        Self::Deaf
    }
}

/// Tells the news of `kind` until nobody listens.
pub async fn follow(api: Api, kind: Watched, news: mpsc::Sender<News>) {
    let mut watch = Watch { api, kind, known: Known::new(), news };
    let mut from: Option<String> = None;
    let mut wait = BACKOFF.0;
    let mut is_absent = false;
    loop {
        let end = match from.take() {
            None => watch.list().await,
            Some(version) => watch.watch(version).await,
        };
        match end {
            End::Deaf => return,
            End::At(version) => {
                from = Some(version);
                (wait, is_absent) = (BACKOFF.0, false);
            }
            End::Stale => {}
            End::Failed(error, _) if matches!(error.code, 403 | 404) => {
                if !std::mem::replace(&mut is_absent, true) {
                    tracing::warn!(kind = kind.kind, api_version = kind.api_version, error = %error, "kind is not to be had");
                }
                if watch.absent().await.is_err() {
                    return;
                }
                tokio::time::sleep(ABSENT).await;
            }
            End::Failed(error, version) => {
                tracing::warn!(kind = kind.kind, error = %error, "a watch failed and begins again");
                from = version;
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(BACKOFF.1);
            }
        }
    }
}

impl Watch {
    /// Everything there is, page by page.
    async fn list(&mut self) -> End {
        let mut fresh = Known::new();
        let mut next = String::new();
        let version = loop {
            let mut page = match self.api.get(&self.kind.page(&next)).await {
                Ok(page) => page,
                // The pages are of one version, which the server has forgotten.
                Err(error) if error.code == 410 => return End::Stale,
                Err(error) => return End::Failed(error, None),
            };
            let version = text(&page["metadata"], "resourceVersion");
            next = text(&page["metadata"], "continue");
            if let Value::Array(items) = page["items"].take() {
                for item in items {
                    note(&mut fresh, &item);
                    if let Err(deaf) = self.tell(item).await {
                        return deaf.into();
                    }
                }
            }
            if next.is_empty() {
                break version;
            }
        };
        match self.replace(fresh).await {
            Ok(()) => End::At(version),
            Err(deaf) => deaf.into(),
        }
    }

    /// What happens from `version` on.
    async fn watch(&mut self, mut version: String) -> End {
        let query = format!("watch=1&allowWatchBookmarks=true&timeoutSeconds={SPAN}&resourceVersion={version}");
        let stream = match self.api.watch(&format!("{}?{query}", self.kind.path())).await {
            Ok(stream) => stream,
            Err(error) if error.code == 410 => return End::Stale,
            Err(error) => return End::Failed(error, Some(version)),
        };
        let mut stream = pin!(stream);
        loop {
            let event = match tokio::time::timeout(SILENCE, stream.next()).await {
                Ok(Some(Ok(event))) => event,
                Ok(Some(Err(error))) if error.code == 410 => return End::Stale,
                Ok(Some(Err(error))) => return End::Failed(error, Some(version)),
                Ok(None) | Err(_) => return End::At(version),
            };
            let told = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    version = text(&object["metadata"], "resourceVersion");
                    note(&mut self.known, &object);
                    self.tell(object).await
                }
                WatchEvent::Deleted(object) => {
                    version = text(&object["metadata"], "resourceVersion");
                    let (key, (uid, _)) = identity(&object);
                    self.known.remove(&key);
                    self.gone(key, uid, version.clone()).await
                }
                WatchEvent::Bookmark(mark) => {
                    version = mark.metadata.resource_version;
                    Ok(())
                }
                WatchEvent::Error(status) if status.code == 410 => return End::Stale,
                WatchEvent::Error(status) => {
                    let error = ApiError::silent(format!("WATCH {}", self.kind.path()), status.message);
                    return End::Failed(error, Some(version));
                }
            };
            if let Err(deaf) = told {
                return deaf.into();
            }
        }
    }

    /// A complete list has come: what is not in it is gone.
    async fn replace(&mut self, fresh: Known) -> Result<(), Deaf> {
        for (key, (uid, version)) in std::mem::take(&mut self.known) {
            if fresh.get(&key).is_none_or(|(now, _)| *now != uid) {
                self.gone(key, uid, version).await?;
            }
        }
        self.known = fresh;
        self.send(News::Listed(self.kind)).await
    }

    /// The kind is not to be had: nothing of it is there.
    async fn absent(&mut self) -> Result<(), Deaf> {
        for (key, (uid, version)) in std::mem::take(&mut self.known) {
            self.gone(key, uid, version).await?;
        }
        self.send(News::Absent(self.kind)).await
    }

    async fn tell(&self, mut object: Value) -> Result<(), Deaf> {
        if let Some(fields) = object.as_object_mut() {
            // Items of a list do not say what they are.
            fields.insert("apiVersion".to_owned(), self.kind.api_version.into());
            fields.insert("kind".to_owned(), self.kind.kind.into());
            if let Some(meta) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
                meta.remove("managedFields");
            }
        }
        self.send(News::Applied(object)).await
    }

    async fn gone(&self, key: (String, String), uid: String, resource_version: String) -> Result<(), Deaf> {
        let (namespace, name) = key;
        self.send(News::Removed(Gone { kind: self.kind, namespace, name, uid, resource_version })).await
    }

    async fn send(&self, news: News) -> Result<(), Deaf> {
        self.news.send(news).await.map_err(|_| Deaf)
    }
}

fn note(known: &mut Known, object: &Value) {
    let (key, value) = identity(object);
    known.insert(key, value);
}

/// Namespace and name; uid and version.
fn identity(object: &Value) -> ((String, String), (String, String)) {
    let meta = &object["metadata"];
    ((text(meta, "namespace"), text(meta, "name")), (text(meta, "uid"), text(meta, "resourceVersion")))
}

fn text(object: &Value, field: &str) -> String {
    object[field].as_str().unwrap_or_default().to_owned()
}
