//! Small random clusters in which every rule comes up.

mod pods;
mod world;

use millwright_models::catalog::{Catalog, file};
use millwright_models::lower::Settings;
use millwright_rig::legality::Case;
use rand::RngExt;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::written;

/// Choices of one cluster.
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// True in so many of a hundred cases.
    fn chance(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100) < percent
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0.random_range(0..n)
    }

    fn between(&mut self, from: u32, to: u32) -> u32 {
        self.0.random_range(from..=to)
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        *all.choose(&mut self.0).unwrap()
    }
}

/// The objects and the catalogue of a seed, as text.
pub fn files(seed: u64) -> (String, String) {
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
    let mut objects = world::objects(&mut dice);
    objects.extend(pods::objects(&mut dice));
    (objects.iter().map(|o| format!("---\n{o}\n")).collect(), catalog(&mut dice))
}

/// The cluster of a seed.
pub fn case(seed: u64) -> Case {
    let (objects, catalog) = files(seed);
    planned(format!("random seed {seed}"), objects, file::parse("catalog", &catalog, &|_| None).unwrap())
}

/// A cluster, and how all of them are planned.
pub fn planned(name: String, objects: String, catalog: Catalog) -> Case {
    Case { name, objects, catalog, settings: Settings { spot_types: 1, ..Settings::default() }, rounds: 20 }
}

/// The lab's, with some offerings gone and some types that take few volumes.
fn catalog(dice: &mut Dice) -> String {
    let mut all = written::lab();
    for kind in all["types"].as_array_mut().unwrap() {
        for offering in kind["offerings"].as_array_mut().unwrap() {
            if dice.chance(10) {
                offering["available"] = json!(false);
            }
        }
        if dice.chance(30) {
            kind["volumeAttachments"] = json!(dice.between(2, 6));
        }
    }
    all.to_string()
}

fn zone(dice: &mut Dice) -> Value {
    json!(dice.pick(&["z1", "z2", "z3"]))
}
