//! Ties and spreads over nodes that only the final state decides.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use fixedbitset::FixedBitSet;
use millwright_solver::engine::{Options, Outcome, solve};
use millwright_solver::instance::{Admission, Bin, Instance, Key, Node, Rule, RuleKind, Scope, Shape, Spread, Tier};

fn bin(capacity: &[i64], price: i64) -> Bin {
    Bin {
        capacity: capacity.to_vec(),
        price,
        domain: Vec::new(),
        limit_use: Vec::new(),
        supply: None,
        buyable: true,
        in_bound: true,
    }
}

fn node(free: &[i64]) -> Node {
    Node {
        free: free.to_vec(),
        domain: Vec::new(),
        residents: Vec::new(),
        price: 0,
        removal: None,
        limit_use: Vec::new(),
        supply: None,
    }
}

fn all(n: usize) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(n);
    set.insert_range(..);
    set
}

fn instance(demand: &[i64], count: u32, bins: Vec<Bin>, nodes: Vec<Node>) -> Instance {
    Instance {
        dims: demand.len(),
        shapes: vec![Shape {
            demand: demand.to_vec(),
            count,
            priority: 0,
            tiers: vec![Tier { admission: 0, waived: Vec::new() }],
        }],
        admissions: vec![Admission { bins: all(bins.len()), nodes: all(nodes.len()) }],
        bins,
        nodes,
        ..Instance::default()
    }
}

fn answer(instance: &Instance) -> Outcome {
    let options = Options { deadline: None, iterations: Some(50), ..Options::default() };
    solve(instance, &options, &|| Duration::ZERO).unwrap()
}

/// Two small nodes and one of twice the size cost the same.
#[test]
fn at_equal_cost_fewer_nodes_win() {
    let bins = vec![bin(&[7410, 13662, 54], 306_000), bin(&[15390, 26881, 230], 612_000)];
    let out = answer(&instance(&[1000, 1900, 1], 10, bins, Vec::new()));
    assert_eq!((out.plan.bought.len(), out.plan.bought[0].bin), (1, 1), "{}", out.source);
    assert_eq!(out.claimed, Some(612_000));
}

/// Each of three nodes runs one pod of the group: a fourth may join any.
#[test]
fn the_minimum_over_nodes_counts_those_that_run() {
    let bins = vec![bin(&[3500, 110], 192_000)];
    let nodes = vec![node(&[3000, 57]), node(&[3000, 57]), node(&[3000, 57])];
    let mut one = instance(&[500, 1], 1, bins, nodes);
    one.rules.push(Rule {
        key: Key::Host,
        kind: RuleKind::Spread(Spread {
            max_skew: 1,
            min_domains: 1,
            eligible: Vec::new(),
            scope: Scope { bins: all(1), nodes: all(3) },
        }),
        owners: vec![0],
        selected: vec![0],
        present: vec![(0, 1), (1, 1), (2, 1)],
        present_owners: Vec::new(),
    });
    let out = answer(&one);
    assert!(out.plan.bought.is_empty(), "{}: {:?}", out.source, out.plan);
}
