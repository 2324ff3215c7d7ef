use std::collections::BTreeSet;

use super::broken::{Broken, Spot};
use super::place::View;
use crate::instance::Instance;
use crate::plan::{Contents, Plan};

/// Every waiting pod has a place or is stated unserved, exactly once.
pub(super) fn counts(instance: &Instance, plan: &Plan, broken: &mut Vec<Broken>) {
    let mut want: Vec<u64> = instance.shapes.iter().map(|s| u64::from(s.count)).collect();
    for &n in &plan.removed {
        for &(s, c) in &instance.nodes[n].residents {
            want[s] += u64::from(c);
        }
    }
    let mut got = vec![0u64; want.len()];
    let lists = plan.bought.iter().map(|n| &n.contents).chain(plan.placed.iter().map(|(_, c)| c));
    for &(s, c) in lists.chain([&plan.unserved]).flatten() {
        got[s] += u64::from(c);
    }
    for (shape, (&want, &got)) in want.iter().zip(&got).enumerate() {
        if want != got {
            broken.push(Broken::Count { shape, want, got });
        }
    }
}

/// Nothing holds more than it has room for.
pub(super) fn capacity(instance: &Instance, plan: &Plan, broken: &mut Vec<Broken>) {
    let mut check = |spot: Spot, room: &[i64], contents: &Contents| {
        for (dim, &room) in room.iter().enumerate() {
            let used: i128 =
                contents.iter().map(|&(s, c)| i128::from(instance.shapes[s].demand[dim]) * i128::from(c)).sum();
            if used > i128::from(room) {
                broken.push(Broken::Overfull { spot, dim, used, room });
            }
        }
    };
    for (i, new) in plan.bought.iter().enumerate() {
        check(Spot::Bought(i), &instance.bins[new.bin].capacity, &new.contents);
    }
    for (n, contents) in &plan.placed {
        check(Spot::Node(*n), &instance.nodes[*n].free, contents);
    }
}

/// Limits and supplies. What is over already is no obstacle to a plan that
/// takes nothing.
pub(super) fn draws(instance: &Instance, plan: &Plan, broken: &mut Vec<Broken>) {
    let mut taken = vec![0i128; instance.limits.len()];
    let mut freed = taken.clone();
    let mut drawn = vec![0i128; instance.supplies.len()];
    let mut returned = drawn.clone();
    for new in &plan.bought {
        let bin = &instance.bins[new.bin];
        for &(l, a) in &bin.limit_use {
            taken[l] += i128::from(a);
        }
        if let Some(s) = bin.supply {
            drawn[s] += 1;
        }
    }
    for &n in &plan.removed {
        let node = &instance.nodes[n];
        for &(l, a) in &node.limit_use {
            freed[l] += i128::from(a);
        }
        if let Some(s) = node.supply {
            returned[s] += 1;
        }
    }
    for (limit, l) in instance.limits.iter().enumerate() {
        let used = taken[limit] - freed[limit];
        if taken[limit] > 0 && used > i128::from(l.max) {
            broken.push(Broken::Limit { limit, used, max: l.max });
        }
    }
    for (supply, s) in instance.supplies.iter().enumerate() {
        let used = drawn[supply] - returned[supply];
        if drawn[supply] > 0 && used > i128::from(s.count) {
            broken.push(Broken::Supply { supply, used, count: s.count });
        }
    }
}

/// Each launch leaves the choice it must leave.
pub(super) fn varieties(instance: &Instance, view: &View, broken: &mut Vec<Broken>) {
    for place in &view.places {
        let (Spot::Bought(bought), Some(bin)) = (place.spot, place.bin) else { continue };
        let mut used = vec![0i128; instance.dims];
        for p in &place.pods {
            for (u, &d) in used.iter_mut().zip(&instance.shapes[p.shape].demand) {
                *u += i128::from(d) * i128::from(p.count);
            }
        }
        for (variety, v) in instance.varieties.iter().enumerate() {
            if v.bins.binary_search(&bin).is_err() {
                continue;
            }
            let hosts = |b: usize| {
                used.iter().zip(&instance.bins[b].capacity).all(|(&u, &c)| u <= i128::from(c))
                    && place
                        .pods
                        .iter()
                        .all(|p| instance.admissions[instance.shapes[p.shape].tiers[p.tier].admission].bins.contains(b))
            };
            let values: BTreeSet<u32> =
                v.bins.iter().zip(&v.value).filter(|&(&b, _)| hosts(b)).map(|(_, &value)| value).collect();
            if values.len() < v.least as usize {
                broken.push(Broken::Variety { bought, variety, left: values.len(), least: v.least });
            }
        }
    }
}
