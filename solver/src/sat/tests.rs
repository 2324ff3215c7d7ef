use fixedbitset::FixedBitSet;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{Answer, Exclusion, Formula, Lit, Placement, Tight, place};

const CONFLICTS: u64 = 20_000;

fn random(seed: u64) -> Tight {
    let mut rng = StdRng::seed_from_u64(seed);
    let (pods, nodes, labels) = (rng.random_range(1..7_usize), rng.random_range(1..4_usize), rng.random_range(1..4));
    let mut tight = Tight {
        demands: (0..pods).map(|_| vec![rng.random_range(0..5), 1]).collect(),
        rooms: (0..nodes).map(|_| vec![rng.random_range(0..9), rng.random_range(1..4)]).collect(),
        divisions: vec![
            (0..nodes as u32).map(Some).collect(),
            (0..nodes).map(|_| rng.random_bool(0.9).then(|| rng.random_range(0..2))).collect(),
        ],
        ..Tight::default()
    };
    for _ in 0..pods {
        let mut allowed = FixedBitSet::with_capacity(nodes);
        (0..nodes).for_each(|n| allowed.set(n, rng.random_bool(0.85)));
        tight.allowed.push(allowed);
    }
    for a in 0..pods {
        for b in 0..a {
            if rng.random_bool(0.25) {
                tight.exclusions.push(Exclusion {
                    label: rng.random_range(0..labels),
                    division: rng.random_range(0..2),
                    pods: (a, b),
                });
            }
        }
    }
    tight
}

fn is_legal(tight: &Tight, nodes: &[usize], labels: &dyn Fn(usize) -> bool) -> bool {
    let room = (0..tight.rooms.len()).all(|n| {
        (0..2).all(|d| {
            let load: i64 = (0..nodes.len()).filter(|&p| nodes[p] == n).map(|p| tight.demands[p][d]).sum();
            load <= tight.rooms[n][d]
        })
    });
    let apart = tight.exclusions.iter().filter(|e| labels(e.label)).all(|e| {
        let domain = |p: usize| tight.divisions[e.division][nodes[p]];
        domain(e.pods.0).is_none() || domain(e.pods.0) != domain(e.pods.1)
    });
    room && apart && nodes.iter().enumerate().all(|(p, &n)| tight.allowed[p].contains(n))
}

/// All placements.
fn exists(tight: &Tight, labels: &dyn Fn(usize) -> bool) -> bool {
    let (pods, nodes) = (tight.demands.len(), tight.rooms.len());
    (0..nodes.pow(pods as u32)).any(|code| {
        let at: Vec<usize> = (0..pods).map(|p| code / nodes.pow(p as u32) % nodes).collect();
        is_legal(tight, &at, labels)
    })
}

#[test]
fn placements_agree_with_brute_force() {
    let (mut found, mut none, mut cores) = (0, 0, 0);
    for seed in 0..3000 {
        let tight = random(seed);
        match place(&tight, CONFLICTS) {
            Placement::Found(nodes) => {
                found += 1;
                assert!(is_legal(&tight, &nodes, &|_| true), "seed {seed}: {nodes:?}");
            }
            Placement::Impossible(core) => {
                none += 1;
                cores += usize::from(!core.is_empty());
                assert!(!exists(&tight, &|l| core.contains(&l)), "seed {seed}: {core:?} does not suffice");
                for left_out in &core {
                    let fewer = |l: usize| core.contains(&l) && l != *left_out;
                    assert!(exists(&tight, &fewer), "seed {seed}: {core:?} needs no {left_out}");
                }
            }
            Placement::GaveUp => panic!("seed {seed}: so little is decided"),
        }
    }
    assert!(found > 300 && none > 300 && cores > 100, "{found} found, {none} impossible, {cores} cores");
}

/// More pigeons than holes.
fn pigeons(holes: usize) -> Formula {
    let mut formula = Formula::default();
    let at: Vec<Vec<Lit>> = (0..=holes).map(|_| (0..holes).map(|_| formula.literal()).collect()).collect();
    at.iter().for_each(|row| formula.clause(row));
    for hole in 0..holes {
        for a in 0..at.len() {
            for b in 0..a {
                formula.clause(&[!at[a][hole], !at[b][hole]]);
            }
        }
    }
    formula
}

#[test]
fn a_limit_ends_what_would_take_forever() {
    assert_eq!(pigeons(4).solve(&[], CONFLICTS), Answer::Impossible(Vec::new()));
    assert_eq!(pigeons(14).solve(&[], 2_000), Answer::GaveUp);
}

#[test]
fn sums_are_seen_before_any_search() {
    let all = |n: usize| {
        let mut set = FixedBitSet::with_capacity(n);
        set.insert_range(..);
        set
    };
    let mut tight =
        Tight { demands: vec![vec![1]; 40], rooms: vec![vec![7]; 5], allowed: vec![all(5); 40], ..Tight::default() };
    assert_eq!(place(&tight, 10), Placement::Impossible(Vec::new()));
    tight.rooms = vec![vec![8]; 5];
    assert!(matches!(place(&tight, CONFLICTS), Placement::Found(_)));
    // Thirteen pods, all apart, in twelve domains.
    let pods = 13;
    let mut apart = Tight {
        demands: vec![vec![1]; pods],
        rooms: vec![vec![9]; 12],
        allowed: vec![all(12); pods],
        divisions: vec![(0..12).map(Some).collect()],
        ..Tight::default()
    };
    for a in 0..pods {
        apart.exclusions.extend((0..a).map(|b| Exclusion { label: 7, division: 0, pods: (a, b) }));
    }
    assert_eq!(place(&apart, 10), Placement::Impossible(vec![7]));
}

#[test]
fn counters_count() {
    for n in 0..7_usize {
        for most in 0..=n {
            let mut formula = Formula::default();
            let lits: Vec<Lit> = (0..n).map(|_| formula.literal()).collect();
            formula.at_most(most, &lits);
            for chosen in 0..1_u32 << n {
                let assumed: Vec<Lit> = (0..n).map(|i| if chosen >> i & 1 == 1 { lits[i] } else { !lits[i] }).collect();
                let fine = matches!(formula.solve(&assumed, CONFLICTS), Answer::Satisfiable(_));
                assert_eq!(fine, chosen.count_ones() as usize <= most, "{n} {most} {chosen:b}");
            }
        }
    }
}
