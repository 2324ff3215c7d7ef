use crate::arrival::{Arrivals, varied};
use crate::instance::Micros;
use crate::plan::{Contents, NewNode, Plan};
use std::collections::BTreeMap;

/// Turns what has arrived into a plan, every new node on the cheapest bin of
/// its cell that can hold what it got.
pub fn finish(mut state: Arrivals) -> Plan {
    let instance = state.instance;
    let mut plan = Plan::default();
    let mut served = vec![0_u32; instance.shapes.len()];
    let mut demoted: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let by_price = by_price(&state);
    for p in 0..state.places.len() {
        let contents = std::mem::take(&mut state.places[p].contents);
        if contents.is_empty() {
            continue;
        }
        let mut by_shape: BTreeMap<usize, u32> = BTreeMap::new();
        for &(s, tier, n) in &contents {
            served[s] += n;
            *by_shape.entry(s).or_default() += n;
            if tier > 0 {
                *demoted.entry((s, tier)).or_default() += n;
            }
        }
        let content: Contents = by_shape.into_iter().collect();
        match state.places[p].bin {
            Some(bin) => {
                let bin = cheapest(&mut state, &by_price, bin, p, &contents);
                plan.bought.push(NewNode { bin, contents: content });
            }
            None => plan.placed.push((p, content)),
        }
    }
    plan.bought.sort_by(|a, b| (a.bin, &a.contents).cmp(&(b.bin, &b.contents)));
    for (s, shape) in instance.shapes.iter().enumerate() {
        if shape.count > served[s] {
            plan.unserved.push((s, shape.count - served[s]));
        }
    }
    plan.demoted = demoted.into_iter().map(|((s, t), n)| (s, t, n)).collect();
    plan
}

/// Bins that may be bought, per cell, cheapest first.
fn by_price(state: &Arrivals) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); state.index.cells.len()];
    for (b, bin) in state.instance.bins.iter().enumerate().filter(|(_, b)| b.buyable) {
        out[state.index.cells.of_bin[b] as usize].push((bin.price, b));
    }
    let sorted = |mut cell: Vec<(Micros, usize)>| {
        cell.sort_unstable();
        cell.into_iter().map(|c| c.1).collect()
    };
    out.into_iter().map(sorted).collect()
}

/// The cheapest bin in the same cell for what `place` holds, within limits.
fn cheapest(
    state: &mut Arrivals,
    by_price: &[Vec<usize>],
    bin: usize,
    place: usize,
    contents: &[(usize, usize, u32)],
) -> usize {
    let instance = state.instance;
    let used: Vec<i64> =
        instance.bins[bin].capacity.iter().zip(&state.places[place].room).map(|(c, r)| c - r).collect();
    let admissions: Vec<usize> = contents.iter().map(|&(s, t, _)| instance.shapes[s].tiers[t].admission).collect();
    let cell = &by_price[state.index.cells.of_bin[bin] as usize];
    shift_draws(state, bin, 1);
    let cheaper = cell.iter().copied().take_while(|&b| instance.bins[b].price < instance.bins[bin].price);
    let hosts = |b: usize| {
        instance.bins[b].capacity.iter().zip(&used).all(|(c, u)| c >= u)
            && admissions.iter().all(|&a| instance.admissions[a].bins.contains(b))
            && state.index.scopes[b] == state.index.scopes[bin]
            && state.buyable(b)
            && varied(instance, state.index, b, &used, &admissions)
    };
    let best = cheaper.into_iter().find(|&b| hosts(b)).unwrap_or(bin);
    shift_draws(state, best, -1);
    best
}

fn shift_draws(state: &mut Arrivals, bin: usize, by: i64) {
    let b = &state.instance.bins[bin];
    for &(l, amount) in &b.limit_use {
        state.budget[l] += amount * by;
    }
    if let Some(s) = b.supply {
        state.supply[s] = state.supply[s].saturating_add_signed(by as i32);
    }
}
