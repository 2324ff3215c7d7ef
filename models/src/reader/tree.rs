//! YAML documents into trees, the items of a list one at a time.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A value of any type. Numbers that JSON has no form for become text, so that
/// whoever wants a number can say what is wrong with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree;

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_i128<E>(self, v: i128) -> Result<Value, E> {
        Ok(Value::String(v.to_string()))
    }
    fn visit_u128<E>(self, v: u128) -> Result<Value, E> {
        Ok(Value::String(v.to_string()))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(serde_json::Number::from_f64(v).map_or_else(|| Value::String(v.to_string()), Value::Number))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            fields.insert(key, map.next_value_seed(Self)?);
        }
        Ok(Value::Object(fields))
    }
}

/// A document: one object, or a list whose items go to `sink` as they are read.
///
/// kubectl writes `items` before `kind`. An item that names its own kind and
/// version therefore counts as a list's wherever it stands; others wait until
/// the kind is known.
pub(super) struct Document<'s> {
    pub sink: &'s mut dyn FnMut(Value),
}

/// What is left of a document beside streamed items.
pub(super) struct Rest {
    pub tree: Value,
    /// Items went to the sink.
    pub streamed: bool,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = Rest;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Rest, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Rest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with apiVersion, kind and metadata")
    }
    fn visit_unit<E>(self) -> Result<Rest, E> {
        Ok(Rest { tree: Value::Null, streamed: false })
    }
    fn visit_none<E>(self) -> Result<Rest, E> {
        Ok(Rest { tree: Value::Null, streamed: false })
    }
    // What is no mapping is no object either, but sound YAML.
    fn visit_bool<E>(self, v: bool) -> Result<Rest, E> {
        Ok(Rest { tree: v.into(), streamed: false })
    }
    fn visit_i64<E>(self, v: i64) -> Result<Rest, E> {
        Ok(Rest { tree: v.into(), streamed: false })
    }
    fn visit_u64<E>(self, v: u64) -> Result<Rest, E> {
        Ok(Rest { tree: v.into(), streamed: false })
    }
    fn visit_f64<E>(self, v: f64) -> Result<Rest, E> {
        Ok(Rest { tree: v.into(), streamed: false })
    }
    fn visit_str<E>(self, v: &str) -> Result<Rest, E> {
        Ok(Rest { tree: v.into(), streamed: false })
    }
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Rest, A::Error> {
        Ok(Rest { tree: Tree.visit_seq(seq)?, streamed: false })
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rest, A::Error> {
        let mut fields = Map::new();
        let mut streamed = false;
        while let Some(key) = map.next_key::<String>()? {
            if key != "items" {
                fields.insert(key, map.next_value_seed(Tree)?);
                continue;
            }
            let kind = fields.get("kind").and_then(Value::as_str);
            if kind.is_some_and(|k| k != "List") {
                fields.insert(key, map.next_value_seed(Tree)?);
                continue;
            }
            let items = Items { sink: &mut *self.sink, streamed: &mut streamed };
            fields.insert(key, map.next_value_seed(items)?);
        }
        if streamed && fields.get("kind").and_then(Value::as_str).is_none_or(|k| !k.ends_with("List")) {
            return Err(A::Error::custom("the document has items but its kind is no list"));
        }
        Ok(Rest { tree: Value::Object(fields), streamed })
    }
}

/// Sends complete objects to the sink and keeps the others.
struct Items<'s> {
    sink: &'s mut dyn FnMut(Value),
    streamed: &'s mut bool,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while let Some(item) = seq.next_element_seed(Tree)? {
            let named = |field: &str| item.get(field).is_some_and(Value::is_string);
            if named("kind") && named("apiVersion") {
                *self.streamed = true;
                (self.sink)(item);
            } else {
                kept.push(item);
            }
        }
        Ok(Value::Array(kept))
    }
}
