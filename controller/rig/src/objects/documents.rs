//! Objects as they are written, read by code that shares nothing with
//! Millwright's own reader.

use serde_json::Value;

/// Everything that some documents hold.
#[derive(Clone, Debug, Default)]
pub struct Documents(Vec<Value>);

/// A text that is no stream of objects.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// Not YAML.
    #[error("{file}: not YAML: {reason}")]
    Yaml { file: String, reason: String },
}

impl Documents {
    /// Reads a stream of YAML documents; lists are taken apart.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let failed = |reason: String| DocumentError::Yaml { file: file.to_owned(), reason };
        let all: Vec<Value> = serde_saphyr::from_multiple(text).map_err(|e| failed(e.to_string()))?;
        let mut objects = Vec::new();
        all.into_iter().for_each(|object| flatten(object, &mut objects));
        Ok(Self(objects))
    }

    /// Every object, in the order of the text.
    pub fn all(&self) -> impl Iterator<Item = &Value> {
        self.0.iter()
    }

    /// Objects of a kind.
    pub fn of<'d>(&'d self, kind: &'d str) -> impl Iterator<Item = &'d Value> {
        self.0.iter().filter(move |o| o["kind"] == kind)
    }

    /// The object of this kind and name.
    pub fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        self.0.iter().find(|o| o["kind"] == kind && super::name(o) == name && super::namespace(o) == namespace)
    }
}

fn flatten(object: Value, into: &mut Vec<Value>) {
    let is_list = object["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
    match object {
        Value::Null => {}
        Value::Object(mut fields) if is_list => {
            if let Some(Value::Array(items)) = fields.remove("items") {
                items.into_iter().for_each(|item| flatten(item, into));
            }
        }
        other => into.push(other),
    }
}
