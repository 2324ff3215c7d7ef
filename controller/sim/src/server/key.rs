//! What names an object.

use std::fmt;

use millwright_core::control::ask::Target;
use serde_json::Value;

use super::kind::Kind;
use crate::json;

/// Kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub kind: Kind,
    /// Empty for kinds of no namespace.
    pub namespace: String,
    pub name: String,
}

impl Key {
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    pub fn pod(namespace: &str, name: &str) -> Self {
        Self::new(Kind::Pod, namespace, name)
    }

    pub fn node(name: &str) -> Self {
        Self::new(Kind::Node, "", name)
    }

    pub fn claim(name: &str) -> Self {
        Self::new(Kind::NodeClaim, "", name)
    }

    /// The key of an object that says what it is.
    pub fn of(object: &Value) -> Option<Self> {
        let kind = Kind::of(json::text(object, &["apiVersion"]), json::text(object, &["kind"]))?;
        Some(Self::new(kind, json::text(object, &["metadata", "namespace"]), json::name(object)))
    }

    /// As the controller names it, if it writes such objects.
    pub fn target(&self) -> Option<Target> {
        Some(Target::new(self.kind.written()?, &self.namespace, &self.name))
    }
}

impl From<&Target> for Key {
    fn from(target: &Target) -> Self {
        Self { kind: target.kind.into(), namespace: target.namespace.clone(), name: target.name.clone() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => write!(f, "{} {}", self.kind.name(), self.name),
            namespace => write!(f, "{} {namespace}/{}", self.kind.name(), self.name),
        }
    }
}
