//! Packing with like cells made one, and the way back.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#[path = "support/families.rs"]
mod families;

use families::{Family, generate};
use millwright_solver::arrival::Index;
use millwright_solver::engine::Problem;
use millwright_solver::search::Correction;
use millwright_solver::search::fold::Fold;
use millwright_solver::search::model::fits;

/// Every unit is packed or left exactly once, where its gate and the room
/// let it be, and the price stays near that of the folded packing.
#[test]
fn unfolding_keeps_every_unit_where_it_may_be() {
    for seed in 0..4 {
        let instance = generate(Family::Five, 1_500, seed, false);
        let index = Index::new(&instance);
        let problem = Problem::new(&instance, &index);
        let cast = problem.cast(&problem.everyone());
        let full = &cast.model;
        let fold = Fold::new(full).expect("the five kinds have like cells");
        assert!(fold.model.lanes.len() < full.lanes.len() && fold.model.offers.len() < full.offers.len());
        let mut correction = Correction::new(&fold.model, seed);
        for _ in 0..4 {
            assert!(correction.round(&|| false));
        }
        let (score, packed) = correction.best().unwrap();
        let out = fold.unfold(full, packed, correction.values()).unwrap();
        let mut seen = out.left.clone();
        for node in &out.bought {
            let offer = &full.offers[node.offer as usize];
            let mut used = vec![0; full.dims];
            for &(slot, n) in &node.contents {
                seen[slot as usize] += n * node.copies;
                let lane = &full.lanes[full.slots[slot as usize].lane as usize];
                assert!(full.gates[lane.gate].offers.contains(node.offer as usize));
                used.iter_mut().zip(&lane.demand).for_each(|(u, d)| *u += d * i64::from(n));
            }
            assert!(fits(&used, &offer.room));
        }
        let want: Vec<u32> = full.slots.iter().map(|s| s.count).collect();
        assert_eq!(seen, want, "seed {seed}");
        let cost = out.score(full).cost;
        assert!(cost as f64 <= score.cost as f64 * 1.1, "seed {seed}: {cost} for {}", score.cost);
    }
}

/// Prices that differ between zones leave nothing to fold.
#[test]
fn cells_with_prices_of_their_own_stay_apart() {
    let instance = generate(Family::Free, 300, 1, true);
    let index = Index::new(&instance);
    let problem = Problem::new(&instance, &index);
    let cast = problem.cast(&problem.everyone());
    assert!(Fold::new(&cast.model).is_none());
}
