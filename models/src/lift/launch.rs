//! The list of types a launch may choose from.

use std::collections::BTreeSet;

use millwright_solver::plan::NewNode;
use rustc_hash::FxHashMap;

use crate::catalog::CapacityType;
use crate::lower::{BinSource, Lowered};

/// The provider's cap on types per launch (spec 50 §9.2).
pub const LAUNCH_LIST: usize = 60;

/// A spot launch is never offered types dearer than this times the plan's:
/// numerator and denominator.
const SPOT_REACH: (i64, i64) = (5, 4);

/// What to launch.
pub struct Launch {
    /// Row whose type and price the plan tells.
    pub row: usize,
    /// Names in price order.
    pub types: Vec<String>,
}

/// Rows that differ in nothing but their type, so that a launch may choose
/// between them.
pub struct Peers {
    /// Each in the order of price, then of name.
    groups: Vec<Vec<usize>>,
    of_row: Vec<usize>,
}

impl Peers {
    /// Groups all rows.
    pub fn of(lowered: &Lowered<'_>) -> Self {
        let mut index = FxHashMap::default();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let rows = lowered.offers.rows.iter().enumerate();
        let of_row = rows
            .map(|(r, row)| {
                let offering = lowered.offers.offering(row);
                let bin = &lowered.instance.bins[r];
                let place = (row.pool, row.variant, &row.os, &offering.zone, offering.capacity_type);
                let group = *index.entry((place, bin.supply, &bin.domain)).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[group].push(r);
                group
            })
            .collect();
        for group in &mut groups {
            group.sort_by_key(|&r| (lowered.instance.bins[r].price, type_name(lowered, r)));
        }
        Self { groups, of_row }
    }
}

/// Chooses the told type and the list for a planned node.
pub fn launch(lowered: &Lowered<'_>, peers: &Peers, node: &NewNode, spot_types: usize) -> Launch {
    let lead = match &lowered.bins[node.bin] {
        BinSource::Row(r) => *r,
        BinSource::Envelope(e) => e.members[0],
    };
    let mut rows = alternatives(lowered, peers, node, lead);
    let price = |row: usize| lowered.instance.bins[row].price;
    rows.dedup_by_key(|r| lowered.offers.rows[*r].ptype);
    let spot = lowered.offers.offering(&lowered.offers.rows[lead]).capacity_type == CapacityType::Spot;
    let told = match &lowered.bins[node.bin] {
        BinSource::Row(r) => *r,
        BinSource::Envelope(_) => {
            let cheapest = price(rows[0]);
            let choice =
                rows.iter().take(spot_types).take_while(|r| price(**r) * SPOT_REACH.1 <= cheapest * SPOT_REACH.0);
            choice.last().copied().unwrap_or(lead)
        }
    };
    let ceiling = if spot && !matches!(lowered.bins[node.bin], BinSource::Envelope(_)) {
        price(told) * SPOT_REACH.0 / SPOT_REACH.1
    } else if spot {
        price(told)
    } else {
        i64::MAX
    };
    let mut kept: Vec<usize> = rows.iter().copied().take_while(|&r| price(r) <= ceiling).take(LAUNCH_LIST).collect();
    if !kept.contains(&told) {
        kept.truncate(LAUNCH_LIST - 1);
        kept.push(told);
    }
    if !lowered.instance.varieties.is_empty() {
        let spare: Vec<usize> = rows.iter().copied().filter(|r| !kept.contains(r)).collect();
        vary(lowered, node.bin, told, &mut kept, &spare);
    }
    kept.sort_by_key(|&r| (price(r), type_name(lowered, r)));
    Launch { row: told, types: kept.into_iter().map(|r| type_name(lowered, r).to_owned()).collect() }
}

fn type_name<'l>(lowered: &'l Lowered<'_>, row: usize) -> &'l str {
    &lowered.offers.ptype(&lowered.offers.rows[row]).name
}

/// Peers of `lead` that hold the contents, admit them, and take no more of any
/// limit; in the order of price.
fn alternatives(lowered: &Lowered<'_>, peers: &Peers, node: &NewNode, lead: usize) -> Vec<usize> {
    let instance = &lowered.instance;
    let mut load = vec![0i64; instance.dims];
    for &(shape, count) in &node.contents {
        for (sum, d) in load.iter_mut().zip(&instance.shapes[shape].demand) {
            *sum = sum.saturating_add(d.saturating_mul(i64::from(count)));
        }
    }
    let limited = &instance.bins[node.bin].limit_use;
    let taken = |limits: &[(usize, i64)], l: usize| limits.iter().find(|(x, _)| *x == l).map_or(0, |(_, a)| *a);
    let hosts = |r: usize| {
        load.iter().zip(&instance.bins[r].capacity).all(|(d, c)| d <= c)
            && instance.bins[r].limit_use.iter().all(|&(l, amount)| amount <= taken(limited, l))
            && node.contents.iter().all(|&(s, _)| {
                instance.shapes[s].tiers.iter().any(|t| {
                    let bins = &instance.admissions[t.admission].bins;
                    bins.contains(node.bin) && bins.contains(r)
                })
            })
    };
    peers.groups[peers.of_row[lead]].iter().copied().filter(|&r| hosts(r)).collect()
}

/// Makes the list meet the varieties of its bin, trading the dearest entries
/// that bring no value of their own for the cheapest that do.
fn vary(lowered: &Lowered<'_>, bin: usize, told: usize, kept: &mut Vec<usize>, spare: &[usize]) {
    for variety in &lowered.instance.varieties {
        if variety.bins.binary_search(&bin).is_err() && variety.bins.binary_search(&told).is_err() {
            continue;
        }
        let value = |row: usize| variety.bins.binary_search(&row).ok().map(|i| variety.value[i]);
        let count = |rows: &[usize]| rows.iter().filter_map(|&r| value(r)).collect::<BTreeSet<u32>>();
        for &candidate in spare {
            let have = count(kept);
            if have.len() >= variety.least as usize {
                break;
            }
            if value(candidate).is_none_or(|v| have.contains(&v)) {
                continue;
            }
            if kept.len() >= LAUNCH_LIST {
                let drop = kept.iter().rposition(|&r| {
                    r != told && value(r).is_none_or(|v| kept.iter().filter(|&&o| value(o) == Some(v)).count() > 1)
                });
                match drop {
                    Some(at) => {
                        kept.remove(at);
                    }
                    None => break,
                }
            }
            kept.push(candidate);
        }
    }
}
