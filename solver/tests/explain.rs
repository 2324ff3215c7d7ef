//! Hindrances against the checker: a spot that nothing hinders takes one more
//! pod, a hindered one does not.
#![allow(clippy::unwrap_used)]

use millwright_solver::arrival::Index;
use millwright_solver::check;
use millwright_solver::explain::{Scene, Spot};
use millwright_solver::firstfit::first_fit;
use millwright_solver::instance::{Admission, Bin, Instance, Key, Rule, RuleKind, Shape, Tier};
use millwright_solver::plan::{Contents, NewNode, Plan};

#[path = "support/tiny.rs"]
mod tiny;

fn add(contents: &mut Contents, shape: usize) {
    match contents.iter_mut().find(|(s, _)| *s == shape) {
        Some((_, n)) => *n += 1,
        None => contents.push((shape, 1)),
    }
    contents.sort_unstable();
}

/// `plan` with one unserved pod of `shape` at `spot`.
fn with(plan: &Plan, shape: usize, spot: Spot) -> Plan {
    let mut more = plan.clone();
    for (s, n) in &mut more.unserved {
        *n -= u32::from(*s == shape);
    }
    more.unserved.retain(|(_, n)| *n > 0);
    match spot {
        Spot::Fresh(bin) => more.bought.push(NewNode { bin, contents: vec![(shape, 1)] }),
        Spot::Bought(at) => add(&mut more.bought[at].contents, shape),
        Spot::Existing(node) => {
            if !more.placed.iter().any(|(n, _)| *n == node) {
                more.placed.push((node, Vec::new()));
                more.placed.sort_unstable();
            }
            let (_, contents) = more.placed.iter_mut().find(|(n, _)| *n == node).unwrap();
            add(contents, shape);
        }
    }
    more
}

/// Spreads that count others, too, are judged by an order of arrival, and
/// preferences by how many could keep them: the final state says less there.
fn is_plain(instance: &Instance) -> bool {
    let mixed = |kind: &RuleKind, homogeneous: bool| matches!(kind, RuleKind::Spread(_)) && !homogeneous;
    instance.shapes.iter().all(|s| s.tiers.len() == 1 && s.tiers[0].waived.is_empty())
        && !instance.rules.iter().any(|r| mixed(&r.kind, r.is_homogeneous()))
}

#[test]
fn hindrances_are_what_the_checker_refuses() {
    let (mut free, mut hindered) = (0, 0);
    for seed in 0..6000 {
        let instance = tiny::instance(seed, 6);
        if instance.validate().is_err() || !is_plain(&instance) {
            continue;
        }
        let full = first_fit(&instance, &Index::new(&instance));
        let empty = Plan {
            unserved: instance.shapes.iter().enumerate().map(|(s, shape)| (s, shape.count)).collect(),
            ..Plan::default()
        };
        for plan in [full, empty] {
            if check::plan(&instance, &plan).is_err() {
                continue;
            }
            let scene = Scene::new(&instance, &plan);
            for &(shape, _) in &plan.unserved {
                let admission = &instance.admissions[instance.shapes[shape].tiers[0].admission];
                let firm: Vec<usize> =
                    (0..instance.rules.len()).filter(|r| instance.rules[*r].owned_by(shape)).collect();
                let hindrances = scene.hindrances(shape, &firm);
                for (i, &spot) in scene.spots.iter().enumerate() {
                    let admitted = match spot {
                        Spot::Existing(n) => admission.nodes.contains(n),
                        Spot::Bought(_) | Spot::Fresh(_) => admission.bins.contains(scene.bin(i).unwrap()),
                    };
                    if !admitted || !scene.usable().contains(i) {
                        continue;
                    }
                    let open = hindrances.iter().all(|h| !h.spots.contains(i));
                    let verdict = check::plan(&instance, &with(&plan, shape, spot));
                    assert_eq!(
                        open,
                        verdict.is_ok(),
                        "seed {seed}, shape {shape}, {spot:?}: {:?} against {verdict:?}",
                        hindrances.iter().filter(|h| h.spots.contains(i)).map(|h| h.obstacle).collect::<Vec<_>>()
                    );
                    if open { free += 1 } else { hindered += 1 }
                }
            }
        }
    }
    assert!(free > 500 && hindered > 500, "{free} free, {hindered} hindered");
}

/// Three pods, each kept from the next by a rule of its own, in two zones.
fn triangle(zones: u32) -> Instance {
    let all = |n: usize| {
        let mut set = fixedbitset::FixedBitSet::with_capacity(n);
        set.insert_range(..);
        set
    };
    let mut instance = Instance { dims: 1, keys: 1, domains: vec![zones], ..Instance::default() };
    for zone in 0..zones {
        instance.bins.push(Bin {
            capacity: vec![4],
            price: 100,
            domain: vec![Some(zone)],
            limit_use: Vec::new(),
            supply: None,
            buyable: true,
            in_bound: true,
        });
    }
    instance.admissions = vec![Admission { bins: all(zones as usize), nodes: all(0) }];
    for shape in 0..3 {
        let tiers = vec![Tier { admission: 0, waived: Vec::new() }];
        instance.shapes.push(Shape { demand: vec![1], count: 1, priority: 0, tiers });
        instance.rules.push(Rule {
            key: Key::Domain(0),
            kind: RuleKind::Anti,
            owners: vec![shape],
            selected: vec![(shape + 1) % 3],
            present: Vec::new(),
            present_owners: Vec::new(),
        });
    }
    instance.validate().unwrap();
    instance
}

#[test]
fn rules_between_others_are_part_of_a_joint_core() {
    let instance = triangle(2);
    let plan = first_fit(&instance, &Index::new(&instance));
    let [(left, 1)] = plan.unserved[..] else { panic!("{plan:?}") };
    let scene = Scene::new(&instance, &plan);
    assert_eq!(scene.jointly(left, 1_000), Some(vec![0, 1, 2]), "the rule between the other two matters as well");
    let roomy = triangle(3);
    let mut plan = first_fit(&roomy, &Index::new(&roomy));
    assert!(plan.unserved.is_empty());
    let last = plan.bought.pop().unwrap().contents[0].0;
    plan.unserved.push((last, 1));
    assert_eq!(Scene::new(&roomy, &plan).jointly(last, 1_000), None);
}
