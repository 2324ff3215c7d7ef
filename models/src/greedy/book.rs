//! Requirement sets by number.
//!
//! A pass meets few distinct sets (a pool's, narrowed by a selector or a
//! zone), so each is kept once and every question about a pair of them is
//! answered once. Hostnames are kept apart: each claim has its own.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::bits::Bits;
use crate::karpenter::labels::{INITIALIZED, REGISTERED};
use crate::requirements::{Requirement, Requirements};

/// Number of a requirement set.
pub(super) type ReqId = u32;
/// Number of a topology key other than the hostname.
pub(super) type KeyId = usize;

/// A topology key with the values it may take in this pass.
#[derive(Debug)]
struct Key {
    name: String,
    values: Vec<String>,
}

/// All sets met so far, and what was found out about them.
#[derive(Debug, Default)]
pub(super) struct Book {
    well_known: BTreeSet<String>,
    sets: Vec<Requirements>,
    ids: FxHashMap<Requirements, ReqId>,
    keys: Vec<Key>,
    joined: FxHashMap<(ReqId, ReqId), Option<ReqId>>,
    strict: FxHashMap<(ReqId, ReqId), bool>,
    admitted: FxHashMap<(ReqId, KeyId), Rc<Admitted>>,
    narrowed: FxHashMap<(ReqId, KeyId, Bits), Option<ReqId>>,
}

/// The values of a topology key that a set leaves open.
#[derive(Debug)]
pub(super) struct Admitted {
    /// Known values that are admitted.
    pub values: Bits,
    /// Whether the set names the key at all.
    pub defined: bool,
    /// The set admits a finite list of values.
    concrete: bool,
    /// The set admits exactly one value, and it is this known one.
    pub exactly: Option<usize>,
}

impl Book {
    /// A book in which templates may leave the keys `well_known` open.
    pub fn new(well_known: BTreeSet<String>) -> Self {
        Self { well_known, ..Self::default() }
    }

    pub fn id(&mut self, set: Requirements) -> ReqId {
        if let Some(id) = self.ids.get(&set) {
            return *id;
        }
        let id = self.sets.len() as ReqId;
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }

    pub fn set(&self, id: ReqId) -> &Requirements {
        &self.sets[id as usize]
    }

    /// Declares topology key `name`; its values are told later.
    pub fn key(&mut self, name: &str) -> KeyId {
        self.keys.iter().position(|k| k.name == name).unwrap_or_else(|| {
            self.keys.push(Key { name: name.to_owned(), values: Vec::new() });
            self.keys.len() - 1
        })
    }

    pub fn key_name(&self, key: KeyId) -> &str {
        &self.keys[key].name
    }

    /// Names of the declared topology keys, by number.
    pub fn key_names(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|k| k.name.as_str())
    }

    /// Fixes the values of `key`. Must precede every question about the key.
    pub fn set_values(&mut self, key: KeyId, values: BTreeSet<String>) {
        self.keys[key].values = values.into_iter().collect();
    }

    pub fn values(&self, key: KeyId) -> &[String] {
        &self.keys[key].values
    }

    pub fn value(&self, key: KeyId, name: &str) -> Option<usize> {
        self.keys[key].values.binary_search_by(|v| v.as_str().cmp(name)).ok()
    }

    /// `base` and `more` together, if a machine described by `base` can still
    /// become one that satisfies `more`.
    pub fn join(&mut self, base: ReqId, more: ReqId) -> Option<ReqId> {
        if let Some(known) = self.joined.get(&(base, more)) {
            return *known;
        }
        let (a, b) = (self.set(base), self.set(more));
        let joined = if a.is_compatible(b, &|k| self.well_known.contains(k)) {
            let mut both = a.clone();
            both.add_all(b);
            Some(self.id(both))
        } else {
            None
        };
        self.joined.insert((base, more), joined);
        joined
    }

    /// Why a machine described by `base` cannot satisfy `more`.
    pub fn conflicts(&self, base: ReqId, more: ReqId) -> Result<(), String> {
        let verdict = self.set(base).compatible(self.set(more), &|k| self.well_known.contains(k));
        verdict.map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }

    /// The set in words.
    pub fn words(&self, id: ReqId) -> String {
        let shown = self.set(id).iter().filter(|r| r.key != REGISTERED && r.key != INITIALIZED);
        shown.map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Whether labels described by `labels` satisfy `wanted` as they are.
    pub fn satisfies(&mut self, labels: ReqId, wanted: ReqId) -> bool {
        if let Some(known) = self.strict.get(&(labels, wanted)) {
            return *known;
        }
        let ok = self.set(labels).is_compatible(self.set(wanted), &|_| false);
        self.strict.insert((labels, wanted), ok);
        ok
    }

    /// What `id` leaves open for topology key `key`.
    pub fn admitted(&mut self, id: ReqId, key: KeyId) -> Rc<Admitted> {
        if let Some(known) = self.admitted.get(&(id, key)) {
            return known.clone();
        }
        let Key { name, values } = &self.keys[key];
        let requirement = self.set(id).get(name);
        let open = values.iter().enumerate().filter(|(_, v)| requirement.is_none_or(|r| r.has(v)));
        let open: Bits = open.map(|(i, _)| i).collect();
        let concrete = requirement.is_some_and(|r| !r.complement);
        let exactly = requirement.filter(|r| !r.complement && r.values.len() == 1).and_then(|_| open.single());
        let answer = Rc::new(Admitted { values: open, defined: requirement.is_some(), concrete, exactly });
        self.admitted.insert((id, key), answer.clone());
        answer
    }

    /// `id` with topology key `key` narrowed to `values`, if that is possible.
    pub fn narrow(&mut self, id: ReqId, key: KeyId, values: &Bits) -> Option<ReqId> {
        let now = self.admitted(id, key);
        if now.concrete && now.values.is_subset(values) && !now.values.is_empty() {
            return Some(id);
        }
        let question = (id, key, values.clone());
        if let Some(known) = self.narrowed.get(&question) {
            return *known;
        }
        let mut kept = now.values.clone();
        kept.and(values);
        let name = &self.keys[key].name;
        let answer = if kept.is_empty() || (!now.defined && !self.well_known.contains(name)) {
            None
        } else {
            let mut set = self.set(id).clone();
            set.add(Requirement {
                key: name.clone(),
                complement: false,
                values: kept.iter().map(|i| self.keys[key].values[i].clone()).collect(),
                gte: None,
                lte: None,
                min_values: None,
            });
            Some(self.id(set))
        };
        self.narrowed.insert(question, answer);
        answer
    }
}
