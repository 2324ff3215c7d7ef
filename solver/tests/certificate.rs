//! Bounds on instances of a size where rounding and degenerate relaxations
//! show, and on degenerate ones.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/families.rs"]
mod families;

use families::{Family, generate};
use fixedbitset::FixedBitSet;
use millwright_solver::bound::{Certifier, Round, Served};
use millwright_solver::certificate::{Certificate, Rounding};
use millwright_solver::check::{self, BrokenProof};
use millwright_solver::engine::{Method, Options, solve};
use millwright_solver::instance::*;
use std::time::Duration;

fn everybody(instance: &Instance) -> Vec<Served> {
    instance.shapes.iter().enumerate().map(|(s, x)| (s, 0, x.count)).collect()
}

#[test]
fn what_is_proven_is_what_was_estimated() {
    for (family, pods, spot) in [
        (Family::Free, 50_000, false),
        (Family::Constrained, 10_000, false),
        (Family::Constrained, 10_000, true),
        (Family::Five, 2_000, false),
    ] {
        let instance = generate(family, pods, 1, spot);
        let mut c = Certifier::new(&instance, &everybody(&instance));
        let fluid = c.fluid();
        assert!(fluid as f64 >= c.estimate() * 1e6 * (1.0 - 1e-6), "{family:?}: {fluid} of {}", c.estimate());
        for _ in 0..2 {
            c.round(&|| false);
        }
        let estimate = c.estimate() * 1e6;
        let proven = c.best().0;
        assert!(proven >= fluid, "{family:?}: {proven} after {fluid}");
        assert!(proven as f64 >= estimate * (1.0 - 1e-6), "{family:?}: {proven} of {estimate}");
    }
}

#[test]
fn no_time_still_leaves_the_fluid_bound() {
    let instance = generate(Family::Constrained, 3_000, 2, true);
    let options = Options { deadline: Some(Duration::ZERO), ..Options::default() };
    let outcome = solve(&instance, &options, &|| Duration::from_secs(3600)).unwrap();
    let mut c = Certifier::for_plan(&instance, &outcome.plan);
    let fluid = c.fluid();
    assert!(fluid > 0 && outcome.bound >= fluid, "{} for {fluid}", outcome.bound);
    assert_eq!(check::certificate(&instance, &outcome.plan, &outcome.certificate), Ok(outcome.bound));
    assert_eq!(c.round(&|| true), Round::Stopped);
    assert_eq!(c.best().0, fluid);
}

/// One shape, bins of (room, price).
fn plain(count: u32, demand: Vec<i64>, bins: &[(Vec<i64>, Micros)]) -> Instance {
    let mut open = FixedBitSet::with_capacity(bins.len());
    for (b, (room, _)) in bins.iter().enumerate() {
        open.set(b, demand.iter().zip(room).all(|(r, a)| r <= a));
    }
    let bin = |(capacity, price): &(Vec<i64>, Micros)| Bin {
        capacity: capacity.clone(),
        price: *price,
        domain: vec![],
        limit_use: vec![],
        supply: None,
        buyable: true,
        in_bound: true,
    };
    Instance {
        dims: demand.len(),
        bins: bins.iter().map(bin).collect(),
        admissions: vec![Admission { bins: open, nodes: FixedBitSet::new() }],
        shapes: vec![Shape { demand, count, priority: 0, tiers: vec![Tier { admission: 0, waived: vec![] }] }],
        ..Instance::default()
    }
}

#[test]
fn without_bins_the_bound_is_nothing_and_proven() {
    let instance = plain(7, vec![1], &[]);
    for method in [Method::Auto, Method::Greedy] {
        let options = Options { method, iterations: Some(3), ..Options::default() };
        let outcome = solve(&instance, &options, &|| Duration::ZERO).unwrap();
        assert_eq!((outcome.bound, outcome.plan.unserved.clone()), (0, vec![(0, 7)]));
        assert_eq!(check::certificate(&instance, &outcome.plan, &outcome.certificate), Ok(0));
    }
}

#[test]
fn counts_as_large_as_they_get_are_bounded() {
    let bins = [(vec![4000, 16 << 20], 200_000), (vec![8000, 32 << 20], 390_000)];
    for count in [u32::MAX, u32::MAX - 1, 3_000_000_000] {
        let instance = plain(count, vec![1000, 4 << 20], &bins);
        let mut c = Certifier::new(&instance, &everybody(&instance));
        let bound = c.fluid();
        let optimum = i64::from(count) * 390_000 / 8;
        assert!(bound <= optimum && bound as f64 >= optimum as f64 * (1.0 - 1e-6), "{bound} of {optimum}");
        for _ in 0..3 {
            c.round(&|| false);
        }
        assert!(c.best().0 >= bound && c.best().0 <= optimum + 390_000);
    }
}

#[test]
fn a_bin_for_nobody_does_not_break_the_proof() {
    // The second bin has more room in what the first is priced by, for less,
    // and admits nobody.
    let instance = plain(100, vec![1000, 10], &[(vec![4000, 100], 200_000), (vec![40_000, 5], 10_000)]);
    let mut c = Certifier::new(&instance, &everybody(&instance));
    assert!(c.fluid() >= 4_999_990, "{}", c.best().0);
}

/// Three pods of a core and four of half a core, bins of 1.4 cores: two whole
/// halves each, so five bins; liquid pods fill four.
fn halves() -> Instance {
    let mut instance = plain(4, vec![500], &[(vec![1400], 1_000_000)]);
    instance.shapes.push(Shape { demand: vec![1000], count: 3, ..instance.shapes[0].clone() });
    instance
}

#[test]
fn whole_units_prove_what_liquid_pods_cannot() {
    let instance = halves();
    let mut c = Certifier::new(&instance, &everybody(&instance));
    assert!(c.fluid() < 4_000_000);
    while c.round(&|| false) != Round::Converged {}
    assert!(c.best().0 >= 4_999_990, "{}", c.best().0);
    assert_eq!(c.best().1.roundings, [Rounding { dim: 0, unit: 500 }]);
}

#[test]
fn whole_units_are_counted_anew_by_the_check() {
    let instance = halves();
    let outcome = solve(&instance, &Options { iterations: Some(20), ..Options::default() }, &|| Duration::ZERO);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.plan.bought.len(), 5);
    let judge = |change: &dyn Fn(&mut Certificate)| {
        let mut proof = outcome.certificate.clone();
        change(&mut proof);
        check::certificate(&instance, &outcome.plan, &proof)
    };
    assert_eq!(judge(&|_| {}), Ok(outcome.bound));
    // At a unit of 450 the bin has three, and the pods take no more of them.
    assert!(matches!(judge(&|p| p.roundings[0].unit = 450), Err(BrokenProof::Bin { .. })));
    assert!(matches!(judge(&|p| p.roundings[0].unit = 0), Err(BrokenProof::Unit { .. })));
    assert!(matches!(judge(&|p| p.roundings[0].unit = -500), Err(BrokenProof::Unit { .. })));
    assert!(matches!(judge(&|p| p.roundings[0].dim = 1), Err(BrokenProof::Reference { .. })));
    assert!(matches!(judge(&|p| p.roundings.clear()), Err(BrokenProof::Length { .. })));
}
