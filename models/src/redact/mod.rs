//! Snapshots without what a cluster's owner would not show: names, namespaces,
//! labels, images, commands, configuration.
//!
//! Only fields that decisions read are kept ([`fields`]), so nothing unknown
//! slips through. Each text of the owner's own making becomes a token, the
//! same one wherever it stands, so selectors, references and owners still
//! match. Tokens sort as the texts did: who breaks ties by names breaks them
//! alike, and the same answers come out.

mod fields;
mod labels;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use fields::{Field, field};
use labels::{is_annotation_kept, is_key_public, is_name_public, is_value_public};

/// Conditions: everything but messages.
const CONDITION: [&str; 5] = ["type", "status", "reason", "lastTransitionTime", "observedGeneration"];

/// The same objects, redacted.
pub fn redact(objects: &[Value]) -> Vec<Value> {
    let mut texts = BTreeSet::new();
    for object in objects {
        let mut note = |text: &str| {
            texts.insert(text.to_owned());
            String::new()
        };
        walk(object, "", &mut Writer { token: &mut note });
    }
    let tokens: BTreeMap<String, String> =
        texts.into_iter().enumerate().map(|(i, text)| (text, format!("r{i:07}"))).collect();
    let mut find = |text: &str| tokens.get(text).cloned().unwrap_or_default();
    let mut writer = Writer { token: &mut find };
    objects.iter().map(|object| walk(object, "", &mut writer)).collect()
}

/// What stands in the place of a text.
struct Writer<'a> {
    token: &'a mut dyn FnMut(&str) -> String,
}

impl Writer<'_> {
    fn name(&mut self, text: &str) -> String {
        if is_name_public(text) { text.to_owned() } else { (self.token)(text) }
    }

    fn key(&mut self, key: &str) -> String {
        if is_key_public(key) { key.to_owned() } else { (self.token)(key) }
    }

    /// The value of a label or a taint.
    fn value(&mut self, key: &str, value: &str) -> String {
        if is_value_public(key, value) { value.to_owned() } else { (self.token)(value) }
    }

    fn texts(&mut self, list: &Value, mut each: impl FnMut(&mut Self, &str) -> String) -> Value {
        let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(|t| Value::String(each(self, t))).collect()
    }

    fn labels(&mut self, map: &Value) -> Value {
        let entries = map.as_object().into_iter().flatten();
        let entries = entries.map(|(key, value)| {
            let value = self.value(key, value.as_str().unwrap_or_default());
            (self.key(key), Value::String(value))
        });
        Value::Object(entries.collect())
    }

    /// A requirement, a match expression, or a term of a topology.
    fn expression(&mut self, of: &Map<String, Value>) -> Value {
        let key = of.get("key").and_then(Value::as_str).unwrap_or_default();
        let mut out = Map::new();
        for (name, value) in of {
            let kept = match name.as_str() {
                "key" => Value::String(self.key(key)),
                "values" => self.texts(value, |w, t| w.value(key, t)),
                "operator" | "minValues" => value.clone(),
                _ => continue,
            };
            out.insert(name.clone(), kept);
        }
        Value::Object(out)
    }

    /// A taint or a toleration.
    fn taint(&mut self, of: &Map<String, Value>) -> Value {
        let key = of.get("key").and_then(Value::as_str).unwrap_or_default();
        let mut out = Map::new();
        for (name, value) in of {
            let kept = match (name.as_str(), value.as_str()) {
                ("key", Some(text)) => Value::String(self.key(text)),
                ("value", Some(text)) => Value::String(self.value(key, text)),
                ("operator" | "effect" | "tolerationSeconds" | "timeAdded", _) => value.clone(),
                _ => continue,
            };
            out.insert(name.clone(), kept);
        }
        Value::Object(out)
    }
}

/// `value` without what is not read and with tokens for what is private. `at`:
/// the field that holds it, empty for a whole object.
fn walk(value: &Value, at: &str, writer: &mut Writer<'_>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| walk(item, at, writer)).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter_map(|(name, value)| {
                let how = field(name, at, value)?;
                Some((name.clone(), keep(value, name, how, writer)))
            });
            Value::Object(kept.collect())
        }
        // Only fields that are walked for what they hold come here.
        Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(_) | Value::Null => Value::Null,
    }
}

fn keep(value: &Value, name: &str, how: Field, writer: &mut Writer<'_>) -> Value {
    let objects = |value: &Value| -> Vec<Map<String, Value>> {
        value.as_array().into_iter().flatten().filter_map(Value::as_object).cloned().collect()
    };
    match how {
        Field::Public => value.clone(),
        Field::Presence => Value::Object(Map::new()),
        Field::Walk => walk(value, name, writer),
        Field::Name => match value {
            Value::String(text) => Value::String(writer.name(text)),
            other => writer.texts(other, Writer::name),
        },
        Field::Keys => writer.texts(value, Writer::key),
        Field::Key => Value::String(writer.key(value.as_str().unwrap_or_default())),
        Field::Labels => writer.labels(value),
        Field::Annotations => {
            let entries = value.as_object().into_iter().flatten();
            let kept = entries.filter(|(key, value)| is_annotation_kept(key, value.as_str().unwrap_or_default()));
            Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        Field::Expressions => objects(value).iter().map(|e| writer.expression(e)).collect(),
        Field::Taints => objects(value).iter().map(|t| writer.taint(t)).collect(),
        Field::Conditions => {
            let pick = |c: &Map<String, Value>| -> Value {
                Value::Object(CONDITION.iter().filter_map(|f| Some(((*f).to_owned(), c.get(*f)?.clone()))).collect())
            };
            objects(value).iter().map(pick).collect()
        }
        Field::Finalizers => {
            let ours = |f: &&Value| f.as_str().is_some_and(|f| f.starts_with("karpenter.sh/"));
            value.as_array().into_iter().flatten().filter(ours).cloned().collect()
        }
    }
}
