use super::{Unit, together};
use crate::arrival::Index;
use crate::instance::Instance;
use fixedbitset::FixedBitSet;

/// Ties pods under host affinity into bundles and takes them out of `left`.
pub fn bundles(instance: &Instance, index: &Index, left: &mut [u32]) -> Vec<Unit> {
    let mut made = Vec::new();
    for r in together(instance) {
        let rule = &instance.rules[r];
        if !index.base[r].selected.is_empty() {
            // Nodes with a counted pod exist: followers join them one by one.
            continue;
        }
        let carries = |s: usize| instance.shapes[s].tiers.first().is_some_and(|t| t.waived.binary_search(&r).is_err());
        let followers: Vec<usize> = rule.owners.iter().copied().filter(|&s| left[s] > 0 && carries(s)).collect();
        let targets: Vec<usize> = rule.selected.iter().copied().filter(|&s| left[s] > 0 && !rule.owned_by(s)).collect();
        if followers.is_empty() {
            continue;
        }
        if targets.is_empty() {
            // The first may only come while no counted pod is anywhere, so
            // all of them share one node.
            let starter = followers.iter().copied().filter(|&s| rule.selects(s));
            let mut order: Vec<usize> = starter.collect();
            order.extend(followers.iter().copied().filter(|&s| !rule.selects(s)));
            let wanted: Vec<(usize, u32)> = order.iter().map(|&s| (s, left[s])).collect();
            made.extend(largest(instance, &wanted, left));
        } else {
            made.extend(shared(instance, &targets, &followers, left));
        }
    }
    made
}

/// As many of `wanted` as some one place can hold.
fn largest(instance: &Instance, wanted: &[(usize, u32)], left: &mut [u32]) -> Option<Unit> {
    let (bins, nodes) = common(instance, wanted.iter().map(|w| w.0))?;
    let rooms = bins.ones().map(|b| &instance.bins[b].capacity).chain(nodes.ones().map(|n| &instance.nodes[n].free));
    let mut best: Vec<(usize, u32)> = Vec::new();
    let mut most = 0;
    for room in rooms {
        let mut room = room.clone();
        let mut parts = Vec::new();
        for &(s, want) in wanted {
            let demand = &instance.shapes[s].demand;
            let fit = demand.iter().zip(&room).filter(|(d, _)| **d > 0).map(|(d, r)| r / d).min();
            let n = fit.map_or(want, |f| want.min(u32::try_from(f.max(0)).unwrap_or(u32::MAX)));
            if n > 0 {
                for (r, d) in room.iter_mut().zip(demand) {
                    *r -= d * i64::from(n);
                }
                parts.push((s, n));
            }
        }
        let pods: u32 = parts.iter().map(|p| p.1).sum();
        if pods > most {
            (most, best) = (pods, parts);
        }
    }
    if most < 2 {
        return None;
    }
    for &(s, n) in &best {
        left[s] -= n;
    }
    Some(Unit::new(instance, best, 1, 0))
}

/// Targets with their share of the followers.
fn shared(instance: &Instance, targets: &[usize], followers: &[usize], left: &mut [u32]) -> Vec<Unit> {
    let mut made = Vec::new();
    for &f in followers {
        let Some(&t) = targets.iter().find(|&&t| left[t] > 0 && common(instance, [t, f].into_iter()).is_some()) else {
            continue;
        };
        // The fewest targets that can take all followers: each leaves the
        // rest free.
        let per = most_with(instance, t, f, left[f]);
        if per == 0 {
            continue;
        }
        let full = (left[f] / per).min(left[t]);
        if full > 0 {
            made.push(Unit::new(instance, vec![(t, 1), (f, per)], full, 0));
            left[t] -= full;
            left[f] -= full * per;
        }
        if left[f] > 0 && left[t] > 0 && left[f] < per {
            made.push(Unit::new(instance, vec![(t, 1), (f, left[f])], 1, 0));
            left[t] -= 1;
            left[f] = 0;
        }
    }
    made
}

/// How many of `follower` fit beside one `target` where they fit best.
fn most_with(instance: &Instance, target: usize, follower: usize, want: u32) -> u32 {
    let Some((bins, nodes)) = common(instance, [target, follower].into_iter()) else { return 0 };
    let rooms = bins.ones().map(|b| &instance.bins[b].capacity).chain(nodes.ones().map(|n| &instance.nodes[n].free));
    let (t, f) = (&instance.shapes[target].demand, &instance.shapes[follower].demand);
    rooms
        .map(|room| {
            let fit = (room.iter().zip(t).zip(f))
                .map(|((r, t), f)| if r < t { 0 } else { (r - t).checked_div(*f).unwrap_or(i64::MAX) })
                .min();
            fit.map_or(want, |n| want.min(u32::try_from(n).unwrap_or(u32::MAX)))
        })
        .max()
        .unwrap_or(0)
}

/// Bins and nodes that admit all of these shapes in their first tier.
fn common(instance: &Instance, shapes: impl Iterator<Item = usize>) -> Option<(FixedBitSet, FixedBitSet)> {
    let mut all: Option<(FixedBitSet, FixedBitSet)> = None;
    for s in shapes {
        let a = &instance.admissions[instance.shapes[s].tiers.first()?.admission];
        match &mut all {
            None => all = Some((a.bins.clone(), a.nodes.clone())),
            Some((bins, nodes)) => {
                bins.intersect_with(&a.bins);
                nodes.intersect_with(&a.nodes);
            }
        }
    }
    all.filter(|(b, n)| !b.is_clear() || !n.is_clear())
}
