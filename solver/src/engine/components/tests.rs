use super::*;
use crate::instance::*;

/// Two zones with one bin and one removable node each; a shape pinned to each
/// zone, three pods waiting and one running.
fn two_zones() -> Instance {
    let at = |len: usize, x: usize| {
        let mut set = FixedBitSet::with_capacity(len);
        set.insert(x);
        set
    };
    let mut i = Instance { dims: 2, keys: 1, domains: vec![2], ..Instance::default() };
    for z in 0..2 {
        i.shapes.push(Shape {
            demand: vec![1, 1],
            count: 3,
            priority: 0,
            tiers: vec![Tier { admission: z, waived: Vec::new() }],
        });
        i.admissions.push(Admission { bins: at(2, z), nodes: at(2, z) });
        i.bins.push(Bin {
            capacity: vec![4, 4],
            price: 10,
            domain: vec![Some(z as u32)],
            limit_use: Vec::new(),
            supply: None,
            buyable: true,
            in_bound: true,
        });
        i.nodes.push(Node {
            free: vec![2, 2],
            domain: vec![Some(z as u32)],
            residents: vec![(z, 1)],
            price: 10,
            removal: Some(Removal { charge: 0, budgets: Vec::new(), forced: false }),
            limit_use: Vec::new(),
            supply: None,
        });
    }
    i
}

fn rule(key: Key, kind: RuleKind, owners: Vec<usize>, selected: Vec<usize>) -> Rule {
    Rule { key, kind, owners, selected, present: Vec::new(), present_owners: Vec::new() }
}

fn count(i: &Instance) -> usize {
    i.validate().unwrap();
    components(i).len()
}

#[test]
fn zones_that_share_nothing_are_apart() {
    let parts = components(&two_zones());
    assert_eq!(parts.iter().map(|p| (p.pods, p.nodes.count_ones(..))).collect::<Vec<_>>(), [(4, 1), (4, 1)]);
}

#[test]
fn a_place_that_both_may_use_joins_them() {
    let mut i = two_zones();
    i.admissions[0].bins.insert(1);
    assert_eq!(count(&i), 1);
    i.bins[1].buyable = false;
    assert_eq!(count(&i), 2, "nobody buys it");
    i.admissions[0].nodes.insert(1);
    assert_eq!(count(&i), 1);
}

#[test]
fn a_rule_between_them_joins_them() {
    let mut i = two_zones();
    i.rules = vec![rule(Key::Host, RuleKind::Anti, vec![0], vec![1])];
    assert_eq!(count(&i), 1);
    i.rules = vec![rule(Key::Host, RuleKind::Anti, vec![0], vec![0])];
    assert_eq!(count(&i), 2);
    i.rules[0].present = vec![(1, 1)];
    assert_eq!(count(&i), 1, "what it counts runs on a node that may go");
}

#[test]
fn a_spread_joins_all_places_it_counts_over() {
    let mut i = two_zones();
    let mut scope = Scope { bins: FixedBitSet::with_capacity(2), nodes: FixedBitSet::with_capacity(2) };
    scope.bins.insert(0);
    let spread = |scope: &Scope| {
        RuleKind::Spread(Spread { max_skew: 1, min_domains: 0, eligible: Vec::new(), scope: scope.clone() })
    };
    i.rules = vec![rule(Key::Host, spread(&scope), vec![0], vec![0])];
    assert_eq!(count(&i), 2);
    scope.bins.insert(1);
    i.rules[0].kind = spread(&scope);
    assert_eq!(count(&i), 1, "a node bought for the others is a domain with none");
}

#[test]
fn amounts_join_only_where_they_may_run_out() {
    let mut i = two_zones();
    i.bins.iter_mut().for_each(|b| b.limit_use = vec![(0, 5)]);
    i.limits = vec![Limit { max: 40 }];
    assert_eq!(count(&i), 2, "eight pods on a machine each");
    i.limits[0].max = 39;
    assert_eq!(count(&i), 1);
    let mut i = two_zones();
    i.bins.iter_mut().for_each(|b| b.supply = Some(0));
    i.supplies = vec![Supply { count: 8 }];
    assert_eq!(count(&i), 2);
    i.supplies[0].count = 7;
    assert_eq!(count(&i), 1);
    let mut i = two_zones();
    i.nodes.iter_mut().for_each(|n| n.removal.as_mut().unwrap().budgets = vec![(0, 1)]);
    i.budgets = vec![Budget { max: 2 }];
    assert_eq!(count(&i), 2);
    i.budgets[0].max = 1;
    assert_eq!(count(&i), 1);
}

#[test]
fn nodes_that_nobody_may_use_are_one_part() {
    let mut i = two_zones();
    for n in &mut i.nodes {
        n.residents.clear();
    }
    i.admissions.iter_mut().for_each(|a| a.nodes.clear());
    let parts = components(&i);
    assert_eq!(parts.iter().map(|p| (p.pods, p.nodes.count_ones(..))).collect::<Vec<_>>(), [(3, 0), (3, 0), (0, 2)]);
}
