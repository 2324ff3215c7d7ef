//! One object's text or tree, and its typed form.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// An object before its kind decides what is read of it.
#[derive(Debug)]
pub(super) enum Source<'a> {
    Json(&'a str),
    Tree(Value),
    Borrowed(&'a Value),
}

impl Source<'_> {
    /// The typed object, or the field at fault and why. `null` counts as
    /// absent everywhere.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, (String, String)> {
        let mut tree = match self {
            Source::Json(text) => match serde_json::from_str::<T>(text) {
                Ok(object) => return Ok(object),
                // A null where the type wants a value, or a real fault: the
                // tree without nulls tells, with the path of the field.
                Err(_) => serde_json::from_str(text).map_err(|e| (".".to_owned(), e.to_string()))?,
            },
            Source::Tree(tree) => tree,
            Source::Borrowed(tree) => match T::deserialize(tree) {
                Ok(object) => return Ok(object),
                Err(_) => tree.clone(),
            },
        };
        drop_nulls(&mut tree);
        serde_path_to_error::deserialize(tree).map_err(|e| (e.path().to_string(), e.inner().to_string()))
    }

    /// Namespace and name, for messages.
    pub fn identity(&self) -> (String, String) {
        let parsed;
        let tree = match self {
            Source::Json(text) => {
                parsed = serde_json::from_str::<Value>(text).unwrap_or_default();
                &parsed
            }
            Source::Tree(tree) => tree,
            Source::Borrowed(tree) => tree,
        };
        identity(tree)
    }
}

/// Namespace and name in the metadata of an object; empty where it has none.
pub(super) fn identity(tree: &Value) -> (String, String) {
    let text = |field: &str| {
        let value = tree.get("metadata").and_then(|m| m.get(field));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    (text("namespace"), text("name"))
}

/// Removes null fields and list items at every depth.
pub(super) fn drop_nulls(tree: &mut Value) {
    match tree {
        Value::Object(fields) => {
            fields.retain(|_, v| !v.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => {
            items.retain(|v| !v.is_null());
            items.iter_mut().for_each(drop_nulls);
        }
        _ => {}
    }
}
