//! What a type says about its nodes: the values each label may take.

use std::collections::BTreeMap;

use crate::karpenter::labels;
use crate::kube::meta::Labels;
use crate::kube::selector::{Expression, Operator};
use crate::requirements::{Requirement, Requirements};

/// Values per normalised key. An empty list says that the label is absent for
/// certain; a missing key says that nothing is known.
#[derive(Clone, Debug, Default)]
pub struct Facts(BTreeMap<String, Vec<String>>);

impl Facts {
    /// States all values of `key`.
    pub fn set(&mut self, key: &str, values: Vec<String>) {
        self.0.insert(key.to_owned(), values);
    }

    /// States `key`, unless something is known of it.
    pub fn assume(&mut self, key: &str, values: &[&str]) {
        if !self.0.contains_key(key) {
            self.set(key, values.iter().map(|v| (*v).to_owned()).collect());
        }
    }

    /// The values of `key`.
    pub fn get(&self, key: &str) -> Option<&[String]> {
        self.0.get(key).map(Vec::as_slice)
    }

    /// Whether some node of the type can have this label; where nothing is
    /// known it can.
    pub fn admits(&self, key: &str, value: &str) -> bool {
        self.get(labels::normalise(key)).is_none_or(|values| values.iter().any(|v| v == value))
    }

    /// Keys with exactly one value.
    pub fn single_valued(&self) -> Labels {
        let single = |(key, values): (&String, &Vec<String>)| match values.as_slice() {
            [one] => Some((key.clone(), one.clone())),
            _ => None,
        };
        self.0.iter().filter_map(single).collect()
    }

    /// As requirements; a label known to be absent must not exist.
    pub fn requirements(&self) -> Requirements {
        let mut all = Requirements::default();
        for (key, values) in &self.0 {
            all.add(Requirement {
                key: key.clone(),
                complement: false,
                values: values.iter().cloned().collect(),
                gte: None,
                lte: None,
                min_values: None,
            });
        }
        all
    }

    /// Whether some node of the type can meet all of `expressions`. Labels of
    /// which nothing is known pass if `lenient`; otherwise they count as
    /// absent.
    pub fn meets(&self, expressions: &[Expression], lenient: bool) -> bool {
        expressions.iter().enumerate().all(|(i, first)| {
            let key = labels::normalise(&first.key);
            let same = |e: &&Expression| labels::normalise(&e.key) == key;
            if expressions[..i].iter().any(|e| same(&e)) {
                return true;
            }
            let on_key = || expressions[i..].iter().filter(same);
            match self.get(key) {
                None if lenient => true,
                None | Some([]) => on_key().all(admits_absence),
                Some(values) => values.iter().any(|v| on_key().all(|e| admits(e, v))),
            }
        })
    }
}

fn admits_absence(e: &Expression) -> bool {
    match e.operator {
        Operator::DoesNotExist => true,
        Operator::NotIn => !e.values.is_empty(),
        _ => false,
    }
}

fn admits(e: &Expression, value: &str) -> bool {
    let number = |holds: fn(i64, i64) -> bool| {
        let bound = e.values.first().and_then(|v| v.parse().ok());
        value.parse().ok().zip(bound).is_some_and(|(have, want)| holds(have, want))
    };
    match e.operator {
        Operator::In => e.values.iter().any(|v| v == value),
        Operator::NotIn => e.values.iter().all(|v| v != value),
        Operator::Exists => true,
        Operator::DoesNotExist => false,
        Operator::Gt => number(|a, b| a > b),
        Operator::Lt => number(|a, b| a < b),
        Operator::Gte => number(|a, b| a >= b),
        Operator::Lte => number(|a, b| a <= b),
    }
}
