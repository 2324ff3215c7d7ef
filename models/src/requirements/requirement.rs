//! One key's constraint.

use std::collections::BTreeSet;
use std::fmt;

use super::conflict::RequirementError;
use crate::karpenter::labels;
use crate::kube::selector::{Expression, Operator};

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

impl Requirement {
    /// A requirement as written. Values beside `Exists` and `DoesNotExist`
    /// mean nothing, as upstream.
    pub fn new<K: AsRef<str>, V: Into<String>>(
        key: K,
        operator: Operator,
        values: impl IntoIterator<Item = V>,
        min_values: Option<u32>,
    ) -> Result<Self, RequirementError> {
        let key = labels::normalise(key.as_ref()).to_owned();
        let values: BTreeSet<String> = values.into_iter().map(Into::into).collect();
        let listed = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>();
        if let Some(min_values) = min_values {
            if !(1..=50).contains(&min_values) {
                return Err(RequirementError::MinValuesRange { key, operator, values: listed(values), min_values });
            }
            if operator == Operator::In && values.len() < min_values as usize {
                return Err(RequirementError::TooFewValues { key, values: listed(values), min_values });
            }
        }
        let bare = |complement, values| Self { key: key.clone(), complement, values, gte: None, lte: None, min_values };
        Ok(match operator {
            Operator::In if values.is_empty() => return Err(RequirementError::NoValues { key }),
            Operator::In => bare(false, values),
            Operator::NotIn => bare(true, values),
            Operator::Exists => bare(true, BTreeSet::new()),
            Operator::DoesNotExist => bare(false, BTreeSet::new()),
            Operator::Gt | Operator::Lt | Operator::Gte | Operator::Lte => {
                let mut one = values.iter();
                let number = match (one.next().and_then(|v| v.parse::<i64>().ok()), one.next()) {
                    (Some(number), None) => number,
                    _ => return Err(RequirementError::NotOneInteger { key, operator, values: listed(values) }),
                };
                let (gte, lte) = match operator {
                    Operator::Gt => (number.checked_add(1), None),
                    Operator::Gte => (Some(number), None),
                    Operator::Lt => (None, number.checked_sub(1)),
                    _ => (None, Some(number)),
                };
                // No integer is beyond the largest or below the smallest.
                let possible = gte.is_some() || lte.is_some();
                Self { gte, lte, ..bare(possible, BTreeSet::new()) }
            }
        })
    }

    /// `key In [value]`.
    pub fn is<K: AsRef<str>>(key: K, value: impl Into<String>) -> Self {
        Self {
            key: labels::normalise(key.as_ref()).to_owned(),
            complement: false,
            values: BTreeSet::from([value.into()]),
            gte: None,
            lte: None,
            min_values: None,
        }
    }

    /// `key DoesNotExist`.
    pub fn absent<K: AsRef<str>>(key: K) -> Self {
        Self { values: BTreeSet::new(), ..Self::is(key, "") }
    }

    /// Whether a label of this value satisfies the requirement.
    pub fn has(&self, value: &str) -> bool {
        self.values.contains(value) != self.complement && within(value, self.gte, self.lte)
    }

    /// What both admit.
    pub fn intersect(&self, other: &Self) -> Self {
        let gte = self.gte.max(other.gte);
        let lte = lower(self.lte, other.lte);
        let min_values = self.min_values.max(other.min_values);
        let key = self.key.clone();
        if crossed(gte, lte) {
            return Self { key, complement: false, values: BTreeSet::new(), gte: None, lte: None, min_values };
        }
        let complement = self.complement && other.complement;
        let mut values: BTreeSet<String> = match (self.complement, other.complement) {
            (true, true) => self.values.union(&other.values).cloned().collect(),
            (true, false) => other.values.difference(&self.values).cloned().collect(),
            (false, true) => self.values.difference(&other.values).cloned().collect(),
            (false, false) => self.values.intersection(&other.values).cloned().collect(),
        };
        values.retain(|v| within(v, gte, lte));
        let (gte, lte) = if complement { (gte, lte) } else { (None, None) };
        Self { key, complement, values, gte, lte, min_values }
    }

    /// Whether some value satisfies both, without building the intersection.
    /// Two open requirements count as overlapping even if every integer
    /// between the bounds is excluded.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (gte, lte) = (self.gte.max(other.gte), lower(self.lte, other.lte));
        if crossed(gte, lte) {
            return false;
        }
        let (concrete, against) = match (self.complement, other.complement) {
            (true, true) => return true,
            (false, true) => (self, other),
            (true, false) => (other, self),
            (false, false) if self.values.len() <= other.values.len() => (self, other),
            (false, false) => (other, self),
        };
        concrete.values.iter().any(|v| against.values.contains(v) != against.complement && within(v, gte, lte))
    }

    /// The effective operator; bounds alone report `Exists`.
    pub fn operator(&self) -> Operator {
        match (self.complement, self.values.is_empty()) {
            (true, false) => Operator::NotIn,
            (true, true) => Operator::Exists,
            (false, false) => Operator::In,
            (false, true) => Operator::DoesNotExist,
        }
    }

    /// Whether a node without the label satisfies the requirement.
    pub fn admits_absence(&self) -> bool {
        matches!(self.operator(), Operator::NotIn | Operator::DoesNotExist)
    }

    /// Some value that satisfies the requirement: the first of a set, the
    /// smallest fitting integer of an open one; empty if there is none.
    pub fn any(&self) -> String {
        if !self.complement {
            return self.values.first().cloned().unwrap_or_default();
        }
        let admitted = |n: &i64| !self.values.contains(&n.to_string());
        let (gte, lte) = (self.gte.unwrap_or(0), self.lte.unwrap_or(i64::MAX));
        // At most one more integer than there are exclusions has to be tried.
        let upwards = (gte..=lte).find(admitted);
        let below = || (i64::MIN..=lte).rev().find(admitted);
        let found = if self.gte.is_none() { upwards.or_else(below) } else { upwards };
        found.map(|n| n.to_string()).unwrap_or_default()
    }

    /// The API form. A bounded requirement that also excludes values takes an
    /// entry for each bound and one for the exclusions.
    pub fn expressions(&self) -> Vec<Expression> {
        let entry =
            |operator, values| Expression { key: self.key.clone(), operator, values, min_values: self.min_values };
        let bounds = [(Operator::Gte, self.gte), (Operator::Lte, self.lte)];
        let mut all: Vec<_> =
            bounds.into_iter().filter_map(|(o, bound)| bound.map(|n| entry(o, vec![n.to_string()]))).collect();
        if all.is_empty() || !self.values.is_empty() {
            all.push(entry(self.operator(), self.values.iter().cloned().collect()));
        }
        all
    }
}

fn within(value: &str, gte: Option<i64>, lte: Option<i64>) -> bool {
    if gte.is_none() && lte.is_none() {
        return true;
    }
    value.parse::<i64>().is_ok_and(|n| gte.is_none_or(|g| n >= g) && lte.is_none_or(|l| n <= l))
}

fn lower(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}

fn crossed(gte: Option<i64>, lte: Option<i64>) -> bool {
    matches!((gte, lte), (Some(g), Some(l)) if g > l)
}

impl fmt::Display for Requirement {
    /// `key In [a, b]`, `key Gte 4 and Lte 8`, `key Exists`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.key)?;
        for (i, part) in self.expressions().iter().enumerate() {
            let join = if i == 0 { "" } else { " and" };
            match part.operator {
                Operator::In | Operator::NotIn => {
                    let shown: Vec<_> = part.values.iter().take(6).map(String::as_str).collect();
                    let more = part.values.len() - shown.len();
                    let more = if more == 0 { String::new() } else { format!(" and {more} others") };
                    write!(f, "{join} {} [{}{more}]", part.operator, shown.join(", "))?;
                }
                Operator::Exists | Operator::DoesNotExist => write!(f, "{join} {}", part.operator)?,
                _ => write!(f, "{join} {} {}", part.operator, part.values.join(", "))?,
            }
        }
        match self.min_values {
            Some(n) => write!(f, " (minValues {n})"),
            None => Ok(()),
        }
    }
}
