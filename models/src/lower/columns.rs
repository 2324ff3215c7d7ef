//! Labels of many rows (offerings or nodes), column by column.
//!
//! An expression is evaluated once per distinct value of its key, then mapped
//! over the rows: thousands of offerings cost as much as a handful of zones.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::kube::meta::Labels;
use crate::kube::selector::{Expression, NodeSelectorTerm, Operator};

const ABSENT: u32 = u32::MAX;

/// Looks up the label `key` of a row.
pub trait Labelled {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// The row's value for `key`.
    fn label(&self, row: usize, key: &str) -> Option<&str>;
}

/// Columns of a [`Labelled`], filled on demand.
pub struct Columns<'a, L: Labelled> {
    source: &'a L,
    columns: FxHashMap<String, Column>,
    seen: FxHashMap<Expression, FixedBitSet>,
}

struct Column {
    /// Value per row, an index into `values` or `ABSENT`.
    ids: Vec<u32>,
    values: Vec<String>,
}

impl<'a, L: Labelled> Columns<'a, L> {
    pub fn new(source: &'a L) -> Self {
        Self { source, columns: FxHashMap::default(), seen: FxHashMap::default() }
    }

    pub fn source(&self) -> &'a L {
        self.source
    }

    pub fn rows(&self) -> usize {
        self.source.rows()
    }

    /// All rows.
    pub fn every(&self) -> FixedBitSet {
        let mut all = FixedBitSet::with_capacity(self.rows());
        all.insert_range(..);
        all
    }

    /// Rows whose labels satisfy the expression.
    pub fn matching(&mut self, expression: &Expression) -> &FixedBitSet {
        if !self.seen.contains_key(expression) {
            let column = column(&mut self.columns, self.source, &expression.key);
            let mut holder = Labels::new();
            let mut verdict = |value: Option<&str>| {
                holder.clear();
                if let Some(v) = value {
                    holder.insert(expression.key.clone(), v.to_owned());
                }
                expression.matches(&holder)
            };
            let absent = verdict(None);
            let present: Vec<bool> = column.values.iter().map(|v| verdict(Some(v))).collect();
            let mut rows = FixedBitSet::with_capacity(column.ids.len());
            for (row, &id) in column.ids.iter().enumerate() {
                if if id == ABSENT { absent } else { present[id as usize] } {
                    rows.insert(row);
                }
            }
            self.seen.insert(expression.clone(), rows);
        }
        &self.seen[expression]
    }

    /// Narrows `rows` to those with exactly these labels.
    pub fn narrow_by_labels(&mut self, rows: &mut FixedBitSet, labels: &Labels) {
        for (key, value) in labels {
            rows.intersect_with(self.matching(&Expression {
                key: key.clone(),
                operator: Operator::In,
                values: vec![value.clone()],
                min_values: None,
            }));
        }
    }

    /// Rows that satisfy every expression of the term. A term without
    /// expressions matches nothing, as in Kubernetes.
    pub fn term(&mut self, term: &NodeSelectorTerm) -> FixedBitSet {
        if term.match_expressions.is_empty() {
            return FixedBitSet::with_capacity(self.rows());
        }
        let mut rows = self.every();
        for e in &term.match_expressions {
            rows.intersect_with(self.matching(e));
        }
        rows
    }

    /// Rows that satisfy at least one of the terms.
    pub fn any_term<'t>(&mut self, terms: impl IntoIterator<Item = &'t NodeSelectorTerm>) -> FixedBitSet {
        let mut rows = FixedBitSet::with_capacity(self.rows());
        for term in terms {
            rows.union_with(&self.term(term));
        }
        rows
    }

    /// The values of `key` among some rows.
    pub fn distinct(&mut self, key: &str, rows: &FixedBitSet) -> BTreeSet<String> {
        let column = column(&mut self.columns, self.source, key);
        let mut seen = FixedBitSet::with_capacity(column.values.len());
        seen.extend(rows.ones().map(|row| column.ids[row]).filter(|&id| id != ABSENT).map(|id| id as usize));
        seen.ones().map(|id| column.values[id].clone()).collect()
    }

    /// Value of `key` per row.
    pub fn values(&mut self, key: &str) -> Vec<Option<String>> {
        let column = column(&mut self.columns, self.source, key);
        column.ids.iter().map(|&id| (id != ABSENT).then(|| column.values[id as usize].clone())).collect()
    }
}

fn column<'c, L: Labelled>(columns: &'c mut FxHashMap<String, Column>, source: &L, key: &str) -> &'c Column {
    columns.entry(key.to_owned()).or_insert_with(|| {
        let mut values: Vec<String> = Vec::new();
        let mut index: FxHashMap<&str, u32> = FxHashMap::default();
        let ids = (0..source.rows())
            .map(|row| match source.label(row, key) {
                None => ABSENT,
                Some(v) => *index.entry(v).or_insert_with(|| {
                    values.push(v.to_owned());
                    values.len() as u32 - 1
                }),
            })
            .collect();
        Column { ids, values }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rows(Vec<Labels>);

    impl Labelled for Rows {
        fn rows(&self) -> usize {
            self.0.len()
        }
        fn label(&self, row: usize, key: &str) -> Option<&str> {
            self.0[row].get(key).map(String::as_str)
        }
    }

    #[test]
    fn columns_agree_with_row_by_row_matching() {
        let rows = Rows(
            [Some("1"), None, Some("7"), Some("x")]
                .into_iter()
                .map(|v| v.map(|v| ("k".to_owned(), v.to_owned())).into_iter().collect())
                .collect(),
        );
        let mut columns = Columns::new(&rows);
        for operator in [
            Operator::In,
            Operator::NotIn,
            Operator::Exists,
            Operator::DoesNotExist,
            Operator::Gt,
            Operator::Lt,
            Operator::Gte,
            Operator::Lte,
        ] {
            let e = Expression { key: "k".into(), operator, values: vec!["7".into()], min_values: None };
            let naive: Vec<usize> = (0..4).filter(|&r| e.matches(&rows.0[r])).collect();
            assert_eq!(columns.matching(&e).ones().collect::<Vec<_>>(), naive, "{operator:?}");
        }
        assert!(columns.term(&NodeSelectorTerm::default()).is_clear());
    }
}
