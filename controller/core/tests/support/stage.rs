//! A plan on the stage of the pure scheduler: its nodes appear, their
//! DaemonSet pods come, then the planned pods one by one.
#![allow(dead_code)] // each test file uses its part

use std::sync::Arc;

use millwright_core::provision::Decision;
use millwright_models::catalog::Catalog;
use millwright_models::karpenter::labels;
use millwright_models::kube::meta::Meta;
use millwright_models::kube::node::Node;
use millwright_models::kube::pod::{Phase, Pod, Toleration};
use millwright_models::kube::volume::CsiNode;
use millwright_models::lower::{self, Lowered, Settings};
use millwright_models::rules::{Placement, State, landing_order, replay, replay_adversarial};
use millwright_models::world::World;

/// What must hold of every plan: an order exists in which each pod passes the
/// scheduler's filters on its node, pods whose order cannot matter pass in any
/// order, and pods left without a place pass nowhere afterwards.
pub fn holds(world: &World, catalog: &Catalog, settings: &Settings, decision: &Decision) -> Result<(), String> {
    let lowered = lower::lower(world, catalog, settings).map_err(|e| e.to_string())?;
    let mut state = before(world, &lowered)?;
    let mut names: Vec<String> = lowered.places.iter().filter(|p| !p.leaving).map(|p| p.name.to_owned()).collect();
    for (i, planned) in decision.nodes.iter().enumerate() {
        let name = format!("new-{i}");
        let (node, csi) = bought(&lowered, planned.row, &name);
        state.add_node(node, Some(csi)).map_err(|e| e.to_string())?;
        names.push(name);
    }
    for name in &names {
        daemons(world, &lowered, &mut state, name)?;
    }
    let pod = |p: &usize| Arc::new(world.pods[*p].clone());
    let mut placements: Vec<Placement> = Vec::new();
    for (node, pods) in &decision.existing {
        placements.extend(pods.iter().map(|p| Placement::new(pod(p), node)));
    }
    for (i, planned) in decision.nodes.iter().enumerate() {
        placements.extend(planned.pods.iter().map(|p| Placement::new(pod(p), &format!("new-{i}"))));
    }
    let order = landing_order(&state, &placements).map_err(|stuck| {
        let (at, _) = stuck.refused.first().cloned().unwrap_or_else(|| unreachable!("somebody was refused"));
        format!("{} onto {}: {stuck}", placements[at].pod.full_name(), placements[at].node)
    })?;
    let in_order: Vec<Placement> = order.iter().map(|&i| placements[i].clone()).collect();
    replay(&state, &in_order)
        .map_err(|(i, why)| format!("{} onto {}: {why}", in_order[i].pod.full_name(), in_order[i].node))?;
    replay_adversarial(&state, &placements, 7).map_err(|e| format!("in another order: {e}"))?;
    for placement in &in_order {
        state.land(placement).map_err(|e| e.to_string())?;
    }
    let refused = |p: &usize| lowered.refused.iter().any(|(x, _)| x == p);
    for (p, why) in decision.unscheduled.iter().filter(|(p, _)| !refused(p)) {
        for name in &names {
            if state.filter_anew(&world.pods[*p], name).is_ok() {
                return Err(format!("{} stays pending ({why:?}) and could run on {name}", world.pods[*p].full_name()));
            }
        }
    }
    Ok(())
}

/// The nodes that stay, as they will be once they have started, and the pods
/// on them.
fn before(world: &World, lowered: &Lowered<'_>) -> Result<State, String> {
    let nodes = lowered.places.iter().filter(|p| !p.leaving).map(|place| Node {
        meta: Meta { name: place.name.to_owned(), labels: place.labels.clone(), ..Meta::default() },
        taints: place.taints.clone(),
        allocatable: place.allocatable.clone(),
        capacity: place.capacity.clone(),
        ..Node::default()
    });
    let start = World { nodes: nodes.collect(), ..world.clone() };
    State::of(&start).map_err(|e| e.to_string())
}

fn bought(lowered: &Lowered<'_>, row: usize, name: &str) -> (Node, CsiNode) {
    let row = &lowered.offers.rows[row];
    let pool = &lowered.offers.pools[row.pool];
    let (ptype, offering) = (lowered.offers.ptype(row), lowered.offers.offering(row));
    let mut all = ptype.labels.clone();
    all.extend(pool.variants[row.variant].clone());
    for (key, value) in [
        (labels::HOSTNAME, name),
        (labels::ZONE, &offering.zone),
        (labels::CAPACITY_TYPE, offering.capacity_type.as_str()),
        (labels::INSTANCE_TYPE, &ptype.name),
        (labels::OS, &row.os),
        (labels::REGION, &lowered.offers.region),
        (labels::REGISTERED, "true"),
        (labels::INITIALIZED, "true"),
    ] {
        all.insert(key.to_owned(), value.to_owned());
    }
    if let Some(r) = &offering.reservation {
        all.insert(labels::RESERVATION_ID.to_owned(), r.id.clone());
    }
    // The cloud's controller still sets the old names beside the new ones.
    for (key, value) in all.clone() {
        all.extend(labels::aliases(&key).map(|alias| (alias.to_owned(), value.clone())));
    }
    let node = Node {
        meta: Meta { name: name.to_owned(), labels: all, ..Meta::default() },
        taints: pool.pool.template.taints.clone(),
        allocatable: ptype.allocatable.clone(),
        capacity: ptype.capacity.clone(),
        ..Node::default()
    };
    let mut csi = CsiNode { meta: Meta { name: name.to_owned(), ..Meta::default() }, ..CsiNode::default() };
    if let Some(n) = ptype.volume_attachments {
        csi.drivers.insert("ebs.csi.aws.com".to_owned(), Some(n));
    }
    (node, csi)
}

/// DaemonSet pods that a node does not run yet come first.
fn daemons(world: &World, lowered: &Lowered<'_>, state: &mut State, node: &str) -> Result<(), String> {
    let running = lowered.places.iter().find(|p| p.name == node).map_or(&[][..], |p| &p.running);
    for set in world.daemon_sets.iter().filter(|d| d.spec.resource_claims.is_empty()) {
        let owns = |pod: &Pod| {
            pod.is_daemon()
                && pod.namespace == set.meta.namespace
                && pod.owner.as_ref().is_some_and(|o| o.name == set.meta.name)
        };
        if running.iter().any(|&p| owns(&world.pods[p])) {
            continue;
        }
        let mut spec = (*set.spec).clone();
        spec.tolerations.push(Toleration {
            key: "node.kubernetes.io/unschedulable".to_owned(),
            operator: "Exists".to_owned(),
            ..Toleration::default()
        });
        let pod = Arc::new(Pod {
            namespace: set.meta.namespace.clone(),
            name: format!("{}-{node}", set.meta.name),
            uid: String::new(),
            created: None,
            deleted: None,
            owner: None,
            is_static: false,
            labels: set.labels.clone(),
            annotations: Arc::default(),
            spec: Arc::new(spec),
            requests: set.requests.clone(),
            node_name: None,
            phase: Phase::Pending,
            ..template()
        });
        // One that the node does not admit does not come.
        if state.filter(&pod, node).is_ok() {
            state.place(&pod, node).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

fn template() -> Pod {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: t}\nspec: {containers: [{name: c}]}\n";
    let document = millwright_models::reader::Document { file: "t".to_owned(), text: text.to_owned() };
    let options = millwright_models::reader::ReadOptions { default_pools: false };
    let world = millwright_models::reader::read(&[document], &options).unwrap_or_default();
    world.pods.into_iter().next().unwrap_or_else(|| unreachable!("a pod was written"))
}
