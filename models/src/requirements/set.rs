//! Requirements on many keys.

use std::collections::BTreeMap;
use std::fmt;

use super::conflict::{Conflict, RequirementError};
use super::requirement::Requirement;
use crate::karpenter::labels::{self, WELL_KNOWN};
use crate::kube::meta::Labels;
use crate::kube::selector::{Expression, Operator};

/// A requirement per key; a second one for a key intersects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Requirements(BTreeMap<String, Requirement>);

impl Requirements {
    pub fn new() -> Self {
        Self::default()
    }

    /// Each label as `In` of its value.
    pub fn from_labels(labels: &Labels) -> Self {
        labels.iter().map(|(key, value)| Requirement::is(key, value)).collect()
    }

    /// A node selector: each pair as `In` of its value.
    pub fn from_selector(selector: &Labels) -> Self {
        Self::from_labels(selector)
    }

    /// A conjunction of expressions.
    pub fn from_expressions(expressions: &[Expression]) -> Result<Self, RequirementError> {
        expressions.iter().map(|e| Requirement::new(&e.key, e.operator, &e.values, e.min_values)).collect()
    }

    /// Intersects with one more requirement.
    pub fn add(&mut self, requirement: Requirement) {
        match self.0.get_mut(&requirement.key) {
            Some(existing) => *existing = existing.intersect(&requirement),
            None => {
                self.0.insert(requirement.key.clone(), requirement);
            }
        }
    }

    /// Intersects with every requirement of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for requirement in other.iter() {
            self.add(requirement.clone());
        }
    }

    /// Drops the requirement on `key`.
    pub fn remove(&mut self, key: &str) -> Option<Requirement> {
        self.0.remove(key)
    }

    pub fn get(&self, key: &str) -> Option<&Requirement> {
        self.0.get(key)
    }

    /// In the order of keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Requirement> {
        self.0.values()
    }

    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The API form, in the order of keys.
    pub fn expressions(&self) -> Vec<Expression> {
        self.iter().flat_map(Requirement::expressions).collect()
    }

    /// Whether every key that both constrain leaves a common value, or may be
    /// absent on both sides.
    pub fn intersects(&self, incoming: &Self) -> Result<(), Vec<Conflict>> {
        let conflicts: Vec<_> = self.disjoint(incoming).collect();
        if conflicts.is_empty() { Ok(()) } else { Err(conflicts) }
    }

    /// Whether a node described by `self` can still become one that satisfies
    /// `incoming`. Keys for which `allow_undefined` holds may be asked for
    /// though `self` does not define them.
    pub fn compatible(&self, incoming: &Self, allow_undefined: &dyn Fn(&str) -> bool) -> Result<(), Vec<Conflict>> {
        let undefined =
            incoming.iter().filter(|r| !self.0.contains_key(&r.key) && !r.admits_absence() && !allow_undefined(&r.key));
        let undefined =
            undefined.map(|r| Conflict::Undefined { incoming: Box::new(r.clone()), meant: self.meant(&r.key) });
        let conflicts: Vec<_> = undefined.chain(self.disjoint(incoming)).collect();
        if conflicts.is_empty() { Ok(()) } else { Err(conflicts) }
    }

    /// [`Self::compatible`] without the reasons.
    pub fn is_compatible(&self, incoming: &Self, allow_undefined: &dyn Fn(&str) -> bool) -> bool {
        incoming.iter().all(|r| match self.0.get(&r.key) {
            Some(existing) => agree(existing, r),
            None => r.admits_absence() || allow_undefined(&r.key),
        })
    }

    /// Whether a node with exactly these labels satisfies every requirement.
    pub fn satisfied_by(&self, labels: &Labels) -> bool {
        self.iter().all(|r| {
            let others = labels::aliases(&r.key).filter_map(|alias| labels.get(alias));
            let mut values = labels.get(&r.key).into_iter().chain(others).peekable();
            if values.peek().is_none() { r.admits_absence() } else { values.all(|v| r.has(v)) }
        })
    }

    fn disjoint<'a>(&'a self, incoming: &'a Self) -> impl Iterator<Item = Conflict> + 'a {
        let (small, large) = if self.0.len() < incoming.0.len() { (self, incoming) } else { (incoming, self) };
        let shared = small.0.keys().filter(|key| large.0.contains_key(*key));
        shared.filter_map(|key| Some((self.0.get(key)?, incoming.0.get(key)?))).filter(|(a, b)| !agree(a, b)).map(
            |(existing, incoming)| Conflict::Disjoint {
                incoming: Box::new(incoming.clone()),
                existing: Box::new(existing.clone()),
            },
        )
    }

    /// A key that `key` may be a misspelling of: one with the same name after
    /// the slash, one that ends in it, one that contains the key.
    fn meant(&self, key: &str) -> Option<String> {
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        let distance = |known: &str| match known {
            k if k == key => None,
            k if k.rsplit('/').next() == Some(name) => Some(0),
            k if k.ends_with(name) => Some(1),
            k if k.contains(key) => Some(2),
            _ => None,
        };
        let known = WELL_KNOWN.iter().copied().chain(self.keys());
        known.filter_map(|k| distance(k).map(|d| (d, k))).min().map(|(_, k)| k.to_owned())
    }
}

fn agree(existing: &Requirement, incoming: &Requirement) -> bool {
    existing.overlaps(incoming) || (existing.admits_absence() && incoming.admits_absence())
}

impl FromIterator<Requirement> for Requirements {
    fn from_iter<I: IntoIterator<Item = Requirement>>(requirements: I) -> Self {
        let mut all = Self::new();
        for requirement in requirements {
            all.add(requirement);
        }
        all
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, requirement) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{requirement}")?;
        }
        Ok(())
    }
}

/// For [`Requirements::compatible`]: a template may be asked for well-known
/// labels that it does not define.
pub fn well_known(key: &str) -> bool {
    labels::is_well_known(key)
}

/// For [`Requirements::compatible`]: an existing node has exactly its labels.
pub fn nothing(_key: &str) -> bool {
    false
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
