//! Instances put together of two that nothing couples: the whole is worth
//! what its parts are.
#![allow(clippy::unwrap_used)]
#[path = "support/tiny.rs"]
mod tiny;

use millwright_solver::check;
use millwright_solver::engine::{Options, solve};
use millwright_solver::instance::*;
use std::time::Duration;

const CASES: u64 = 80;

/// Both in one, the second after the first; their zones are different ones.
fn joined(a: &Instance, b: &Instance) -> Instance {
    let mut out = a.clone();
    let (bins, nodes) = (a.bins.len() + b.bins.len(), a.nodes.len() + b.nodes.len());
    out.domains = vec![a.domains[0] + b.domains[0]];
    out.admissions.iter_mut().for_each(|x| {
        x.bins.grow(bins);
        x.nodes.grow(nodes);
    });
    out.rules.iter_mut().for_each(|r| {
        if let RuleKind::Spread(s) = &mut r.kind {
            s.scope.bins.grow(bins);
            s.scope.nodes.grow(nodes);
        }
    });
    let shift = |set: &fixedbitset::FixedBitSet, by: usize, len: usize| {
        let mut moved = fixedbitset::FixedBitSet::with_capacity(len);
        set.ones().for_each(|x| moved.insert(x + by));
        moved
    };
    let zone = |d: &mut Vec<Option<u32>>| d.iter_mut().flatten().for_each(|d| *d += a.domains[0]);
    for mut shape in b.shapes.clone() {
        for tier in &mut shape.tiers {
            tier.admission += a.admissions.len();
            tier.waived.iter_mut().for_each(|w| *w += a.rules.len());
        }
        out.shapes.push(shape);
    }
    for x in &b.admissions {
        out.admissions
            .push(Admission { bins: shift(&x.bins, a.bins.len(), bins), nodes: shift(&x.nodes, a.nodes.len(), nodes) });
    }
    for mut bin in b.bins.clone() {
        zone(&mut bin.domain);
        bin.limit_use.iter_mut().for_each(|l| l.0 += a.limits.len());
        bin.supply.iter_mut().for_each(|s| *s += a.supplies.len());
        out.bins.push(bin);
    }
    for mut node in b.nodes.clone() {
        zone(&mut node.domain);
        node.residents.iter_mut().for_each(|r| r.0 += a.shapes.len());
        out.nodes.push(node);
    }
    for mut rule in b.rules.clone() {
        rule.owners.iter_mut().chain(&mut rule.selected).for_each(|s| *s += a.shapes.len());
        rule.present.iter_mut().chain(&mut rule.present_owners).for_each(|p| p.0 += a.nodes.len());
        if let RuleKind::Spread(s) = &mut rule.kind {
            s.eligible.iter_mut().for_each(|d| *d += a.domains[0]);
            s.scope.bins = shift(&s.scope.bins, a.bins.len(), bins);
            s.scope.nodes = shift(&s.scope.nodes, a.nodes.len(), nodes);
        }
        out.rules.push(rule);
    }
    for mut variety in b.varieties.clone() {
        variety.bins.iter_mut().for_each(|x| *x += a.bins.len());
        out.varieties.push(variety);
    }
    out.limits.extend(b.limits.iter().cloned());
    out.supplies.extend(b.supplies.iter().cloned());
    out.validate().unwrap();
    out
}

#[test]
fn the_whole_is_worth_what_its_parts_are() {
    let (mut apart, mut proven, mut complete) = (0, 0, 0);
    for seed in 0..CASES {
        let (a, b) = (tiny::instance(2 * seed, 4), tiny::instance(2 * seed + 1, 4));
        let whole = joined(&a, &b);
        let best = |i: &Instance| {
            let plans = tiny::all_plans(i);
            plans.into_values().filter(|p| p.1).map(|p| tiny::rank(i, &p.0)).min().unwrap()
        };
        let (x, y) = (best(&a), best(&b));
        let options = Options { deadline: None, iterations: Some(30), ..Options::default() };
        let got = solve(&whole, &options, &|| Duration::ZERO).unwrap();
        assert_eq!(check::plan(&whole, &got.plan), Ok(()));
        let cost = got.plan.bought_cost(&whole);
        let waiting = |r: &(Vec<u32>, Vec<u32>, Micros, usize)| r.0.iter().sum::<u32>();
        let least = u64::from(waiting(&x) + waiting(&y));
        let alone = |i: &Instance| solve(i, &options, &|| Duration::ZERO).unwrap().plan.unserved_pods();
        let left = got.plan.unserved_pods();
        assert!(
            least <= left && left <= alone(&a) + alone(&b),
            "seed {seed}: {left} left, {least} at least, {:?}",
            got.plan
        );
        complete += usize::from(left == least);
        if got.plan.unserved.is_empty() && got.plan.demoted.is_empty() {
            assert_eq!(cost, x.2 + y.2, "seed {seed}: {:?} by {} in {whole:#?}", got.plan, got.source);
        }
        assert!(got.bound <= cost && got.claimed.is_none_or(|c| c <= cost), "seed {seed}");
        apart += usize::from(got.source == "components");
        proven += usize::from(got.bound.max(got.claimed.unwrap_or(0)) >= cost);
    }
    assert!(apart > 20, "only {apart} were solved apart");
    assert!(complete as u64 * 10 > CASES * 9, "{complete} of {CASES} serve as many as can be");
    assert!(proven as u64 * 10 > CASES * 8, "{proven} of {CASES} proven");
}
