//! Faults of one object.

use std::fmt;

/// Faults of one object: field path and what is wrong there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults(pub Vec<(String, String)>);

impl Faults {
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push((field.into(), message.into()));
    }

    /// The value, or a fault.
    pub fn check<T, E: fmt::Display>(&mut self, field: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|e| self.add(field, e.to_string())).ok()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
