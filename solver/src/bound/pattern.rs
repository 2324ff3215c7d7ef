//! Integer contents from fractional ones.

use super::knapsack::Filling;
use super::reduced::{Reduced, Spot};

/// Rounds a filling down and fills what is left, dearest per priced unit
/// first. Returns (item, pods) ascending and their worth.
pub(super) fn round(reduced: &Reduced, spot: &Spot, value: &[f64], filling: &Filling) -> (Vec<(usize, u32)>, f64) {
    let mut start: Vec<(usize, u32)> = Vec::new();
    for &(g, x) in &filling.x {
        let n = (x + 1e-9).floor() as u32;
        if n > 0 {
            start.push((g, n));
        }
    }
    let cost = |g: usize| -> f64 {
        let guest = &spot.guests[g];
        let r = reduced.columns.of(guest.item);
        let group = guest.group.map_or(0.0, |k| filling.u[r.len() + k]);
        r.iter().zip(&filling.u).map(|(r, u)| r * u).sum::<f64>() + group
    };
    let mut order: Vec<(f64, f64, usize)> = (0..spot.guests.len())
        .filter(|&g| value[spot.guests[g].item] > 0.0)
        .map(|g| {
            let v = value[spot.guests[g].item];
            (v / (cost(g) + 1e-12), v, g)
        })
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    order.truncate(64);
    // Several ways to complete the content: by efficiency, by size among the
    // efficient, and without one of the fractional items' floors.
    let mut best: (Vec<(usize, u32)>, f64) = (Vec::new(), -1.0);
    let mut consider = |content: Vec<(usize, u32)>, worth: f64| {
        if worth > best.1 {
            best = (content, worth);
        }
    };
    let complete = |start: &[(usize, u32)], order: &[(f64, f64, usize)]| {
        let mut free = spot.exact.clone();
        let mut groups: Vec<i64> = spot.groups.iter().map(|&g| g as i64).collect();
        let mut amount = vec![0u32; spot.guests.len()];
        let mut worth = 0.0;
        let steps = start.iter().map(|&(g, n)| (g, n)).chain(order.iter().map(|o| (o.2, u32::MAX)));
        for (g, want) in steps {
            let guest = &spot.guests[g];
            let demand = &reduced.families[reduced.items[guest.item].family].demand;
            let mut n = want.min(guest.most as u32 - amount[g]);
            for (&d, &f) in reduced.dims.iter().zip(&free) {
                if demand[d] > 0 {
                    n = n.min((f / demand[d]).clamp(0, i64::from(u32::MAX)) as u32);
                }
            }
            if let Some(k) = guest.group {
                n = n.min(groups[k].max(0) as u32);
                groups[k] -= i64::from(n);
            }
            if n > 0 {
                amount[g] += n;
                worth += f64::from(n) * value[guest.item];
                for (&d, f) in reduced.dims.iter().zip(&mut free) {
                    *f -= demand[d] * i64::from(n);
                }
            }
        }
        let content = amount.iter().enumerate().filter(|a| *a.1 > 0).map(|(g, &n)| (g, n)).collect();
        (content, worth)
    };
    let (content, worth) = complete(&start, &order);
    consider(content, worth);
    let mut large = order.clone();
    large.retain(|o| o.0 > 0.97);
    large.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
    large.extend(order.iter().copied());
    let (content, worth) = complete(&start, &large);
    consider(content, worth);
    for drop in 0..start.len().min(6) {
        let mut less = start.clone();
        less[drop].1 -= 1;
        let skip = less[drop].0;
        let mut others: Vec<_> = large.iter().copied().filter(|o| o.2 != skip).collect();
        others.extend(order.iter().copied());
        let (content, worth) = complete(&less, &others);
        consider(content, worth);
    }
    let (content, worth) = best;
    let mut items: Vec<(usize, u32)> = content.into_iter().map(|(g, n)| (spot.guests[g].item, n)).collect();
    items.sort_unstable();
    (items, worth.max(0.0))
}
