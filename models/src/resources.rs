//! Amounts per resource name.

use std::sync::Arc;

/// `cpu` in millicores; every other resource in its own unit (bytes, devices,
/// pods). Sorted by name, one entry per name.
///
/// A requested amount that is no whole number of its unit is rounded up, a
/// capacity is rounded down; the reader of each object does that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Resources(Vec<(Arc<str>, i64)>);

/// Millicores.
pub const CPU: &str = "cpu";
/// Bytes.
pub const MEMORY: &str = "memory";
/// Number of pods.
pub const PODS: &str = "pods";
/// Bytes.
pub const EPHEMERAL_STORAGE: &str = "ephemeral-storage";

impl Resources {
    /// The amount of `name`, 0 if absent.
    pub fn get(&self, name: &str) -> i64 {
        self.position(name).map_or(0, |i| self.0[i].1)
    }

    /// The amount of `name` if an entry exists, also if it is 0.
    pub fn entry(&self, name: &str) -> Option<i64> {
        self.position(name).ok().map(|i| self.0[i].1)
    }

    /// Sets `name` to `amount`.
    pub fn set(&mut self, name: &str, amount: i64) {
        match self.position(name) {
            Ok(i) => self.0[i].1 = amount,
            Err(i) => self.0.insert(i, (Arc::from(name), amount)),
        }
    }

    /// Adds `other` entry by entry, saturating.
    pub fn add(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            self.set(name, self.get(name).saturating_add(*amount));
        }
    }

    /// Subtracts `other` entry by entry, saturating; may go negative.
    pub fn sub(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            self.set(name, self.get(name).saturating_sub(*amount));
        }
    }

    /// Raises each entry to that of `other` where the latter is larger.
    pub fn raise(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            self.set(name, self.entry(name).map_or(*amount, |a| a.max(*amount)));
        }
    }

    /// Entries in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(n, a)| (&**n, *a))
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(n, _)| (**n).cmp(name))
    }
}

impl<'a> FromIterator<(&'a str, i64)> for Resources {
    fn from_iter<I: IntoIterator<Item = (&'a str, i64)>>(entries: I) -> Self {
        let mut all = Self::default();
        for (name, amount) in entries {
            all.set(name, amount);
        }
        all
    }
}
