//! Whatever the rules, what leaves the engine passes the independent check.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#[path = "support/random.rs"]
mod random;

use millwright_solver::arrival::Index;
use millwright_solver::check;
use millwright_solver::engine::{Merit, Method, Options, solve};
use millwright_solver::firstfit::first_fit;
use millwright_solver::instance::{Instance, RuleKind};
use rand::{SeedableRng, rngs::StdRng};
use std::time::Duration;

/// What is needed to see why a plan is wrong.
fn describe(instance: &Instance) -> String {
    let mut out = String::new();
    for (i, r) in instance.rules.iter().enumerate() {
        out += &format!(
            "rule {i} {:?} owners {:?} selected {:?} present {:?} {:?}",
            r.key, r.owners, r.selected, r.present, r.present_owners
        );
        out += &match &r.kind {
            RuleKind::Spread(s) => {
                let (bins, nodes): (Vec<_>, Vec<_>) = (s.scope.bins.ones().collect(), s.scope.nodes.ones().collect());
                format!(
                    " skew {} least {} eligible {:?} bins {bins:?} nodes {nodes:?}\n",
                    s.max_skew, s.min_domains, s.eligible
                )
            }
            kind => format!(" {kind:?}\n"),
        };
    }
    for (i, s) in instance.shapes.iter().enumerate() {
        out += &format!("shape {i}: {} of {:?}, priority {}", s.count, s.demand, s.priority);
        for t in &s.tiers {
            let a = &instance.admissions[t.admission];
            let (bins, nodes): (Vec<_>, Vec<_>) = (a.bins.ones().collect(), a.nodes.ones().collect());
            out += &format!(" | bins {bins:?} nodes {nodes:?} waived {:?}", t.waived);
        }
        out += "\n";
    }
    for (i, b) in instance.bins.iter().enumerate() {
        out += &format!(
            "bin {i}: {:?} {} {:?} {:?} {:?} {}\n",
            b.capacity, b.price, b.domain, b.limit_use, b.supply, b.buyable
        );
    }
    for (i, n) in instance.nodes.iter().enumerate() {
        out += &format!("node {i}: {:?} {:?} residents {:?}\n", n.free, n.domain, n.residents);
    }
    out + &format!("{:?} {:?} {:?}", instance.limits, instance.supplies, instance.varieties)
}

fn options(method: Method) -> Options {
    Options { iterations: Some(6), method, threads: 1, ..Options::default() }
}

#[test]
fn first_fit_breaks_no_rule() {
    for seed in 0..1200 {
        let instance = random::random_instance(&mut StdRng::seed_from_u64(seed), 6, 6);
        instance.validate().unwrap();
        let plan = first_fit(&instance, &Index::new(&instance));
        if let Err(broken) = check::plan(&instance, &plan) {
            panic!("seed {seed}: {broken:?}\n{plan:?}\n{}", describe(&instance));
        }
    }
}

/// Solves, checks, compares with first fit; tells whether the packing had to
/// be replayed to become legal.
fn judge(instance: &Instance, seed: u64) -> bool {
    let out = solve(instance, &options(Method::Auto), &|| Duration::ZERO).unwrap();
    check::plan(instance, &out.plan).unwrap_or_else(|b| panic!("seed {seed}: {b:?}"));
    let first = first_fit(instance, &Index::new(instance));
    if check::plan(instance, &first).is_err() {
        // Only where tiers mix so that the checker cannot tell them apart.
        assert!(!first.demoted.is_empty(), "seed {seed}: {first:?}\n{}", describe(instance));
        assert_ne!(out.source, "nothing", "seed {seed}\n{}", describe(instance));
        return false;
    }
    let (ours, theirs) = (Merit::of(instance, &out.plan), Merit::of(instance, &first));
    assert!(ours <= theirs, "seed {seed}: {ours:?} against {theirs:?}\n{:?}\n{}", out.plan, describe(instance));
    out.source.ends_with("-replayed")
}

#[test]
fn small_plans_break_no_rule_and_beat_first_fit() {
    for seed in 0..60 {
        judge(&random::random_instance(&mut StdRng::seed_from_u64(seed), 6, 8), seed);
    }
}

#[test]
fn searched_plans_break_no_rule_and_beat_first_fit() {
    let (mut searched, mut replayed) = (0, 0);
    for seed in 10_000..10_400 {
        let instance = random::random_instance(&mut StdRng::seed_from_u64(seed), 8, 120);
        // Smaller ones are answered exactly.
        if instance.pods() > millwright_solver::exact::PODS {
            searched += 1;
            replayed += u32::from(judge(&instance, seed));
        }
    }
    assert!(searched > 100, "{searched} searched");
    assert!(replayed * 10 < searched, "{replayed} of {searched} packings had to be replayed");
}
