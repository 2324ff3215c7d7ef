//! Fields and kinds that do not exist, pods without containers: what a slip of
//! the pen leaves behind.
//!
//! The API server would refuse them (`kubectl --validate`); whoever only reads
//! files passes over them, and the plan is one for other objects than meant.

mod containers;
mod kinds;
mod likeness;
mod probe;
mod schema;
mod walk;

use std::collections::BTreeMap;

use millwright_models::reader::{self, Body, Written};
use serde::Deserialize;

use likeness::meant;
use schema::Schema;
use walk::{Unknown, Walk};

/// What was found in the objects looked at so far.
#[derive(Debug, Default)]
pub struct Inspection {
    /// By group and kind.
    schemas: BTreeMap<(String, String), Schema>,
    /// By kind, place and name.
    found: BTreeMap<(String, String, String), Found>,
}

/// A slip, however often it was made.
#[derive(Debug)]
struct Found {
    /// Order of the first ones.
    number: usize,
    /// The first, in words.
    first: String,
    /// Further objects that have it.
    more: usize,
}

#[derive(Deserialize)]
struct Identified {
    #[serde(default)]
    metadata: Option<Identity>,
}

#[derive(Deserialize)]
struct Identity {
    #[serde(default)]
    uid: Option<serde::de::IgnoredAny>,
}

impl Inspection {
    /// Looks at one object.
    pub fn look(&mut self, object: &Written<'_>) {
        let group = object.api_version.split_once('/').map_or("", |(group, _)| group);
        if !reader::kinds().any(|k| k == (group, object.kind)) {
            if let Some(message) = other_kind(object.api_version, group, object.kind) {
                let key = (object.kind.to_owned(), String::new(), object.api_version.to_owned());
                note(&mut self.found, key, || format!("{}: {}: {message}", object.place(), object.name()));
            }
            return;
        }
        // What an API server handed out has passed its checks, and may be of a
        // later version than the fields known here.
        if has_uid(&object.body) {
            return;
        }
        let key = (group.to_owned(), object.kind.to_owned());
        let schema = self.schemas.entry(key).or_insert_with(|| kinds::schema(group, object.kind));
        for unknown in unknown(&object.body, schema) {
            let Unknown { name, inside, inside_any, .. } = &unknown;
            let key = (object.kind.to_owned(), inside_any.clone(), name.clone());
            note(&mut self.found, key, || {
                format!("{}: {}: {inside}{name}: {}", object.place(), object.name(), in_words(&unknown, schema))
            });
        }
        if let Some(path) = containers::missing(object.kind, &object.body) {
            note(&mut self.found, (object.kind.to_owned(), path.to_owned(), String::new()), || {
                format!("{}: {}: {path}: a pod needs at least one container", object.place(), object.name())
            });
        }
    }

    /// A sentence for each slip, in the order of the input.
    pub fn sentences(self) -> Vec<String> {
        let more = |count: usize| match count {
            0 => String::new(),
            1 => " (so in 1 more object)".to_owned(),
            n => format!(" (so in {n} more objects)"),
        };
        let mut all: Vec<Found> = self.found.into_values().collect();
        all.sort_by_key(|f| f.number);
        all.into_iter().map(|f| f.first + &more(f.more)).collect()
    }
}

fn note(
    found: &mut BTreeMap<(String, String, String), Found>,
    key: (String, String, String),
    words: impl FnOnce() -> String,
) {
    let number = found.len();
    found.entry(key).and_modify(|f| f.more += 1).or_insert_with(|| Found { number, first: words(), more: 0 });
}

fn has_uid(body: &Body<'_>) -> bool {
    match body {
        Body::Tree(tree) => tree["metadata"]["uid"].is_string(),
        Body::Json(text) => serde_json::from_str::<Identified>(text)
            .is_ok_and(|object| object.metadata.is_some_and(|m| m.uid.is_some())),
    }
}

/// Fields that the schema does not have. A body that is no sound object is
/// for the reader to report.
fn unknown<'s>(body: &Body<'_>, schema: &'s Schema) -> Vec<Unknown<'s>> {
    let mut walk = Walk::default();
    let sound = match body {
        Body::Tree(tree) => walk.visit(schema, *tree).is_ok(),
        Body::Json(text) => walk.visit(schema, &mut serde_json::Deserializer::from_str(text)).is_ok(),
    };
    if sound { walk.unknown } else { Vec::new() }
}

fn in_words(unknown: &Unknown<'_>, top: &Schema) -> String {
    let siblings = unknown.siblings.fields().into_iter().flat_map(|f| f.keys()).map(String::as_str);
    if let Some(near) = meant(&unknown.name, siblings) {
        return format!("there is no such field; did you mean {near}?");
    }
    match top.home(&unknown.name) {
        Some(home) if home.is_empty() => "there is no such field here; it belongs at the top".to_owned(),
        Some(home) => format!("there is no such field here; it belongs in {home}"),
        None => "there is no such field".to_owned(),
    }
}

/// What an object of a kind that is not read was probably meant to be.
fn other_kind(api_version: &str, group: &str, kind: &str) -> Option<String> {
    // Whatever others define under domains of their own is not judged by its
    // name.
    let official = !group.contains('.') || group.ends_with(".k8s.io");
    if let Some((right, _)) = reader::kinds().find(|(_, name)| *name == kind).filter(|_| official) {
        let said =
            if api_version.is_empty() { "no apiVersion".to_owned() } else { format!("apiVersion {api_version}") };
        let right = if right.is_empty() { "apiVersion v1".to_owned() } else { format!("the API group {right}") };
        return Some(format!("{kind} with {said} is not read: it belongs to {right}"));
    }
    let of_group = reader::kinds().filter(|(g, _)| *g == group || !group.contains('.')).map(|(_, name)| name);
    let near = meant(kind, of_group).filter(|_| !OTHERS.contains(&kind))?;
    Some(format!("kind {kind} is not read; did you mean {near}?"))
}

/// Official kinds that are not read and look like ones that are.
const OTHERS: [&str; 1] = ["PodGroup"];
