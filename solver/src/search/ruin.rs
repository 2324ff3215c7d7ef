//! Ruin and recreate: take a few nodes apart and buy anew for their contents.

use super::budget::Budget;
use super::downsize;
use super::greedy::{Greedy, Guide};
use super::model::Model;
use super::solution::{Bought, Solution};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Most nodes taken apart at once.
const NODES: usize = 10;

/// `tries` attempts to make `solution` cheaper. True if one succeeded.
pub fn ruin(
    model: &Model,
    solution: &mut Solution,
    tries: u32,
    greedy: &mut Greedy,
    guide: &Guide,
    rng: &mut ChaCha8Rng,
) -> bool {
    let mut budget = Budget::new(model.instance);
    solution.bought.iter().for_each(|b| budget.take(model, b.offer, b.copies));
    let waste = |b: &Bought| {
        let lane = |s: u32| model.slots[s as usize].lane as usize;
        let worth: f64 = b.contents.iter().map(|&(s, n)| guide.value[lane(s)] * f64::from(n)).sum();
        let price = model.offers[b.offer as usize].price as f64;
        (price - worth) / price.max(1.0)
    };
    let mut better = false;
    for _ in 0..tries {
        if solution.bought.len() < 2 || (guide.stop)() {
            break;
        }
        let some = rng.random_range(2..=NODES.min(solution.bought.len()));
        let mut chosen: Vec<usize> = Vec::with_capacity(some);
        while chosen.len() < some {
            // Of a few picked at random the most wasteful one, mostly.
            let mut pick = rng.random_range(0..solution.bought.len());
            if rng.random_bool(0.6) {
                for _ in 0..3 {
                    let other = rng.random_range(0..solution.bought.len());
                    if waste(&solution.bought[other]) > waste(&solution.bought[pick]) {
                        pick = other;
                    }
                }
            }
            if chosen.contains(&pick) {
                break;
            }
            chosen.push(pick);
        }
        let mut left = vec![0; model.slots.len()];
        let mut before = 0;
        for &c in &chosen {
            let b = &solution.bought[c];
            before += model.offers[b.offer as usize].price;
            b.contents.iter().for_each(|&(s, n)| left[s as usize] += n);
            budget.give(model, b.offer, 1);
        }
        let guide = Guide { spares: false, ..guide.clone() };
        let made = greedy.run(model, &left, &mut budget, &guide).filter(|m| m.left.iter().all(|&n| n == 0));
        let after = made.map(|mut made| {
            downsize(model, &mut made, &mut budget);
            let cost: i64 =
                made.bought.iter().map(|b| model.offers[b.offer as usize].price * i64::from(b.copies)).sum();
            (cost, made)
        });
        match after {
            Some((cost, made)) if cost < before || (cost == before && rng.random_bool(0.5)) => {
                better |= cost < before;
                for &c in &chosen {
                    solution.bought[c].copies -= 1;
                }
                solution.bought.retain(|b| b.copies > 0);
                solution.bought.extend(made.bought);
            }
            _ => {
                // Whatever was taken is given back, and the old nodes stay.
                budget = Budget::new(model.instance);
                solution.bought.iter().for_each(|b| budget.take(model, b.offer, b.copies));
            }
        }
    }
    better
}
