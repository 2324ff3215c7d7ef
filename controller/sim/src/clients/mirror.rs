//! What a client knows of the API server: the store that the controller's
//! runtime uses too.

use std::collections::BTreeSet;
use std::sync::Arc;

use millwright_models::reader::live::Live;
use millwright_models::world::World;
use serde_json::Value;

use crate::json;
use crate::server::{Key, Kind};

/// Objects as last seen, and the world they make.
#[derive(Debug, Default)]
pub struct Mirror(Live);

impl Mirror {
    /// Takes a version in; tells whether it was news.
    pub fn apply(&mut self, object: &Value) -> bool {
        // What cannot be read is told with the world.
        self.0.apply(object).unwrap_or(true)
    }

    /// The object of this uid was gone as of `version`; tells whether that
    /// was news.
    pub fn remove(&mut self, key: &Key, uid: &str, version: u64) -> bool {
        let (api, kind) = (key.kind.api_version(), key.kind.name());
        self.0.remove(api, kind, &key.namespace, &key.name, uid, &version.to_string())
    }

    /// Takes a whole list in; tells what was news.
    pub fn relist<'o>(&mut self, objects: impl Iterator<Item = (&'o Key, &'o Arc<Value>)>, version: u64) -> Vec<Key> {
        let mut listed: BTreeSet<&Key> = BTreeSet::new();
        let mut news = Vec::new();
        for (key, object) in objects {
            listed.insert(key);
            if self.apply(object) {
                news.push(key.clone());
            }
        }
        for kind in Kind::ALL {
            let held = self.0.held(kind.api_version(), kind.name());
            let held = held.map(|h| (Key::new(kind, h.namespace, h.name), h.uid.to_owned()));
            let lost: Vec<(Key, String)> = held.filter(|(key, _)| !listed.contains(key)).collect();
            for (key, uid) in lost {
                if self.remove(&key, &uid, version) {
                    news.push(key);
                }
            }
        }
        news
    }

    /// The cluster as it is known, and what could not be read.
    pub fn world(&mut self) -> (Arc<World>, Vec<String>) {
        let (world, errors) = self.0.world();
        (world, errors.iter().map(ToString::to_string).collect())
    }
}

/// The resource version of an object.
pub fn version(object: &Value) -> u64 {
    json::text(object, &["metadata", "resourceVersion"]).parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn namespace(name: &str, version: u64) -> Arc<Value> {
        let meta = json!({"name": name, "uid": format!("uid of {name}"), "resourceVersion": version.to_string()});
        Arc::new(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": meta}))
    }

    #[test]
    fn late_and_repeated_news_change_nothing() {
        let mut mirror = Mirror::default();
        let key = Key::new(Kind::Namespace, "", "n");
        assert!(mirror.apply(&namespace("n", 3)));
        assert!(!mirror.apply(&namespace("n", 3)) && !mirror.apply(&namespace("n", 2)));
        assert_eq!(mirror.world().0.namespaces.len(), 1);
        assert!(mirror.remove(&key, "uid of n", 5) && !mirror.remove(&key, "uid of n", 5));
        assert!(!mirror.apply(&namespace("n", 4)), "what is gone does not come back");
        assert_eq!(mirror.world().0.namespaces.len(), 0);
        assert!(mirror.apply(&namespace("n", 6)));
    }

    #[test]
    fn a_list_tells_what_is_gone() {
        let mut mirror = Mirror::default();
        let (old, new) = (Key::new(Kind::Namespace, "", "old"), Key::new(Kind::Namespace, "", "n"));
        mirror.apply(&namespace("old", 1));
        let object = namespace("n", 2);
        assert_eq!(mirror.relist([(&new, &object)].into_iter(), 4), [new.clone(), old]);
        assert!(mirror.relist([(&new, &object)].into_iter(), 4).is_empty());
    }
}
