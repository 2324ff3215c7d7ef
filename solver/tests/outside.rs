//! Plans from outside, and answers that are overdue from the start.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#[path = "support/families.rs"]
mod families;

use families::{Family, generate};
use millwright_solver::check;
use millwright_solver::engine::{Candidate, Method, Options, solve};
use std::time::Duration;

const FAMILIES: [Family; 3] = [Family::Free, Family::Constrained, Family::Five];

#[test]
fn a_better_plan_from_outside_is_kept_with_its_source() {
    for family in FAMILIES {
        let instance = generate(family, 300, 4, false);
        let searched = Options { iterations: Some(12), ..Options::default() };
        let good = solve(&instance, &searched, &|| Duration::ZERO).unwrap().plan;
        let candidates = vec![Candidate { plan: good.clone(), source: "outside" }];
        let greedy = Options { method: Method::Greedy, iterations: Some(0), candidates, ..Options::default() };
        let out = solve(&instance, &greedy, &|| Duration::ZERO).unwrap();
        assert_eq!((out.plan, out.source), (good, "outside"), "{family:?}");
    }
}

#[test]
fn a_broken_plan_from_outside_is_passed_over() {
    let instance = generate(Family::Free, 200, 4, false);
    let options = Options { iterations: Some(4), ..Options::default() };
    let want = solve(&instance, &options, &|| Duration::ZERO).unwrap();
    let mut broken = want.plan.clone();
    broken.bought.pop();
    let candidates = vec![Candidate { plan: broken, source: "outside" }];
    let out = solve(&instance, &Options { candidates, ..options }, &|| Duration::ZERO).unwrap();
    assert_eq!((out.plan, out.source), (want.plan, want.source));
}

#[test]
fn an_answer_that_is_overdue_serves_everybody() {
    for family in FAMILIES {
        for spot in [false, true] {
            let instance = generate(family, 900, 2, spot);
            let options = Options { deadline: Some(Duration::ZERO), ..Options::default() };
            let out = solve(&instance, &options, &|| Duration::from_secs(9)).unwrap();
            check::plan(&instance, &out.plan).unwrap();
            assert_eq!(out.plan.unserved_pods(), 0, "{family:?}");
            assert!(out.bound <= out.plan.bought_cost(&instance));
        }
    }
}
