//! Whatever the rules, what leaves the engine passes the independent check.
#[path = "support/random.rs"]
mod random;

use millwright_solver::arrival::Index;
use millwright_solver::check;
use millwright_solver::engine::{Merit, Method, Options, solve};
use millwright_solver::firstfit::first_fit;
use rand::{SeedableRng, rngs::StdRng};
use std::time::Duration;

fn options(method: Method) -> Options {
    Options { iterations: Some(6), method, threads: 1, ..Options::default() }
}

#[test]
fn first_fit_breaks_no_rule() {
    for seed in 0..4000 {
        let instance = random::random_instance(&mut StdRng::seed_from_u64(seed), 6, 6);
        instance.validate().unwrap();
        let plan = first_fit(&instance, &Index::new(&instance));
        if let Err(broken) = check::plan(&instance, &plan) {
            panic!("seed {seed}: {broken:?}\n{plan:?}");
        }
    }
}

#[test]
fn search_breaks_no_rule_and_beats_first_fit() {
    let mut replayed = 0;
    for seed in 0..3000 {
        let instance = random::random_instance(&mut StdRng::seed_from_u64(seed), 6, 8);
        let out = solve(&instance, &options(Method::Auto), &|| Duration::ZERO).unwrap();
        check::plan(&instance, &out.plan).unwrap_or_else(|b| panic!("seed {seed}: {b:?}"));
        replayed += u32::from(out.source == "value-correction-replayed");
        let first = first_fit(&instance, &Index::new(&instance));
        assert!(Merit::of(&instance, &out.plan) <= Merit::of(&instance, &first), "seed {seed}");
    }
    assert!(replayed < 150, "{replayed} packings had to be replayed");
}
