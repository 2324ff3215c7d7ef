use super::budget::{Budget, varied};
use super::model::{Model, fits};
use super::solution::Solution;

/// Moves every node to the cheapest offer that hosts its contents.
pub fn downsize(model: &Model, solution: &mut Solution, budget: &mut Budget) {
    let mut used = vec![0_i64; model.dims];
    for node in &mut solution.bought {
        used.fill(0);
        for &(slot, n) in &node.contents {
            let lane = &model.lanes[model.slots[slot as usize].lane as usize];
            for (u, d) in used.iter_mut().zip(&lane.demand) {
                *u += d * i64::from(n);
            }
        }
        if let Some(o) = cheapest(model, &used, &node.contents, node.offer, node.copies, budget) {
            budget.give(model, node.offer, node.copies);
            budget.take(model, o, node.copies);
            node.offer = o;
        }
    }
}

/// The first offer cheaper than `than` that hosts `contents` using `used`.
pub fn cheapest(
    model: &Model,
    used: &[i64],
    contents: &[(u32, u32)],
    than: u32,
    copies: u32,
    budget: &Budget,
) -> Option<u32> {
    let limit = model.offers.get(than as usize).map_or(i64::MAX, |o| o.price);
    let here = model.offers.get(than as usize).map(|o| o.bin);
    for (o, offer) in model.offers.iter().enumerate() {
        if offer.price >= limit {
            return None;
        }
        if fits(used, &offer.room)
            && here.is_none_or(|h| model.index.scopes[h] == model.index.scopes[offer.bin])
            && contents.iter().all(|c| {
                let lane = &model.lanes[model.slots[c.0 as usize].lane as usize];
                model.gates[lane.gate].offers.contains(o)
            })
            && budget.left(model, o as u32) >= copies
            && varied(model, o as u32, contents)
        {
            return Some(o as u32);
        }
    }
    None
}
