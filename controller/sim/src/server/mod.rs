//! An API server: objects with versions, and what each request does to them.
//!
//! Modelled as far as a controller can tell: resource versions, uids,
//! generations, finalizers, graceful deletion, conditional merge patches, the
//! status subresource, bindings, evictions. Not modelled: authorisation,
//! admission webhooks, field ownership.

mod binding;
mod create;
mod delete;
mod denial;
mod eviction;
mod key;
mod kind;
mod merge;
mod patch;
#[cfg(test)]
mod tests;
mod validate;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

pub use denial::Denial;
pub use key::Key;
pub use kind::Kind;
pub use merge::merge;

use crate::json;

/// One step of an object's history, as watches tell it.
#[derive(Clone, Debug)]
pub struct Change {
    pub version: u64,
    pub key: Key,
    /// The state after the change; the last one of an object that is gone.
    pub object: Arc<Value>,
    pub before: Option<Arc<Value>>,
    pub gone: bool,
}

/// The objects, and how they came to be what they are.
#[derive(Clone, Debug, Default)]
pub struct Server {
    objects: BTreeMap<Key, Arc<Value>>,
    version: u64,
    given: u64,
    changes: Vec<Change>,
}

impl Server {
    pub fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = (&Key, &Arc<Value>)> {
        self.objects.range(Key::new(kind, "", "")..).take_while(move |(key, _)| key.kind == kind)
    }

    /// Every object.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &Arc<Value>)> {
        self.objects.iter()
    }

    /// Number of the latest change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Everything that ever changed.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn next_given(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// Stores a new state, unless it is the old one, and returns it.
    fn store(&mut self, key: Key, mut object: Value) -> Arc<Value> {
        let before = self.objects.get(&key).cloned();
        if before.as_deref().is_some_and(|old| *old == object) {
            return before.unwrap_or_default();
        }
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Arc::new(object);
        self.objects.insert(key.clone(), object.clone());
        self.changes.push(Change { version: self.version, key, object: object.clone(), before, gone: false });
        object
    }

    /// Takes an object away for good.
    fn drop_object(&mut self, key: &Key) -> Option<Arc<Value>> {
        let before = self.objects.remove(key)?;
        self.version += 1;
        let mut last = (*before).clone();
        last["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let object = Arc::new(last);
        let (version, key) = (self.version, key.clone());
        self.changes.push(Change { version, key, object: object.clone(), before: Some(before), gone: true });
        Some(object)
    }

    /// The object, if it is the one of this uid.
    fn expect(&self, key: &Key, uid: &str) -> Result<Arc<Value>, Denial> {
        let object = self.objects.get(key).ok_or(Denial::NotFound)?;
        if !uid.is_empty() && json::uid(object) != uid {
            return Err(Denial::Conflict(format!("{key} has uid {}, not {uid}", json::uid(object))));
        }
        Ok(object.clone())
    }
}
