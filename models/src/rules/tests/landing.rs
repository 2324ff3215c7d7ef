//! Landing orders of whole plans.

use serde_json::json;

use super::build::*;
use crate::kube::node::Node;
use crate::kube::pod::Pod;
use crate::resources::{CPU, PODS};
use crate::rules::{Annoyed, Placement, State, landing_order, replay, replay_adversarial};

fn nodes(count: usize) -> Vec<Node> {
    let make = |i: usize| {
        let mut n = node(&format!("n{i}"), ["z1", "z2", "z3"][i % 3]);
        n.allocatable = [(CPU, 1_000_000), (PODS, 1000)].into_iter().collect();
        n
    };
    (0..count).map(make).collect()
}

fn assert_lands(state: &State, placements: &[Placement]) -> Vec<usize> {
    let order = landing_order(state, placements).unwrap();
    let in_order: Vec<Placement> = order.iter().map(|i| placements[*i].clone()).collect();
    assert_eq!(in_order.len(), placements.len());
    assert_eq!(replay(state, &in_order), Ok(()));
    assert_eq!(replay_adversarial(state, placements, 7), Ok(()));
    order
}

#[test]
fn followers_wait_for_their_target() {
    let state = State::new(nodes(3), Vec::new()).unwrap();
    let follower = pod("f", &[], affinity(&[term(ZONE, "web")]));
    let target = pod("t", &[("app", "web")], json!({}));
    let placements = [place(&follower, "n1"), place(&target, "n1")];
    assert_eq!(assert_lands(&state, &placements), [1, 0]);
    let stuck = landing_order(&state, &[place(&follower, "n0"), place(&target, "n1")]).unwrap_err();
    assert!(stuck.proven);
    assert_eq!((stuck.landed, stuck.refused[0].0), (vec![1], 0));
}

#[test]
fn a_group_begins_where_no_other_target_comes() {
    let state = State::new(nodes(3), Vec::new()).unwrap();
    let own = pod("own", &[("app", "web")], affinity(&[term(ZONE, "web")]));
    let second = pod("second", &[("app", "web")], affinity(&[term(ZONE, "web")]));
    let plain = pod("plain", &[("app", "web")], json!({}));
    // n0 has nobody but `own`, so `own` must be the first of all.
    assert_lands(&state, &[place(&plain, "n1"), place(&second, "n1"), place(&own, "n0")]);
    let both = landing_order(&state, &[place(&second, "n1"), place(&own, "n0")]).unwrap_err();
    assert!(both.proven, "two domains cannot both begin");
}

#[test]
fn spread_takes_turns() {
    let state = State::new(nodes(3), Vec::new()).unwrap();
    let web = |i: usize| {
        pod(&format!("w{i}"), &[("app", "web")], json!({"topologySpreadConstraints": [spread(ZONE, 1, "web")]}))
    };
    let at = |i: usize| format!("n{}", i / 100);
    let placements: Vec<Placement> = (0..300).map(|i| place(&web(i), &at(i))).collect();
    assert_lands(&state, &placements);
    let uneven: Vec<Placement> = (0..298).map(|i| place(&web(i), &at(i))).collect();
    let stuck = landing_order(&state, &uneven).unwrap_err();
    assert_eq!(stuck.landed.len(), 98 + 99 + 99, "each at most one above the emptiest zone");
}

#[test]
fn strangers_raise_the_floor_or_stay_out_of_the_way() {
    let state = State::new(nodes(3), Vec::new()).unwrap();
    let web = |i: usize| {
        pod(&format!("w{i}"), &[("app", "web")], json!({"topologySpreadConstraints": [spread(ZONE, 1, "web")]}))
    };
    let plain = |i: usize| pod(&format!("s{i}"), &[("app", "web")], json!({}));
    // The zone n2 is filled by strangers alone; n0 gets two of them on top.
    let mut placements: Vec<Placement> = (0..20).map(|i| place(&web(i), if i < 10 { "n0" } else { "n1" })).collect();
    placements.extend((0..9).map(|i| place(&plain(i), "n2")));
    placements.extend((9..14).map(|i| place(&plain(i), "n0")));
    assert_lands(&state, &placements);
}

#[test]
fn what_never_fits_is_proven() {
    let state = State::new(nodes(1), Vec::new()).unwrap();
    let big = asking(pod("big", &[], json!({})), &[(CPU, 2_000_000)]);
    let stuck = landing_order(&state, &[place(&big, "n0")]).unwrap_err();
    assert!(stuck.proven);
    assert!(stuck.to_string().contains("Insufficient cpu"), "{stuck}");
    assert!(matches!(replay_adversarial(&state, &[place(&big, "n0")], 1), Err(Annoyed::Stuck(_))));
    assert_eq!(replay(&state, &[place(&big, "n9")]).unwrap_err().0, 0);
}

/// The mix of Karpenter's own benchmark: a fifth each without rules, spread
/// over zones, spread over hosts, together in a zone, alone on a host.
fn mixed(count: usize, hosts: usize) -> Vec<Placement> {
    let rules = [
        json!({}),
        json!({"topologySpreadConstraints": [spread(ZONE, 1, "a1")]}),
        json!({"topologySpreadConstraints": [spread(HOST, 1, "a2")]}),
        affinity(&[term(ZONE, "a3")]),
        anti_affinity(&[term(HOST, "a4")]),
    ];
    let kinds = ["a0", "a1", "a2", "a3", "a4"];
    let make = |i: usize| -> (Pod, usize) {
        let kind = i % 5;
        let p = asking(pod(&format!("p{i}"), &[("app", kinds[kind])], rules[kind].clone()), &[(CPU, 100)]);
        let at = match kind {
            3 => (i / 5 % (hosts / 3)) * 3, // one zone
            _ => i / 5 % hosts,
        };
        (p, at)
    };
    // Zone by zone, so that the order as given is no good.
    let mut all: Vec<(Pod, usize)> = (0..count).map(make).collect();
    all.sort_by_key(|(_, at)| (at % 3, *at));
    all.into_iter().map(|(p, at)| place(&p, &format!("n{at}"))).collect()
}

#[test]
fn thousands_of_pods_with_every_rule_land() {
    let hosts = 600;
    let state = State::new(nodes(hosts), Vec::new()).unwrap();
    assert_lands(&state, &mixed(3000, hosts));
}
