//! Through an object along its schema, without keeping any of it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::schema::Schema;

/// A step from the top of an object to a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step<'s> {
    Field(&'s str),
    /// A name that the user chose.
    Key(String),
    Item(usize),
}

/// A field that the schema does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown<'s> {
    pub name: String,
    /// `spec.containers[0].`, or nothing at the top.
    pub inside: String,
    /// The same without positions in lists.
    pub inside_any: String,
    /// What stands there.
    pub siblings: &'s Schema,
}

/// One look at an object.
#[derive(Debug, Default)]
pub struct Walk<'s> {
    path: Vec<Step<'s>>,
    pub unknown: Vec<Unknown<'s>>,
}

impl<'s> Walk<'s> {
    /// Looks at everything below.
    pub fn visit<'de, D: Deserializer<'de>>(&mut self, schema: &'s Schema, deserializer: D) -> Result<(), D::Error> {
        Place { walk: self, schema }.deserialize(deserializer)
    }

    fn miss(&mut self, name: String, siblings: &'s Schema) {
        let (mut inside, mut inside_any) = (String::new(), String::new());
        for step in &self.path {
            match step {
                Step::Item(i) => {
                    // The list's own name stands before, with its dot.
                    inside.pop();
                    inside_any.pop();
                    inside += &format!("[{i}].");
                    inside_any += "[].";
                }
                Step::Field(name) => {
                    inside += &format!("{name}.");
                    inside_any += &format!("{name}.");
                }
                Step::Key(name) => {
                    inside += &format!("{name}.");
                    inside_any += "*.";
                }
            }
        }
        self.unknown.push(Unknown { name, inside, inside_any, siblings });
    }
}

struct Place<'w, 's> {
    walk: &'w mut Walk<'s>,
    schema: &'s Schema,
}

impl<'de> DeserializeSeed<'de> for Place<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.schema {
            Schema::Any => deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
            _ => deserializer.deserialize_any(self),
        }
    }
}

/// A value of another type than the schema's is the reader's business.
impl<'de> Visitor<'de> for Place<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Schema::List(item) = self.schema else {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        self.walk.path.push(Step::Item(0));
        let mut next = 0;
        while seq.next_element_seed(Place { walk: &mut *self.walk, schema: item })?.is_some() {
            next += 1;
            if let Some(Step::Item(i)) = self.walk.path.last_mut() {
                *i = next;
            }
        }
        self.walk.path.pop();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { walk, schema } = self;
        while let Some(key) = map.next_key_seed(Key(schema))? {
            match key {
                Found::Field(name, below) => {
                    walk.path.push(Step::Field(name));
                    map.next_value_seed(Place { walk: &mut *walk, schema: below })?;
                    walk.path.pop();
                }
                Found::Entry(name, below) => {
                    walk.path.push(Step::Key(name));
                    map.next_value_seed(Place { walk: &mut *walk, schema: below })?;
                    walk.path.pop();
                }
                // A null says as much as no field at all.
                Found::Unknown(name) => {
                    if map.next_value::<Option<IgnoredAny>>()?.is_some() {
                        walk.miss(name, schema);
                    }
                }
                Found::Free => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Looks a key up.
struct Key<'s>(&'s Schema);

enum Found<'s> {
    Field(&'s str, &'s Schema),
    Entry(String, &'s Schema),
    Unknown(String),
    Free,
}

impl<'de, 's> DeserializeSeed<'de> for Key<'s> {
    type Value = Found<'s>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found<'s>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'s> Visitor<'_> for Key<'s> {
    type Value = Found<'s>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Found<'s>, E> {
        Ok(match self.0 {
            Schema::Fields(fields) => match fields.get_key_value(name) {
                Some((name, below)) => Found::Field(name, below),
                None => Found::Unknown(name.to_owned()),
            },
            Schema::Map(below) if **below != Schema::Any => Found::Entry(name.to_owned(), below),
            _ => Found::Free,
        })
    }
}
