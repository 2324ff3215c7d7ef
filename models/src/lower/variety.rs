//! `minValues` as demands on the variety of each launch. (spec 20 §3.6)

use std::collections::BTreeMap;

use millwright_solver::instance::Variety;

use super::BinSource;
use super::columns::Labelled;
use super::offers::Offers;
use crate::karpenter::labels;

/// What types of one launch share: label variant, zone, capacity type.
type Launch<'o> = (usize, &'o str, &'o str);

/// The varieties of all pools. Types of one launch share zone and capacity
/// type, unless the demand is on these.
pub fn varieties(offers: &Offers<'_>, bins: &[BinSource]) -> Vec<Variety> {
    let mut out = Vec::new();
    for (p, pool) in offers.pools.iter().enumerate() {
        let mut least: BTreeMap<&str, u32> = BTreeMap::new();
        for e in &pool.pool.template.requirements {
            if let Some(n) = e.min_values {
                let most = least.entry(&e.key).or_default();
                *most = (*most).max(n);
            }
        }
        for (key, n) in least {
            let mut groups: BTreeMap<Launch<'_>, Vec<(usize, String)>> = BTreeMap::new();
            for (b, source) in bins.iter().enumerate() {
                let BinSource::Row(r) = source else { continue };
                let row = &offers.rows[*r];
                if row.pool != p {
                    continue;
                }
                let Some(value) = offers.label(*r, key) else { continue };
                let offering = offers.offering(row);
                let zone = if key == labels::ZONE { "" } else { &*offering.zone };
                let bought = if key == labels::CAPACITY_TYPE { "" } else { offering.capacity_type.as_str() };
                groups.entry((row.variant, zone, bought)).or_default().push((b, value.to_owned()));
            }
            for group in groups.into_values() {
                let mut ids: BTreeMap<&str, u32> = BTreeMap::new();
                let value = group
                    .iter()
                    .map(|(_, v)| {
                        let next = ids.len() as u32;
                        *ids.entry(v).or_insert(next)
                    })
                    .collect();
                out.push(Variety { bins: group.iter().map(|(b, _)| *b).collect(), value, least: n });
            }
        }
    }
    out
}
