//! The fields of a Rust type, as its own deserialiser asks for them.
//!
//! The Kubernetes types are generated from the API's published definitions;
//! reading a made-up value with them shows every field there is, so that no
//! list of fields has to be kept here.

use std::collections::BTreeMap;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::schema::Schema;

/// What `T` reads. An error says that the type checks values in a way that the
/// made-up one does not meet.
pub fn schema_of<T: DeserializeOwned>() -> Result<Schema, Error> {
    let mut schema = Schema::Any;
    T::deserialize(Probe(&mut schema))?;
    Ok(schema)
}

/// Answers whatever is asked for with the least value of its kind, and notes
/// what that was.
struct Probe<'s>(&'s mut Schema);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str("0")
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(false)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str("")
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str("")
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i32(0)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(0)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_f64(0.0)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if matches!(name, "Time" | "MicroTime") {
            let time: StrDeserializer<'_, Error> = "1970-01-01T00:00:00Z".into_deserializer();
            return visitor.visit_newtype_struct(time);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut item = Schema::Any;
        let value = visitor.visit_seq(One(Some(&mut item)))?;
        *self.0 = Schema::List(Box::new(item));
        Ok(value)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut value = Schema::Any;
        let read = visitor.visit_map(One(Some(&mut value)))?;
        *self.0 = Schema::Map(Box::new(value));
        Ok(read)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut found = BTreeMap::new();
        let read = visitor.visit_map(Each { names: names.iter(), next: "", found: &mut found })?;
        *self.0 = Schema::Fields(found);
        Ok(read)
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit_struct tuple tuple_struct enum identifier
        ignored_any
    }
}

/// One item of a list, or one entry of a map.
struct One<'s>(Option<&'s mut Schema>);

impl<'de> SeqAccess<'de> for One<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        self.0.take().map(|schema| seed.deserialize(Probe(schema))).transpose()
    }
}

impl<'de> MapAccess<'de> for One<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let key: StrDeserializer<'_, Error> = "name".into_deserializer();
        self.0.is_some().then(|| seed.deserialize(key)).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let schema = self.0.take().ok_or_else(|| serde::de::Error::custom("a value is asked for without its key"))?;
        seed.deserialize(Probe(schema))
    }
}

/// Every field of a struct, one after another.
struct Each<'s> {
    names: std::slice::Iter<'static, &'static str>,
    next: &'static str,
    found: &'s mut BTreeMap<String, Schema>,
}

impl<'de> MapAccess<'de> for Each<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        // Top-level types want their own names in these two, and no others.
        for name in self.names.by_ref() {
            let schema = self.found.entry((*name).to_owned()).or_default();
            *schema = Schema::Any;
            if !matches!(*name, "apiVersion" | "kind") {
                self.next = name;
                let key: StrDeserializer<'_, Error> = (*name).into_deserializer();
                return seed.deserialize(key).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let mut schema = Schema::Any;
        let value = seed.deserialize(Probe(&mut schema))?;
        self.found.insert(self.next.to_owned(), schema);
        Ok(value)
    }
}
