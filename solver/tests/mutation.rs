//! A valid plan, broken in every way there is: the verifier must name each.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use fixedbitset::FixedBitSet;
use millwright_solver::check::{self, Broken, Spot};
use millwright_solver::instance::*;
use millwright_solver::plan::{NewNode, Plan};

fn set(len: usize, members: &[usize]) -> FixedBitSet {
    let mut s = FixedBitSet::with_capacity(len);
    members.iter().for_each(|&m| s.insert(m));
    s
}

/// Bins: 0 and 1 in zones 0 and 1, 2 not for sale, 3 without a zone. Node 0
/// must stay, node 1 may go. Shapes: 0 alone per host, 1 spread over zones,
/// 2 beside 3 in a zone, 3 plain, 4 with a second tier that gives up rule 3
/// (one per host).
fn problem() -> (Instance, Plan) {
    let bin = |zone: Option<u32>, buyable: bool| Bin {
        capacity: vec![10, 6],
        price: 1000,
        domain: vec![zone],
        limit_use: vec![(0, 1)],
        supply: Some(0),
        buyable,
        in_bound: true,
    };
    let node = |removal: Option<Removal>| Node {
        free: vec![4, 3],
        domain: vec![Some(0)],
        residents: vec![(3, 1)],
        price: 500,
        removal,
        limit_use: vec![],
        supply: None,
    };
    let bins = set(4, &[0, 1, 2, 3]);
    let nodes = set(2, &[0, 1]);
    let admissions = vec![
        Admission { bins: bins.clone(), nodes: nodes.clone() },
        Admission { bins: set(4, &[0]), nodes: set(2, &[]) },
    ];
    let shape = |count, tiers: Vec<Tier>| Shape { demand: vec![2, 1], count, priority: 0, tiers };
    let first = || vec![Tier { admission: 0, waived: vec![] }];
    let rule = |key, kind, owners: Vec<usize>, selected: Vec<usize>| Rule {
        key,
        kind,
        owners,
        selected,
        present: vec![],
        present_owners: vec![],
    };
    let spread = RuleKind::Spread(Spread {
        max_skew: 1,
        min_domains: 1,
        eligible: vec![0, 1],
        scope: Scope { bins: bins.clone(), nodes: nodes.clone() },
    });
    let mut mixed = rule(Key::Domain(0), spread.clone(), vec![0], vec![0, 3]);
    mixed.present = vec![(0, 1)];
    if let RuleKind::Spread(s) = &mut mixed.kind {
        s.max_skew = 3;
    }
    let instance = Instance {
        dims: 2,
        keys: 1,
        domains: vec![2],
        shapes: vec![
            shape(2, first()),
            shape(2, first()),
            shape(1, first()),
            shape(2, first()),
            shape(2, vec![Tier { admission: 1, waived: vec![] }, Tier { admission: 0, waived: vec![3] }]),
        ],
        admissions,
        bins: vec![bin(Some(0), true), bin(Some(1), true), bin(Some(0), false), bin(None, true)],
        nodes: vec![node(None), node(Some(Removal { charge: 1, budgets: vec![], forced: false }))],
        rules: vec![
            rule(Key::Host, RuleKind::Anti, vec![0], vec![0]),
            rule(Key::Domain(0), spread, vec![1], vec![1]),
            rule(Key::Domain(0), RuleKind::Affinity, vec![2], vec![3]),
            rule(Key::Host, RuleKind::Anti, vec![4], vec![4]),
            mixed,
        ],
        limits: vec![Limit { max: 3 }],
        supplies: vec![Supply { count: 3 }],
        varieties: vec![Variety { bins: vec![0, 1], value: vec![7, 8], least: 1 }],
        budgets: vec![],
    };
    let plan = Plan {
        bought: vec![
            NewNode { bin: 0, contents: vec![(0, 1), (1, 1), (4, 1)] },
            NewNode { bin: 1, contents: vec![(0, 1), (1, 1), (3, 1), (4, 1)] },
        ],
        placed: vec![(0, vec![(2, 1)])],
        removed: vec![],
        unserved: vec![(3, 1)],
        demoted: vec![(4, 1, 1)],
    };
    (instance, plan)
}

/// The first fault after a change.
fn broken(change: impl FnOnce(&mut Instance, &mut Plan)) -> Vec<Broken> {
    let (mut instance, mut plan) = problem();
    assert_eq!(check::plan(&instance, &plan), Ok(()));
    change(&mut instance, &mut plan);
    check::plan(&instance, &plan).expect_err("the change breaks the plan")
}

macro_rules! notices {
    ($name:ident, $change:expr, $fault:pat) => {
        #[test]
        fn $name() {
            let faults = broken($change);
            assert!(faults.iter().any(|f| matches!(f, $fault)), "{faults:?}");
            assert!(faults.iter().all(|f| !f.to_string().is_empty()));
        }
    };
}

notices!(a_bin_that_does_not_exist, |_, p| p.bought[0].bin = 9, Broken::NoSuchBin { bought: 0, bin: 9 });
notices!(a_bin_that_is_not_for_sale, |_, p| p.bought[0].bin = 2, Broken::NotBuyable { bought: 0, bin: 2 });
notices!(a_node_that_does_not_exist, |_, p| p.placed[0].0 = 5, Broken::NoSuchNode { node: 5 });
notices!(contents_out_of_order, |_, p| p.bought[0].contents.swap(0, 1), Broken::Unsorted { .. });
notices!(a_shape_listed_twice, |_, p| p.unserved.push((3, 1)), Broken::Unsorted { .. });
notices!(a_shape_that_does_not_exist, |_, p| p.unserved[0].0 = 9, Broken::NoSuchShape { shape: 9, .. });
notices!(an_empty_entry, |_, p| p.bought[1].contents[2].1 = 0, Broken::ZeroCount { shape: 3, .. });
notices!(pods_on_a_removed_node, |_, p| (p.removed, p.placed[0].0) = (vec![1], 1), Broken::PlacedOnRemoved { node: 1 });
notices!(removing_what_must_stay, |_, p| p.removed = vec![0], Broken::NotRemovable { node: 0 });
notices!(a_tier_that_is_the_first, |_, p| p.demoted[0].1 = 0, Broken::NoSuchTier { shape: 4, tier: 0 });
notices!(a_lost_pod, |_, p| p.unserved.clear(), Broken::Count { shape: 3, want: 2, got: 1 });
notices!(a_pod_too_many, |_, p| p.unserved[0].1 = 2, Broken::Count { shape: 3, want: 2, got: 3 });
notices!(evicted_pods_without_a_place, |_, p| p.removed = vec![1], Broken::Count { shape: 3, want: 3, got: 2 });
notices!(
    a_node_that_must_go,
    |i, _| i.nodes[1].removal = Some(Removal { charge: 1, budgets: vec![], forced: true }),
    Broken::NotRemoved { node: 1 }
);
notices!(
    an_overdrawn_budget,
    |i, p| {
        i.budgets = vec![Budget { max: 9 }, Budget { max: 1 }];
        i.nodes[1].removal = Some(Removal { charge: 1, budgets: vec![(0, 9), (1, 2)], forced: false });
        p.removed = vec![1];
    },
    Broken::Budget { budget: 1, drawn: 2, max: 1 }
);
notices!(
    residents_put_out_for_nothing,
    |i, p| {
        i.shapes[3].count -= 2;
        i.nodes[1].residents = vec![(3, 1)];
        p.bought[1].contents.remove(2);
        p.placed.clear();
        p.removed = vec![1];
    },
    Broken::Evicted { shape: 3, unserved: 1, most: 0 }
);
notices!(
    a_full_bin,
    |i, _| i.bins[1].capacity[0] = 7,
    Broken::Overfull { spot: Spot::Bought(1), dim: 0, used: 8, room: 7 }
);
notices!(a_full_node, |i, _| i.nodes[0].free[1] = 0, Broken::Overfull { spot: Spot::Node(0), dim: 1, .. });
notices!(
    a_place_not_admitted,
    |i, _| i.admissions[0].bins.set(1, false),
    Broken::NotAdmitted { spot: Spot::Bought(1), .. }
);
notices!(
    a_node_not_admitted,
    |i, _| i.admissions[0].nodes.set(0, false),
    Broken::NotAdmitted { spot: Spot::Node(0), shape: 2 }
);
notices!(demotion_of_pods_nobody_placed, |_, p| p.demoted[0].2 = 5, Broken::DemotedTooMany { shape: 4, .. });
notices!(demotion_not_stated, |_, p| p.demoted.clear(), Broken::NotAdmitted { spot: Spot::Bought(1), shape: 4 });
notices!(
    tiers_that_do_not_divide,
    |i, p| {
        // Both pods could use either tier alone, but one place takes the
        // first only and both are said to be in the second.
        i.admissions.push(Admission { bins: set(4, &[1]), nodes: set(2, &[]) });
        i.shapes[4].tiers.push(Tier { admission: 2, waived: vec![] });
        p.demoted = vec![(4, 2, 1)];
        p.bought[1].contents[3].1 = 2;
        p.bought[0].contents.pop();
    },
    Broken::TiersImpossible { shape: 4 }
);
notices!(a_limit, |i, _| i.limits[0].max = 1, Broken::Limit { limit: 0, used: 2, max: 1 });
notices!(a_supply, |i, _| i.supplies[0].count = 1, Broken::Supply { supply: 0, used: 2, count: 1 });
notices!(a_variety, |i, _| i.varieties[0].least = 2, Broken::Variety { bought: 0, left: 1, .. });
notices!(a_carrier_without_a_domain, |_, p| p.bought[1].bin = 3, Broken::NoDomain { rule: 1, spot: Spot::Bought(1) });
notices!(
    skew,
    |_, p| {
        p.bought[0].contents = vec![(0, 1), (1, 2), (4, 1)];
        p.bought[1].contents = vec![(0, 1), (3, 1), (4, 1)];
    },
    Broken::Skew { rule: 1, count: 2, minimum: 0, .. }
);
notices!(no_order_of_arrival, |i, _| i.rules[4].present = vec![(0, 5)], Broken::NoOrder { rule: 4, left: 1 });
notices!(
    two_that_exclude_each_other,
    |_, p| {
        p.bought[0].contents = vec![(1, 1), (4, 1)];
        p.bought[1].contents = vec![(0, 2), (1, 1), (4, 1)];
        p.unserved = vec![(3, 2)];
    },
    Broken::Anti { rule: 0, .. }
);
notices!(
    a_newcomer_where_an_old_carrier_runs,
    |i, p| {
        i.rules[0].present_owners = vec![(0, 1)];
        p.placed[0].1 = vec![(0, 1), (2, 1)];
        p.bought[0].contents.remove(0);
    },
    Broken::Anti { rule: 0, .. }
);
notices!(
    a_carrier_without_company,
    |i, p| {
        i.nodes[0].residents.clear();
        i.nodes[1].residents.clear();
        p.bought[1].contents[2] = (3, 1);
        p.unserved = vec![(3, 1)];
    },
    Broken::Affinity { rule: 2, .. }
);
