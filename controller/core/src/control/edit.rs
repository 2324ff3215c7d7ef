//! One merge patch of one object, put together from what several concerns
//! want of it.

use millwright_models::karpenter::written;
use millwright_models::kube::meta::{Labels, Meta, OwnerReference};
use millwright_models::kube::node::{Node, Taint};
use serde_json::{Map, Value, json};

use super::ask::{Ask, Target};

/// A patch in the making. Lists are written whole, so a patch that holds one
/// is bound to the version it was worked out from.
#[derive(Clone, Debug)]
pub struct Edit {
    target: Target,
    version: String,
    metadata: Map<String, Value>,
    spec: Map<String, Value>,
    status: Map<String, Value>,
    bound: bool,
}

impl Edit {
    pub fn new(target: Target, meta: &Meta) -> Self {
        Self {
            target,
            version: meta.resource_version.clone(),
            metadata: Map::new(),
            spec: Map::new(),
            status: Map::new(),
            bound: false,
        }
    }

    /// Adds the labels that `held` lacks or has otherwise.
    pub fn labels(&mut self, held: &Labels, wanted: &Labels) {
        self.texts("labels", held, wanted);
    }

    /// Adds the annotations that `held` lacks or has otherwise.
    pub fn annotations(&mut self, held: &Labels, wanted: &Labels) {
        self.texts("annotations", held, wanted);
    }

    fn texts(&mut self, field: &str, held: &Labels, wanted: &Labels) {
        for (key, value) in wanted.iter().filter(|(key, value)| held.get(*key) != Some(value)) {
            let map = self.metadata.entry(field).or_insert_with(|| json!({}));
            map[key] = json!(value);
        }
    }

    pub fn finalizer(&mut self, meta: &Meta, finalizer: &str) {
        if !meta.finalizers.iter().any(|f| f == finalizer) {
            let all: Vec<&str> = meta.finalizers.iter().map(String::as_str).chain([finalizer]).collect();
            self.metadata.insert("finalizers".to_owned(), json!(all));
            self.bound = true;
        }
    }

    pub fn without_finalizer(&mut self, meta: &Meta, finalizer: &str) {
        let all: Vec<&str> = meta.finalizers.iter().map(String::as_str).filter(|f| *f != finalizer).collect();
        self.metadata.insert("finalizers".to_owned(), json!(all));
        self.bound = true;
    }

    /// Adds an owner, once by its uid.
    pub fn owner(&mut self, meta: &Meta, owner: &OwnerReference) {
        if !meta.owner_references.iter().any(|o| o.uid == owner.uid) {
            let all: Vec<Value> = meta.owner_references.iter().chain([owner]).map(owner_written).collect();
            self.metadata.insert("ownerReferences".to_owned(), Value::Array(all));
            self.bound = true;
        }
    }

    /// Puts these taints in the place of those that are written.
    pub fn taints(&mut self, node: &Node, wanted: &[Taint]) {
        if !node.written_taints().eq(wanted.iter()) {
            self.spec.insert("taints".to_owned(), Value::Array(wanted.iter().map(written::taint).collect()));
            self.bound = true;
        }
    }

    pub fn spec(&mut self, field: &str, value: Value) {
        self.spec.insert(field.to_owned(), value);
    }

    pub fn status(&mut self, field: &str, value: Value) {
        self.status.insert(field.to_owned(), value);
    }

    /// The whole list of conditions, if it is new.
    pub fn conditions(&mut self, list: Option<Value>) {
        if let Some(list) = list {
            self.status.insert("conditions".to_owned(), list);
            self.bound = true;
        }
    }

    /// The patch holds only for the version it was worked out from.
    pub fn bind(&mut self) {
        self.bound = true;
    }

    /// Whether metadata or spec are to be written.
    pub fn has_main(&self) -> bool {
        !self.metadata.is_empty() || !self.spec.is_empty()
    }

    /// Whether the status is to be written.
    pub fn has_status(&self) -> bool {
        !self.status.is_empty()
    }

    /// One request: metadata and spec if they want anything, else the status.
    pub fn ask(self) -> Option<Ask> {
        let status = !self.has_main();
        let mut body = Map::new();
        let mut metadata = Map::new();
        if status {
            if self.status.is_empty() {
                return None;
            }
            body.insert("status".to_owned(), Value::Object(self.status));
        } else {
            metadata = self.metadata;
            if !self.spec.is_empty() {
                body.insert("spec".to_owned(), Value::Object(self.spec));
            }
        }
        if self.bound && !self.version.is_empty() {
            metadata.insert("resourceVersion".to_owned(), Value::String(self.version));
        }
        if !metadata.is_empty() {
            body.insert("metadata".to_owned(), Value::Object(metadata));
        }
        Some(Ask::Patch { target: self.target, status, body: Value::Object(body) })
    }
}
/// An owner as the API has it.
pub fn owner_written(owner: &OwnerReference) -> Value {
    let mut value = json!({"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid});
    if owner.controller {
        value["controller"] = json!(true);
    }
    if let Some(block) = owner.block_owner_deletion {
        value["blockOwnerDeletion"] = json!(block);
    }
    value
}
