//! Columns to start with: of a plan, or of a greedy cover.

use std::collections::BTreeMap;

use super::knapsack;
use super::master::Pattern;
use super::pattern;
use super::reduced::{Reduced, Spot};
use crate::plan::Plan;

/// The nodes of a plan, where their bins are bins of the bound.
pub(super) fn of_plan(reduced: &Reduced, plan: &Plan) -> Vec<Pattern> {
    let bins: BTreeMap<usize, usize> = reduced.bins.iter().enumerate().map(|(b, s)| (s.at, b)).collect();
    let nodes: BTreeMap<usize, usize> = reduced.nodes.iter().enumerate().map(|(n, s)| (s.at, n)).collect();
    let mut families: BTreeMap<usize, usize> = BTreeMap::new();
    for (f, family) in reduced.families.iter().enumerate() {
        for &m in &family.members {
            families.entry(reduced.served[m].0).or_insert(f);
        }
    }
    let pattern = |spot: usize, node: bool, contents: &[(usize, u32)]| {
        let place = if node { &reduced.nodes[spot] } else { &reduced.bins[spot] };
        let mut items: BTreeMap<usize, u32> = BTreeMap::new();
        for &(s, n) in contents {
            let family = &reduced.families[*families.get(&s)?];
            let here = family.items.iter().find(|&&i| reduced.kinds[place.kind].items.contains(i));
            *items.entry(*here?).or_default() += n;
        }
        Some(Pattern { node, spot, contents: items.into_iter().collect() })
    };
    let bought = plan.bought.iter().filter_map(|n| pattern(*bins.get(&n.bin)?, false, &n.contents));
    let placed = plan.placed.iter().filter_map(|(n, c)| pattern(*nodes.get(n)?, true, c));
    let mut out: Vec<Pattern> = bought.chain(placed).collect();
    out.sort();
    out.dedup();
    out
}

/// Covers everything by the bins that give most value for their price, or as
/// much as `stop` leaves time for.
pub(super) fn greedy(reduced: &Reduced, value: &[f64], stop: &dyn Fn() -> bool) -> Vec<Pattern> {
    let mut left: Vec<u64> = reduced.families.iter().map(|f| f.count).collect();
    let family = |i: usize| reduced.items[i].family;
    let content = |spot: &Spot, left: &[u64]| {
        let mut spot = spot.clone();
        spot.guests.retain_mut(|g| {
            g.most = g.most.min(left[family(g.item)] as f64);
            g.most > 0.0
        });
        if spot.guests.is_empty() {
            return (Vec::new(), 0.0);
        }
        let filling = knapsack::fill(&reduced.columns, &spot.room(), value);
        pattern::round(reduced, &spot, value, &filling)
    };
    // Ratios only grow as pods go, so old ones are optimistic.
    let ratio = |spot: &Spot, worth: f64| if worth > 0.0 { spot.price / worth } else { f64::INFINITY };
    let mut known: Vec<(f64, Vec<(usize, u32)>)> = Vec::with_capacity(reduced.bins.len());
    for spot in &reduced.bins {
        if stop() {
            break;
        }
        let (contents, worth) = content(spot, &left);
        known.push((ratio(spot, worth), contents));
    }
    let mut out = Vec::new();
    let cheapest = |known: &[(f64, Vec<(usize, u32)>)]| {
        let all = (0..known.len()).filter(|&b| known[b].0.is_finite());
        all.min_by(|&a, &b| known[a].0.total_cmp(&known[b].0))
    };
    while let Some(b) = cheapest(&known)
        && !stop()
    {
        let times = known[b].1.iter().map(|&(i, n)| left[family(i)] / u64::from(n)).min().unwrap_or(0);
        if times == 0 {
            let (contents, worth) = content(&reduced.bins[b], &left);
            known[b] = (ratio(&reduced.bins[b], worth), contents);
            continue;
        }
        for &(i, n) in &known[b].1 {
            left[family(i)] -= u64::from(n) * times;
        }
        out.push(Pattern { node: false, spot: b, contents: known[b].1.clone() });
    }
    out
}
