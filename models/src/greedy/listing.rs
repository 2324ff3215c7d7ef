//! What a claim's list of types still allows.

use std::collections::BTreeSet;

use super::GreedyClaim;
use super::bits::Bits;
use super::minvalues::MinValue;
use super::template::fits;
use crate::catalog::pool_types::{PoolOffering, PoolType};

/// A demand of minValues that a list does not meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("minValues of {key} is {need}, and the types that are left show {reached}")]
pub struct Unmet {
    pub key: String,
    pub need: u32,
    pub reached: u32,
}

impl GreedyClaim {
    /// Offerings of `kind` that a launch of the claim may aim at now.
    pub fn launchable<'t>(&'t self, kind: &'t PoolType) -> impl Iterator<Item = &'t PoolOffering> + 't {
        kind.offerings.iter().filter(|o| o.launchable() && fits(&self.requirements, o))
    }

    /// The first demand of minValues that `kept`, places in the pool's
    /// `types`, does not meet.
    pub fn unmet(&self, types: &[PoolType], kept: &[u32]) -> Option<Unmet> {
        let bits: Bits = kept.iter().map(|t| *t as usize).collect();
        let all = MinValue::of(&self.requirements, types);
        let missed = all.iter().find(|m| !m.is_met(&bits))?;
        Some(Unmet { key: missed.key.clone(), need: missed.need, reached: missed.reached(&bits) })
    }

    /// How many of the first of `kept` meet every demand of minValues; all of
    /// them if not even they do.
    pub fn enough(&self, types: &[PoolType], kept: &[u32]) -> usize {
        let all = MinValue::of(&self.requirements, types);
        let mut first = BTreeSet::new();
        for (n, kind) in kept.iter().enumerate() {
            let bits: Bits = first.iter().copied().collect();
            if all.iter().all(|m| m.is_met(&bits)) {
                return n;
            }
            first.insert(*kind as usize);
        }
        kept.len()
    }
}
