//! Which fields an object may have.

use std::collections::BTreeMap;

/// What may stand at one place of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Schema {
    /// A plain value, or anything.
    #[default]
    Any,
    List(Box<Schema>),
    /// Names that the user chooses.
    Map(Box<Schema>),
    /// These fields and no others.
    Fields(BTreeMap<String, Schema>),
}

impl Schema {
    /// The fields, if they are limited.
    pub fn fields(&self) -> Option<&BTreeMap<String, Self>> {
        match self {
            Self::Fields(fields) => Some(fields),
            _ => None,
        }
    }

    /// The field of this name.
    pub fn field_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Fields(fields) => fields.get_mut(name),
            _ => None,
        }
    }

    /// Where a field of this name stands nearest to the top, as `spec.template`;
    /// none if there is no such field, or several equally near.
    pub fn home(&self, name: &str) -> Option<String> {
        let mut level = vec![(String::new(), self)];
        while !level.is_empty() {
            let has = |s: &Self| s.fields().is_some_and(|f| f.contains_key(name));
            let mut homes = level.iter().filter(|(_, s)| has(s));
            if let Some((path, _)) = homes.next() {
                return homes.next().is_none().then(|| path.clone());
            }
            level = level.into_iter().flat_map(|(path, s)| s.below(&path)).collect();
        }
        None
    }

    /// Everything one level down, with its path.
    fn below(&self, path: &str) -> Vec<(String, &Self)> {
        match self {
            Self::Any => Vec::new(),
            Self::List(item) => vec![(format!("{path}[]"), item)],
            Self::Map(value) => vec![(format!("{path}.*"), value)],
            Self::Fields(fields) => {
                let dot = if path.is_empty() { "" } else { "." };
                fields.iter().map(|(name, s)| (format!("{path}{dot}{name}"), s)).collect()
            }
        }
    }
}
