//! First fit serves everybody where everybody can be served.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#[path = "support/families.rs"]
mod families;

use families::{Family, generate};
use millwright_solver::engine::{Options, solve};

#[test]
fn every_pod_of_every_family_has_a_place() {
    for family in [Family::Free, Family::Constrained, Family::Five] {
        let instance = generate(family, 500, 7, false);
        let options = Options { iterations: Some(3), ..Options::default() };
        let out = solve(&instance, &options, &|| std::time::Duration::ZERO).unwrap();
        assert_eq!(out.plan.unserved_pods(), 0, "{family:?}");
        let placed: u64 = out.plan.bought.iter().flat_map(|n| &n.contents).map(|&(_, count)| u64::from(count)).sum();
        assert_eq!(placed, instance.pods(), "{family:?}");
    }
}
