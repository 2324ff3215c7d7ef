//! The world once a wave has been carried out, on paper.

use std::collections::{BTreeMap, BTreeSet};

use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::meta::{Condition, Labels, Meta};
use millwright_models::kube::node::Node;
use millwright_models::kube::pod::Phase;
use millwright_models::lift::{Lifted, PlannedNode};
use millwright_models::lower::Lowered;
use millwright_models::world::World;

/// Carries `lifted` out: removed nodes go with their claims and DaemonSet
/// pods, new ones come with a claim, and every planned pod runs where it was
/// planned. New nodes have no age and no recent pod events: the wait of
/// consolidateAfter is taken to be over before the next wave.
pub fn after(world: &World, lowered: &Lowered<'_>, lifted: &Lifted, names: &[String]) -> World {
    let gone: BTreeSet<&str> = lifted.removed.iter().map(String::as_str).collect();
    let homeless: BTreeSet<usize> = lifted.unscheduled.iter().map(|(p, _)| *p).collect();
    let mut next = world.clone();
    let leaves = |claim: &NodeClaim| {
        gone.contains(claim.meta.name.as_str()) && claim.node_name.is_empty()
            || gone.contains(claim.node_name.as_str())
            || world.nodes.iter().any(|n| {
                gone.contains(n.meta.name.as_str()) && !n.provider_id.is_empty() && n.provider_id == claim.provider_id
            })
    };
    next.node_claims.retain(|c| !leaves(c));
    next.nodes.retain(|n| !gone.contains(n.meta.name.as_str()));
    let old = lifted.existing.iter().map(|(name, pods)| (name, pods));
    let new = names.iter().zip(lifted.nodes.iter().map(|n| &n.pods));
    let target: BTreeMap<usize, &String> =
        old.chain(new).flat_map(|(name, pods)| pods.iter().map(move |p| (*p, name))).collect();
    for (p, pod) in next.pods.iter_mut().enumerate() {
        if let Some(name) = target.get(&p) {
            pod.node_name = Some((*name).clone());
            pod.phase = Phase::Running;
            pod.conditions.retain(|c| c.kind == "Ready");
        } else if homeless.contains(&p) {
            pod.node_name = None;
        }
    }
    next.pods.retain(|p| !p.node_name.as_deref().is_some_and(|n| gone.contains(n)));
    for (node, name) in lifted.nodes.iter().zip(names) {
        let (node, claim) = bought(lowered, node, name);
        next.nodes.push(node);
        next.node_claims.push(claim);
    }
    next.nodes.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    next.node_claims.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    next
}

fn bought(lowered: &Lowered<'_>, planned: &PlannedNode, name: &str) -> (Node, NodeClaim) {
    let row = &lowered.offers.rows[planned.row];
    let offers = &lowered.offers.pools[row.pool];
    let ptype = lowered.offers.ptype(row);
    let mut all: Labels = ptype.labels.clone();
    all.extend(offers.variants[row.variant].clone());
    let reservation = planned.reservation.as_deref();
    for (key, value) in [
        (labels::HOSTNAME, Some(name)),
        (labels::ZONE, Some(planned.zone.as_str())),
        (labels::CAPACITY_TYPE, Some(planned.capacity_type.as_str())),
        (labels::INSTANCE_TYPE, Some(planned.instance_type.as_str())),
        (labels::OS, Some(&*row.os)),
        (labels::REGION, Some(lowered.offers.region.as_str()).filter(|r| !r.is_empty())),
        (labels::RESERVATION_ID, reservation),
        (labels::REGISTERED, Some("true")),
        (labels::INITIALIZED, Some("true")),
    ] {
        if let Some(value) = value {
            all.insert(key.to_owned(), value.to_owned());
        }
    }
    let template = &offers.pool.template;
    let meta = Meta { name: name.to_owned(), labels: all, ..Meta::default() };
    let provider_id = format!("planned:///{name}");
    let yes = |kind: &str| Condition { kind: kind.to_owned(), status: "True".to_owned(), ..Condition::default() };
    let node = Node {
        meta: meta.clone(),
        provider_id: provider_id.clone(),
        taints: template.taints.clone(),
        capacity: ptype.capacity.clone(),
        allocatable: ptype.allocatable.clone(),
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
        node_name: name.to_owned(),
        capacity: ptype.capacity.clone(),
        allocatable: ptype.allocatable.clone(),
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
