//! The requirement algebra: what a node's labels may be.
//!
//! Semantics: `spec/20-scheduling.md` §3.

use std::collections::{BTreeMap, BTreeSet};

/// One key's constraint: a set of values or the complement of one, within
/// inclusive integer bounds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// Normalised label key.
    pub key: String,
    /// `values` are excluded rather than admitted.
    pub complement: bool,
    /// Admitted or excluded values.
    pub values: BTreeSet<String>,
    /// Inclusive lower bound on values read as integers.
    pub gte: Option<i64>,
    /// Inclusive upper bound on values read as integers.
    pub lte: Option<i64>,
    /// How many distinct values the launch list must show.
    pub min_values: Option<u32>,
}

/// A requirement per key; a second one for a key intersects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Requirements(BTreeMap<String, Requirement>);
