use crate::arrival::Index;
use crate::instance::{Bin, Instance};
use rustc_hash::FxHashMap;

/// Bins worth looking at: those that somebody admits and that no other bin
/// replaces. A bin replaces another if it counts alike under every rule,
/// admits whom the other admits, holds at least as much, draws no more from
/// limits and supplies, and costs no more.
pub fn offers(instance: &Instance, index: &Index) -> Vec<usize> {
    let used = used_admissions(instance);
    let words = used.len().div_ceil(64);
    let mut admits = vec![0_u64; words * instance.bins.len()];
    for (i, &a) in used.iter().enumerate() {
        for b in instance.admissions[a].bins.ones() {
            admits[b * words + i / 64] |= 1 << (i % 64);
        }
    }
    let total = needed(instance);
    let mut groups: FxHashMap<(u32, u32, &[usize]), Vec<usize>> = FxHashMap::default();
    for (b, bin) in instance.bins.iter().enumerate() {
        if !bin.buyable || admits[b * words..(b + 1) * words].iter().all(|&w| w == 0) {
            continue;
        }
        groups.entry((index.cells.of_bin[b], index.scopes[b], &index.varieties[b])).or_default().push(b);
    }
    let mut kept = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by(|&a, &b| {
            let (x, y) = (&instance.bins[a], &instance.bins[b]);
            (x.price, &y.capacity, x.supply, a).cmp(&(y.price, &x.capacity, y.supply, b))
        });
        let mut front: Vec<usize> = Vec::new();
        for b in group {
            let replaced = front.iter().any(|&f| {
                holds_as_much(&instance.bins[f], &instance.bins[b], &total)
                    && (0..words).all(|w| admits[b * words + w] & !admits[f * words + w] == 0)
                    && draws_no_more(&instance.bins[f], &instance.bins[b])
            });
            if !replaced {
                front.push(b);
            }
        }
        kept.extend(front);
    }
    kept.sort_unstable();
    kept
}

fn used_admissions(instance: &Instance) -> Vec<usize> {
    let waiting = instance.shapes.iter().filter(|s| s.count > 0);
    let mut used: Vec<usize> = waiting.flat_map(|s| s.tiers.iter().map(|t| t.admission)).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// All that waits, per dimension: nobody needs a bin to hold more.
fn needed(instance: &Instance) -> Vec<i64> {
    let mut total = vec![0_i64; instance.dims];
    for s in &instance.shapes {
        for (t, d) in total.iter_mut().zip(&s.demand) {
            *t = t.saturating_add(d.saturating_mul(i64::from(s.count)));
        }
    }
    total
}

fn holds_as_much(this: &Bin, other: &Bin, total: &[i64]) -> bool {
    this.capacity.iter().zip(&other.capacity).zip(total).all(|((t, o), need)| t >= o || t >= need)
}

fn draws_no_more(this: &Bin, other: &Bin) -> bool {
    (this.supply.is_none() || this.supply == other.supply)
        && this
            .limit_use
            .iter()
            .all(|&(l, amount)| amount == 0 || other.limit_use.iter().any(|&(k, more)| k == l && more >= amount))
}
