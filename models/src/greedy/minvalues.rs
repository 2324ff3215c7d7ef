//! minValues: how varied the surviving types must be (spec 20 §3.6).

use std::collections::BTreeSet;

use super::bits::Bits;
use crate::catalog::pool_types::PoolType;
use crate::requirements::Requirements;

/// One key's demand on the surviving types.
#[derive(Debug)]
pub(super) struct MinValue {
    pub key: String,
    pub need: u32,
    /// Per type the values it shows, by number; only those that the claim's
    /// own requirement admits.
    values: Vec<Vec<usize>>,
}

impl MinValue {
    /// The demands of `set` on `types`.
    pub fn of(set: &Requirements, types: &[PoolType]) -> Vec<Self> {
        let demands = set.iter().filter_map(|r| Some((r, r.min_values?)));
        demands
            .map(|(own, need)| {
                let shown = |t: &PoolType| {
                    let values = t.requirements.get(&own.key).into_iter().filter(|r| !r.complement);
                    values.flat_map(|r| r.values.clone()).filter(|v| own.has(v)).collect::<Vec<_>>()
                };
                let shown: Vec<Vec<String>> = types.iter().map(shown).collect();
                let all: BTreeSet<&String> = shown.iter().flatten().collect();
                let numbers: Vec<&String> = all.into_iter().collect();
                let number = |v: &String| numbers.binary_search(&v).ok();
                let values = shown.iter().map(|vs| vs.iter().filter_map(number).collect()).collect();
                Self { key: own.key.clone(), need, values }
            })
            .collect()
    }

    /// How many distinct values `types` show together.
    pub fn reached(&self, types: &Bits) -> u32 {
        let shown: Bits = types.iter().flat_map(|t| self.values[t].iter().copied()).collect();
        shown.count() as u32
    }

    pub fn is_met(&self, types: &Bits) -> bool {
        self.reached(types) >= self.need
    }
}
