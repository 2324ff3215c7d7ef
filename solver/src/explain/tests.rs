use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{Cover, smallest_cover};

fn set(n: usize, ones: impl IntoIterator<Item = usize>) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(n);
    ones.into_iter().for_each(|i| set.insert(i));
    set
}

/// All subsets of the reasons, the smallest that cover.
fn naive(reasons: &[FixedBitSet], spots: &FixedBitSet) -> Option<u32> {
    (0..1_u32 << reasons.len())
        .filter(|chosen| {
            spots.ones().all(|s| (0..reasons.len()).any(|r| chosen >> r & 1 == 1 && reasons[r].contains(s)))
        })
        .map(u32::count_ones)
        .min()
}

#[test]
fn covers_are_as_small_as_brute_force_says() {
    let mut open = 0;
    for seed in 0..400 {
        let mut rng = StdRng::seed_from_u64(seed);
        let n = rng.random_range(0..40);
        let density = rng.random_range(0.1..0.9);
        let reasons: Vec<FixedBitSet> = (0..rng.random_range(0..11))
            .map(|_| set(n, (0..n).filter(|_| rng.random_bool(density)).collect::<Vec<_>>()))
            .collect();
        let spots = set(n, (0..n).filter(|_| rng.random_bool(0.8)).collect::<Vec<_>>());
        match smallest_cover(&reasons, &spots) {
            Cover::Reasons(chosen) => {
                let all: BTreeSet<usize> = chosen.iter().flat_map(|&r| reasons[r].ones()).collect();
                assert!(spots.ones().all(|s| all.contains(&s)), "seed {seed}: {chosen:?} leaves a spot");
                assert_eq!(naive(&reasons, &spots), Some(chosen.len() as u32), "seed {seed}: {chosen:?}");
            }
            Cover::Open(left) => {
                open += 1;
                assert_eq!(naive(&reasons, &spots), None, "seed {seed}");
                assert!(left.ones().all(|s| reasons.iter().all(|r| !r.contains(s))));
            }
        }
    }
    assert!((50..350).contains(&open), "{open} of 400 were open");
}

#[test]
fn the_numbering_of_spots_changes_nothing() {
    for seed in 0..50 {
        let mut rng = StdRng::seed_from_u64(seed);
        let n = 30;
        let members: Vec<Vec<usize>> = (0..8).map(|_| (0..n).filter(|_| rng.random_bool(0.6)).collect()).collect();
        let reasons = |f: &dyn Fn(usize) -> usize| -> Vec<FixedBitSet> {
            members.iter().map(|m| set(n, m.iter().map(|&i| f(i)))).collect()
        };
        let every = set(n, 0..n);
        let plain = smallest_cover(&reasons(&|i| i), &every);
        let turned = smallest_cover(&reasons(&|i| (i * 7 + 3) % n), &every);
        if let (Cover::Reasons(a), Cover::Reasons(b)) = (plain, turned) {
            assert_eq!(a, b, "seed {seed}");
        }
    }
}

#[test]
fn no_spot_needs_no_reason() {
    assert_eq!(smallest_cover(&[], &FixedBitSet::new()), Cover::Reasons(Vec::new()));
    assert_eq!(smallest_cover(&[set(3, [1])], &set(3, [0, 1])), Cover::Open(set(3, [0])));
}
