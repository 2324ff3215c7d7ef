//! Everything random. Each part of the simulator throws its own dice, so a
//! throw more in one of them changes nothing in the others.

use jiff::SignedDuration;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A stream of random numbers that one seed decides.
#[derive(Clone, Debug)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream of `part` in the run of `seed`.
    pub fn new(seed: u64, part: &str) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // FNV-1a, so that streams do not depend on the standard library's hasher.
        let stream =
            part.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        rng.set_stream(stream);
        Self(rng)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.random_range(0.0..1.0) < probability
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.random_range(low..=high.max(low))
    }

    pub fn millis(&mut self, low: i64, high: i64) -> SignedDuration {
        SignedDuration::from_millis(self.between(low, high))
    }

    /// An entry; `None` of an empty list.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        if list.is_empty() { None } else { list.get(self.0.random_range(0..list.len())) }
    }

    /// One of some constants.
    pub fn of<T: Copy, const N: usize>(&mut self, list: [T; N]) -> T {
        list[self.0.random_range(0..N)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_a_seed_are_equal_and_those_of_parts_differ() {
        let throw = |seed, part| {
            let mut dice = Dice::new(seed, part);
            (0..8).map(|_| dice.between(0, 1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(throw(7, "a"), throw(7, "a"));
        assert_ne!(throw(7, "a"), throw(7, "b"));
        assert_ne!(throw(7, "a"), throw(8, "a"));
    }
}
