//! The world once moves have been carried out, on paper.

use std::collections::{BTreeMap, BTreeSet};

use millwright_models::catalog::PoolType;
use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::meta::{Condition, Labels, Meta};
use millwright_models::kube::node::Node;
use millwright_models::kube::pod::Phase;
use millwright_models::lift::{Lifted, PlannedNode};
use millwright_models::lower::{Lowered, is_resident};
use millwright_models::world::World;

/// What changes. Pods are positions in `World::pods`.
#[derive(Default)]
pub struct Change<'a> {
    /// Nodes that go, by name, and claims without a node.
    pub gone: BTreeSet<&'a str>,
    /// Nodes, old and new, with the pods that come to them.
    pub placed: Vec<(&'a str, &'a [usize])>,
    pub machines: Vec<(Node, NodeClaim)>,
}

/// Carries moves out: removed nodes go with their claims and DaemonSet pods,
/// new ones come with a claim, and every placed pod runs where it was placed;
/// pods of removed nodes without a place wait. New nodes have no age and no
/// recent pod events: the wait of consolidateAfter is taken to be over before
/// the next moves.
pub fn carry_out(world: &World, change: Change<'_>) -> World {
    let gone = &change.gone;
    let mut next = world.clone();
    let providers: BTreeSet<&str> =
        world.nodes.iter().filter(|n| gone.contains(&*n.meta.name)).map(|n| n.provider_id.as_str()).collect();
    let leaves = |claim: &NodeClaim| {
        gone.contains(claim.meta.name.as_str()) && claim.node_name.is_empty()
            || gone.contains(claim.node_name.as_str())
            || !claim.provider_id.is_empty() && providers.contains(claim.provider_id.as_str())
    };
    next.node_claims.retain(|c| !leaves(c));
    next.nodes.retain(|n| !gone.contains(n.meta.name.as_str()));
    let target: BTreeMap<usize, &str> =
        change.placed.iter().flat_map(|(name, pods)| pods.iter().map(move |p| (*p, *name))).collect();
    for (p, pod) in next.pods.iter_mut().enumerate() {
        if let Some(name) = target.get(&p) {
            pod.node_name = Some((*name).to_owned());
            pod.phase = Phase::Running;
            pod.conditions.retain(|c| c.kind == "Ready");
        } else if pod.node_name.as_deref().is_some_and(|n| gone.contains(n)) && is_resident(pod) {
            pod.node_name = None;
            pod.phase = Phase::Pending;
        }
    }
    next.pods.retain(|p| !p.node_name.as_deref().is_some_and(|n| gone.contains(n)));
    for (node, claim) in change.machines {
        next.nodes.push(node);
        next.node_claims.push(claim);
    }
    next.nodes.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    next.node_claims.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    next
}

/// The world after a wave whose new nodes are called `names`.
pub fn after(world: &World, lowered: &Lowered<'_>, lifted: &Lifted, names: &[String]) -> World {
    let old = lifted.existing.iter().map(|(name, pods)| (name.as_str(), pods.as_slice()));
    let new = names.iter().zip(&lifted.nodes).map(|(name, node)| (name.as_str(), node.pods.as_slice()));
    let machines = lifted.nodes.iter().zip(names).map(|(node, name)| bought(lowered, node, name));
    carry_out(
        world,
        Change {
            gone: lifted.removed.iter().map(String::as_str).collect(),
            placed: old.chain(new).collect(),
            machines: machines.collect(),
        },
    )
}

fn bought(lowered: &Lowered<'_>, planned: &PlannedNode, name: &str) -> (Node, NodeClaim) {
    let row = &lowered.offers.rows[planned.row];
    let offers = &lowered.offers.pools[row.pool];
    machine(&Machine {
        name,
        pool: offers.pool,
        kind: lowered.offers.ptype(row),
        labels: &offers.variants[row.variant],
        os: &row.os,
        region: &lowered.offers.region,
        zone: &planned.zone,
        capacity_type: &planned.capacity_type,
        reservation: planned.reservation.as_deref(),
    })
}

/// A machine to be.
pub struct Machine<'a> {
    pub name: &'a str,
    pub pool: &'a NodePool,
    pub kind: &'a PoolType,
    /// What the pool's template adds to the labels of the type.
    pub labels: &'a Labels,
    pub os: &'a str,
    pub region: &'a str,
    pub zone: &'a str,
    pub capacity_type: &'a str,
    pub reservation: Option<&'a str>,
}

/// An initialized node with its claim.
pub fn machine(m: &Machine<'_>) -> (Node, NodeClaim) {
    let mut all: Labels = m.kind.labels.clone();
    all.extend(m.labels.clone());
    for (key, value) in [
        (labels::HOSTNAME, Some(m.name)),
        (labels::ZONE, Some(m.zone)),
        (labels::CAPACITY_TYPE, Some(m.capacity_type)),
        (labels::INSTANCE_TYPE, Some(&*m.kind.name)),
        (labels::OS, Some(m.os)),
        (labels::REGION, Some(m.region).filter(|r| !r.is_empty())),
        (labels::NODEPOOL, Some(m.pool.name())),
        (labels::RESERVATION_ID, m.reservation),
        (labels::REGISTERED, Some("true")),
        (labels::INITIALIZED, Some("true")),
    ] {
        if let Some(value) = value {
            all.insert(key.to_owned(), value.to_owned());
        }
    }
    let template = &m.pool.template;
    let meta = Meta { name: m.name.to_owned(), labels: all, ..Meta::default() };
    let provider_id = format!("planned:///{}", m.name);
    let yes = |kind: &str| Condition { kind: kind.to_owned(), status: "True".to_owned(), ..Condition::default() };
    let node = Node {
        meta: meta.clone(),
        provider_id: provider_id.clone(),
        taints: template.taints.clone(),
        capacity: m.kind.capacity.clone(),
        allocatable: m.kind.allocatable.clone(),
        conditions: vec![yes("Ready")],
        ..Node::default()
    };
    let claim = NodeClaim {
        meta: Meta { annotations: template.annotations.clone(), ..meta },
        taints: template.taints.clone(),
        startup_taints: template.startup_taints.clone(),
        node_class: template.node_class.clone(),
        expire_after: template.expire_after.clone(),
        termination_grace_period: template.termination_grace_period.clone(),
        provider_id,
        node_name: m.name.to_owned(),
        capacity: m.kind.capacity.clone(),
        allocatable: m.kind.allocatable.clone(),
        conditions: ["Launched", "Registered", "Initialized", "Ready"].map(yes).to_vec(),
        ..NodeClaim::default()
    };
    (node, claim)
}

/// Names for the new nodes of wave number `wave`, counted from 1; none that
/// the world has already.
pub fn names(world: &World, wave: usize, count: usize) -> Vec<String> {
    let mut prefix = format!("planned-{wave}");
    let taken = |prefix: &str| {
        let claims = world.node_claims.iter().map(|c| &c.meta.name);
        world.nodes.iter().map(|n| &n.meta.name).chain(claims).any(|n| n.starts_with(&format!("{prefix}-")))
    };
    while taken(&prefix) {
        prefix.push('x');
    }
    (0..count).map(|i| format!("{prefix}-{i}")).collect()
}
