//! An API server that is small enough to be seen through: versions,
//! generations, merge patches, finalizers, graceful deletion.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Ask, Refusal, Reply, Target};
use millwright_models::reader::live::Live;
use serde_json::{Value, json};

pub use crate::json::merge;

pub type Key = (String, String, String);

/// Objects as written, and the store that the watch feeds.
#[derive(Default)]
pub struct Server {
    objects: BTreeMap<Key, Value>,
    pub live: Live,
    version: u64,
    /// What the next evictions of a pod (`namespace/name`) are answered, for
    /// as long as there is an entry.
    pub budgets: BTreeMap<String, Refusal>,
    /// The next patches of an object of this kind that conflict.
    pub conflicts: BTreeMap<&'static str, u32>,
    /// The next status patches that are lost.
    pub lost_status: u32,
}

impl Server {
    pub fn put(&mut self, mut object: Value, now: Timestamp) {
        let key = key_of(&object);
        let metadata = &mut object["metadata"];
        for (field, value) in [
            ("uid", json!(format!("uid-{}-{}", key.2, self.version))),
            ("creationTimestamp", json!(now.to_string())),
            ("generation", json!(1)),
        ] {
            if metadata[field].is_null() {
                metadata[field] = value;
            }
        }
        self.store(key, object);
    }

    pub fn get(&self, kind: &str, name: &str) -> Option<&Value> {
        self.objects.iter().find(|((k, _, n), _)| k == kind && n == name).map(|(_, object)| object)
    }

    pub fn names(&self, kind: &str) -> Vec<String> {
        self.objects.keys().filter(|(k, ..)| k == kind).map(|(_, _, name)| name.clone()).collect()
    }

    /// Changes an object as somebody else would.
    pub fn merge(&mut self, kind: &str, name: &str, patch: &Value) {
        let key = self.objects.keys().find(|(k, _, n)| k == kind && n == name).unwrap().clone();
        let mut object = self.objects[&key].clone();
        merge(&mut object, patch);
        self.store(key, object);
    }

    /// Takes an object away, finalizers or not.
    pub fn lose(&mut self, kind: &str, name: &str) {
        if let Some(key) = self.objects.keys().find(|(k, _, n)| k == kind && n == name).cloned() {
            self.drop(&key);
        }
    }

    /// Deletes as `kubectl` does.
    pub fn delete(&mut self, kind: &str, name: &str, now: Timestamp) {
        let key = self.objects.keys().find(|(k, _, n)| k == kind && n == name).unwrap().clone();
        self.end(&key, None, now);
    }

    /// Ends pods whose grace period is over, as a kubelet does.
    pub fn tick(&mut self, now: Timestamp) {
        let over = |object: &Value| {
            let end = object["metadata"]["deletionTimestamp"].as_str();
            end.is_some_and(|end| end.parse::<Timestamp>().unwrap() <= now) && object["metadata"]["stuck"].is_null()
        };
        let done: Vec<Key> =
            self.objects.iter().filter(|((kind, ..), o)| kind == "Pod" && over(o)).map(|(k, _)| k.clone()).collect();
        done.iter().for_each(|key| self.drop(key));
    }

    pub fn carry_out(&mut self, ask: &Ask, now: Timestamp) -> Reply {
        match ask {
            Ask::Create { target, object } => {
                if self.objects.contains_key(&key(target)) {
                    return Reply::Refused(Refusal::Conflict);
                }
                self.put(object.clone(), now);
                Reply::Object(self.objects[&key(target)].clone())
            }
            Ask::Patch { target, status, body } => self.patch(target, *status, body),
            Ask::Delete { target, uid, grace_seconds } => {
                let key = key(target);
                match self.objects.get(&key).map(|o| o["metadata"]["uid"] == uid.as_str()) {
                    None => Reply::Refused(Refusal::NotFound),
                    Some(false) => Reply::Refused(Refusal::Conflict),
                    Some(true) => {
                        self.end(&key, *grace_seconds, now);
                        Reply::Done
                    }
                }
            }
            Ask::Evict { pod, uid } => {
                let key = key(pod);
                let name = format!("{}/{}", pod.namespace, pod.name);
                match self.objects.get(&key).map(|o| o["metadata"]["uid"] == uid.as_str()) {
                    None => Reply::Refused(Refusal::NotFound),
                    Some(false) => Reply::Refused(Refusal::Conflict),
                    Some(true) => match self.budgets.get(&name) {
                        Some(refusal) => Reply::Refused(refusal.clone()),
                        None => {
                            self.end(&key, None, now);
                            Reply::Done
                        }
                    },
                }
            }
            _ => Reply::Done,
        }
    }

    fn patch(&mut self, target: &Target, status: bool, body: &Value) -> Reply {
        let key = key(target);
        let Some(held) = self.objects.get(&key) else { return Reply::Refused(Refusal::NotFound) };
        let wanted = &body["metadata"]["resourceVersion"];
        if let Some(left) = self.conflicts.get_mut(target.kind.name()).filter(|left| **left > 0) {
            *left -= 1;
            return Reply::Refused(Refusal::Conflict);
        }
        if !wanted.is_null() && *wanted != held["metadata"]["resourceVersion"] {
            return Reply::Refused(Refusal::Conflict);
        }
        let mut object = held.clone();
        if status {
            if self.lost_status > 0 {
                self.lost_status -= 1;
                return Reply::Refused(Refusal::Unavailable { message: "connection reset".to_owned() });
            }
            merge(&mut object, &json!({"status": body["status"]}));
        } else {
            let spec = held["spec"].clone();
            let mut main = body.clone();
            main.as_object_mut().unwrap().remove("status");
            merge(&mut object, &main);
            if object["spec"] != spec {
                object["metadata"]["generation"] = json!(held["metadata"]["generation"].as_i64().unwrap_or(1) + 1);
            }
        }
        self.store(key.clone(), object);
        let stored = self.objects[&key].clone();
        let held = stored["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty());
        if !stored["metadata"]["deletionTimestamp"].is_null() && !held && key.0 != "Pod" {
            self.drop(&key);
        }
        Reply::Object(stored)
    }

    fn end(&mut self, key: &Key, grace: Option<i64>, now: Timestamp) {
        let mut object = self.objects[key].clone();
        let held = object["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty());
        let end = if key.0 == "Pod" {
            let own = object["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap_or(30);
            let end = now + SignedDuration::from_secs(grace.unwrap_or(own));
            let before = object["metadata"]["deletionTimestamp"].as_str().map(|t| t.parse::<Timestamp>().unwrap());
            before.map_or(end, |b| b.min(end))
        } else if held {
            now
        } else {
            return self.drop(key);
        };
        object["metadata"]["deletionTimestamp"] = json!(end.to_string());
        self.store(key.clone(), object);
    }

    fn store(&mut self, key: Key, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.live.apply(&object).unwrap();
        self.objects.insert(key, object);
    }

    fn drop(&mut self, key: &Key) {
        let Some(object) = self.objects.remove(key) else { return };
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let (version, uid) = (text(&object["apiVersion"]), text(&object["metadata"]["uid"]));
        self.version += 1;
        self.live.remove(&version, &key.0, &key.1, &key.2, &uid, &self.version.to_string());
    }
}

fn key(target: &Target) -> Key {
    (target.kind.name().to_owned(), target.namespace.clone(), target.name.clone())
}

fn key_of(object: &Value) -> Key {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    (text(&object["kind"]), text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]))
}
