//! Objects as they are met in the input, before anything is made of them.

use serde_json::Value;

use super::collector::Collector;
use super::error::Place;
use super::source::{Source, identity};

/// An object as it stands in a file.
#[derive(Debug)]
pub struct Written<'a> {
    /// Empty if the object names none.
    pub api_version: &'a str,
    pub kind: &'a str,
    pub body: Body<'a>,
    place: Place,
    files: &'a [String],
}

/// Text of one JSON value, or what was read from YAML.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    Json(&'a str),
    Tree(&'a Value),
}

impl Written<'_> {
    /// `cluster.yaml, document 3 (line 40)`.
    pub fn place(&self) -> String {
        self.place.describe(self.files)
    }

    /// `Deployment shop/web`, `Node n1`; the namespace only where it is given.
    pub fn name(&self) -> String {
        let (namespace, name) = match self.body {
            Body::Json(text) => identity(&serde_json::from_str(text).unwrap_or_default()),
            Body::Tree(tree) => identity(tree),
        };
        let name = if name.is_empty() { "(no name)".to_owned() } else { name };
        let slash = if namespace.is_empty() { "" } else { "/" };
        format!("{} {namespace}{slash}{name}", self.kind)
    }
}

/// Where objects go as they are met: past whoever watches, to the collector.
pub(super) struct Desk<'a> {
    pub collector: &'a mut Collector,
    pub watch: &'a mut dyn FnMut(&Written<'_>),
}

impl Desk<'_> {
    /// Reports text that is no object.
    pub fn syntax(&mut self, place: Place, message: impl Into<String>) {
        self.collector.syntax(place, message);
    }

    /// Takes one object in.
    pub fn accept(&mut self, place: Place, api_version: &str, kind: &str, source: Source<'_>) {
        let body = match &source {
            Source::Json(text) => Body::Json(text),
            Source::Tree(tree) => Body::Tree(tree),
            Source::Borrowed(tree) => Body::Tree(tree),
        };
        (self.watch)(&Written { api_version, kind, body, place, files: &self.collector.files });
        self.collector.accept(place, api_version, kind, source);
    }
}
