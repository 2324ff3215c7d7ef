//! Objects as a watch brings them, and the world they make.

mod shelves;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::Arc;

use serde_json::Value;

use super::collector::Collector;
use super::defaults::Defaults;
use super::error::{Place, ReadError, ReadErrors};
use super::finish::{Completed, complete, settle};
use super::intern::Interner;
use super::kind::Kind;
use super::source::Source;
use crate::world::{Unread, World};
use shelves::Shelves;

/// What errors name instead of a file.
const ORIGIN: &str = "API server";
/// Deleted objects that are remembered, the last ones.
const TOMBSTONES: usize = 20_000;
/// Shared values that nobody may hold any more, before they are looked for.
const SLACK: usize = 10_000;

/// Kind, namespace, name.
type Key = (Kind, Box<str>, Box<str>);

/// A store of objects: each in its newest version, in the form that decisions
/// need.
///
/// A version is newer if its `resourceVersion` is a larger number, whichever
/// way it came (watch, list, or the answer to a write).
#[derive(Debug, Default)]
pub struct Live {
    shelves: Shelves,
    slots: BTreeMap<Key, Slot>,
    /// Versions at which objects went.
    graves: BTreeMap<Key, u64>,
    /// Keys of the graves, oldest first.
    buried: VecDeque<Key>,
    interner: Interner,
    /// Shared values at the last clean-up.
    shared: usize,
    defaults: Option<Defaults>,
    built: Option<(Arc<World>, Vec<ReadError>)>,
}

/// What is known of an object beside its kept form.
#[derive(Debug)]
struct Slot {
    uid: Box<str>,
    version: Option<u64>,
    /// Set if the newest version could not be read.
    unread: Option<Box<(ReadErrors, Option<String>)>>,
}

/// An object that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    pub uid: &'a str,
}

impl Live {
    /// Takes a version of an object in. False if it is no newer than what is
    /// held or was deleted, or of a kind that is not read. An object that
    /// cannot be read replaces the one before: it is reported here, and in
    /// each world until a readable version comes.
    pub fn apply(&mut self, object: &Value) -> Result<bool, ReadErrors> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind_name) = (text("/apiVersion"), text("/kind"));
        let Some(kind) = Kind::of(api_version, kind_name) else { return Ok(false) };
        let key = key(kind, text("/metadata/namespace"), text("/metadata/name"));
        let (uid, version) = (text("/metadata/uid"), number(text("/metadata/resourceVersion")));
        let last = self.slots.get(&key).and_then(|s| s.version).max(self.graves.get(&key).copied());
        if version.is_some() && version <= last {
            return Ok(false);
        }
        let mut read = self.reading();
        read.accept(Place::default(), api_version, kind_name, Source::Borrowed(object));
        self.interner = mem::take(&mut read.interner);
        let errors: Vec<ReadError> = mem::take(&mut read.errors).into_iter().map(|(_, error)| error).collect();
        self.graves.remove(&key);
        let mut slot = Slot { uid: uid.into(), version, unread: None };
        if errors.is_empty() {
            let was_unread = self.slots.insert(key.clone(), slot).is_some_and(|s| s.unread.is_some());
            if self.shelves.put(&key, &mut read) || was_unread {
                self.changed(kind);
            }
            return Ok(true);
        }
        let errors = ReadErrors(errors);
        let node = Some(text("/spec/nodeName")).filter(|n| kind == Kind::Pod && !n.is_empty()).map(str::to_owned);
        slot.unread = Some(Box::new((errors.clone(), node)));
        self.slots.insert(key.clone(), slot);
        self.shelves.drop(&key);
        self.changed(kind);
        Err(errors)
    }

    /// Takes the end of an object in, unless another of its name is held. An
    /// empty `uid` is any, an empty `resource_version` that of what is held.
    /// Tells whether something was dropped.
    pub fn remove(
        &mut self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
        uid: &str,
        resource_version: &str,
    ) -> bool {
        let Some(kind) = Kind::of(api_version, kind) else { return false };
        let key = key(kind, namespace, name);
        let held = self.slots.get(&key);
        if held.is_some_and(|slot| !uid.is_empty() && !slot.uid.is_empty() && *slot.uid != *uid) {
            return false;
        }
        let version = number(resource_version).max(held.and_then(|slot| slot.version));
        if let Some(version) = version {
            self.bury(key.clone(), version);
        }
        if self.slots.remove(&key).is_none() {
            return false;
        }
        self.shelves.drop(&key);
        self.changed(kind);
        true
    }

    /// The objects of a kind, by namespace and name, unreadable ones too.
    pub fn held(&self, api_version: &str, kind: &str) -> impl Iterator<Item = Held<'_>> {
        let kind = Kind::of(api_version, kind);
        let of_kind = kind.map(|kind| {
            let from = (kind, Box::from(""), Box::from(""));
            self.slots.range(from..).take_while(move |((k, ..), _)| *k == kind)
        });
        of_kind.into_iter().flatten().map(|((_, namespace, name), slot)| Held { namespace, name, uid: &slot.uid })
    }

    /// The uid and version of an object that is held.
    pub fn version(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Option<(&str, Option<u64>)> {
        let slot = self.slots.get(&key(Kind::of(api_version, kind)?, namespace, name))?;
        Some((&slot.uid, slot.version))
    }

    /// The world, and what could not be read and is therefore missing in its
    /// lists (named in [`World::unread`]). The same one until something
    /// changes.
    pub fn world(&mut self) -> (Arc<World>, Vec<ReadError>) {
        if let Some((world, errors)) = &self.built {
            return (Arc::clone(world), errors.clone());
        }
        self.prune();
        let mut collector = self.reading();
        self.shelves.fill(&mut collector);
        settle(&mut collector);
        let defaults = self.defaults.get_or_insert_with(|| Defaults::of(&collector));
        let Completed { mut world, errors, interner } = complete(collector, defaults);
        self.interner = interner;
        let mut errors: Vec<ReadError> = errors.into_iter().map(|(_, error)| error).collect();
        for ((kind, namespace, name), slot) in &self.slots {
            let Some(unread) = &slot.unread else { continue };
            let (faults, node_name) = &**unread;
            errors.extend(faults.0.iter().cloned());
            world.unread.push(Unread {
                kind: kind.name(),
                namespace: namespace.to_string(),
                name: name.to_string(),
                node_name: node_name.clone(),
            });
        }
        let world = Arc::new(world);
        self.built = Some((Arc::clone(&world), errors.clone()));
        (world, errors)
    }

    /// A collector with the shared values, to be given back.
    fn reading(&mut self) -> Collector {
        Collector { files: vec![ORIGIN.to_owned()], interner: mem::take(&mut self.interner), ..Collector::default() }
    }

    fn changed(&mut self, kind: Kind) {
        self.built = None;
        if matches!(kind, Kind::LimitRange | Kind::PriorityClass | Kind::RuntimeClass) {
            self.defaults = None;
        }
    }

    /// Completed shapes are known by the address of what they were made from,
    /// so they go together with the shared values.
    fn prune(&mut self) {
        if self.interner.len() > 2 * self.shared + SLACK {
            self.defaults = None;
            self.interner.prune();
            self.shared = self.interner.len();
        }
    }

    fn bury(&mut self, key: Key, version: u64) {
        if self.graves.insert(key.clone(), version).is_none() {
            self.buried.push_back(key);
        }
        while self.buried.len() > TOMBSTONES {
            if let Some(oldest) = self.buried.pop_front() {
                self.graves.remove(&oldest);
            }
        }
    }
}

fn key(kind: Kind, namespace: &str, name: &str) -> Key {
    let namespace = match (kind.is_namespaced(), namespace) {
        (false, _) => "",
        (true, "") => "default",
        (true, given) => given,
    };
    (kind, namespace.into(), name.into())
}

fn number(resource_version: &str) -> Option<u64> {
    resource_version.parse().ok()
}
