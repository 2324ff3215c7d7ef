//! Names of new claims: `pool-xxxxx`.
//!
//! Drawn from the seed, the time and a counter, so that a run can be replayed
//! and no name comes back. Names that are taken are passed over, and the API
//! server refuses those that are taken meanwhile.

use millwright_models::world::World;

/// Letters and digits that spell no words.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// A name with its ending must remain a label's value.
const LONGEST: usize = 57;

/// Where names come from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names {
    drawn: u64,
}

impl Names {
    /// The next name for a claim of `pool` that no claim or node has.
    pub fn next(&mut self, seed: u64, pool: &str, world: &World, taken: impl Fn(&str) -> bool) -> String {
        loop {
            self.drawn += 1;
            let name = format!("{}-{}", &pool[..pool.len().min(LONGEST)], ending(seed, pool, self.drawn));
            if world.node_claim(&name).is_none() && world.node(&name).is_none() && !taken(&name) {
                return name;
            }
        }
    }
}

fn ending(seed: u64, pool: &str, number: u64) -> String {
    let mut z = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in pool.bytes() {
        z = (z ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let mut text = String::with_capacity(5);
    for _ in 0..5 {
        text.push(char::from(ALPHABET[(z % 27) as usize]));
        z /= 27;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_repeat_with_the_seed_and_differ_among_themselves() {
        let world = World::default();
        let draw = |seed| {
            let mut names = Names::default();
            (0..100).map(|_| names.next(seed, "general", &world, |_| false)).collect::<Vec<_>>()
        };
        let (once, again, other) = (draw(1), draw(1), draw(2));
        assert_eq!(once, again);
        assert_ne!(once, other);
        let distinct: std::collections::BTreeSet<&String> = once.iter().collect();
        assert_eq!(distinct.len(), 100);
        assert!(once.iter().all(|n| n.len() == "general-".len() + 5 && n.starts_with("general-")));
        let mut names = Names::default();
        assert_ne!(names.next(1, "general", &world, |n| *n == once[0]), once[0], "a name that is taken is passed over");
    }
}
