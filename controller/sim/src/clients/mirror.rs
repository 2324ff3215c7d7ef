//! What a client knows of the API server: a cache that only goes forward.

use std::collections::BTreeMap;
use std::sync::Arc;

use millwright_models::reader::{Document, ReadOptions, read};
use millwright_models::world::World;
use serde_json::Value;

use crate::json;
use crate::server::{Key, Kind};

/// Objects as last seen, and the world they make.
#[derive(Clone, Debug, Default)]
pub struct Mirror {
    seen: BTreeMap<Key, Seen>,
    world: Option<Arc<World>>,
}

/// The latest version of an object; without the object, it is gone.
#[derive(Clone, Debug)]
struct Seen {
    version: u64,
    object: Option<Arc<Value>>,
}

impl Mirror {
    /// Takes a version in; tells whether it was news.
    pub fn apply(&mut self, key: &Key, object: &Arc<Value>) -> bool {
        self.note(key, version(object), Some(object.clone()))
    }

    /// The object was gone as of `version`; tells whether that was news.
    pub fn remove(&mut self, key: &Key, version: u64) -> bool {
        self.note(key, version, None)
    }

    fn note(&mut self, key: &Key, version: u64, object: Option<Arc<Value>>) -> bool {
        if self.seen.get(key).is_some_and(|seen| seen.version >= version) {
            return false;
        }
        self.seen.insert(key.clone(), Seen { version, object });
        self.world = None;
        true
    }

    /// Takes a whole list in; tells what was news.
    pub fn relist<'o>(&mut self, objects: impl Iterator<Item = (&'o Key, &'o Arc<Value>)>, version: u64) -> Vec<Key> {
        let listed: BTreeMap<&Key, &Arc<Value>> = objects.collect();
        let lost = self.seen.iter().filter(|(key, seen)| seen.object.is_some() && !listed.contains_key(key));
        let lost: Vec<Key> = lost.map(|(key, _)| key.clone()).collect();
        let mut news: Vec<Key> = lost.into_iter().filter(|key| self.remove(key, version)).collect();
        news.extend(listed.into_iter().filter(|(key, object)| self.apply(key, object)).map(|(key, _)| key.clone()));
        news
    }

    pub fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.seen.get(key)?.object.as_ref()
    }

    /// The cluster as it is known, and what could not be read.
    pub fn world(&mut self) -> (Arc<World>, Vec<String>) {
        if let Some(world) = &self.world {
            return (world.clone(), Vec::new());
        }
        // Workloads are left out: given without pods they would count as the
        // pods they make.
        let items = self.seen.iter().filter(|(key, _)| !matches!(key.kind, Kind::ReplicaSet | Kind::StatefulSet));
        let items = items.filter_map(|(_, seen)| seen.object.as_deref());
        let text: String = items.map(|object| object.to_string() + "\n").collect();
        let document = Document { file: "api".to_owned(), text };
        match read(&[document], &ReadOptions { default_pools: false }) {
            Ok(world) => (self.world.insert(Arc::new(world)).clone(), Vec::new()),
            Err(errors) => (Arc::default(), errors.0.iter().map(ToString::to_string).collect()),
        }
    }
}

/// The resource version of an object.
fn version(object: &Value) -> u64 {
    json::text(object, &["metadata", "resourceVersion"]).parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn namespace(version: u64) -> Arc<Value> {
        let meta = json!({"name": "n", "resourceVersion": version.to_string()});
        Arc::new(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": meta}))
    }

    #[test]
    fn late_and_repeated_news_change_nothing() {
        let mut mirror = Mirror::default();
        let key = Key::new(Kind::Namespace, "", "n");
        assert!(mirror.apply(&key, &namespace(3)));
        assert!(!mirror.apply(&key, &namespace(3)) && !mirror.apply(&key, &namespace(2)));
        assert_eq!(mirror.world().0.namespaces.len(), 1);
        assert!(mirror.remove(&key, 5) && !mirror.remove(&key, 5));
        assert!(!mirror.apply(&key, &namespace(4)), "what is gone does not come back");
        assert_eq!(mirror.world().0.namespaces.len(), 0);
        assert!(mirror.apply(&key, &namespace(6)));
    }

    #[test]
    fn a_list_tells_what_is_gone() {
        let mut mirror = Mirror::default();
        let (old, new) = (Key::new(Kind::Namespace, "", "old"), Key::new(Kind::Namespace, "", "n"));
        mirror.apply(&old, &namespace(1));
        let object = namespace(2);
        assert_eq!(mirror.relist([(&new, &object)].into_iter(), 4), [old.clone(), new.clone()]);
        assert_eq!((mirror.get(&old), mirror.get(&new)), (None, Some(&object)));
        assert!(mirror.relist([(&new, &object)].into_iter(), 4).is_empty());
    }
}
