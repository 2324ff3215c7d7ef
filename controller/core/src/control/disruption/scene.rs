//! The world that disruption is decided on, and the scene of candidates.

use std::collections::BTreeSet;

use jiff::Timestamp;
use millwright_models::karpenter::labels::DO_NOT_DISRUPT;
use millwright_models::kube::node::{NO_SCHEDULE, Taint};
use millwright_models::world::World;

use crate::buffers;
use crate::candidates::Scene;
use crate::control::brain::Shared;
use crate::control::landing::{is_held, is_leaving};
use crate::control::provisioner::pass::{self, Placed, with_kept};
use crate::control::view::View;
use crate::nodes::Memory;
use crate::pods::DISRUPTED;

/// Judges candidates by what there is and by what is remembered. `own`: nodes
/// of a command that looks at itself.
pub fn scene<'v>(view: &View<'v>, shared: &Shared, own: &BTreeSet<&str>) -> Scene<'v> {
    let mut memory = shared.memory.clone();
    memory.queued.retain(|id| !own.contains(id.as_str()));
    memory.marked.retain(|id| !own.contains(id.as_str()));
    // A node that is held for pods is promised to them; one that is not known
    // well is left alone in the same way.
    for node in &view.nodes {
        let held = node.node.is_some_and(is_held) || has_unread(view, node.name());
        if held && !own.contains(node.id()) {
            memory.nominated.insert(node.id().to_owned(), view.now);
        }
    }
    Scene::of(view.world, view.catalog, view.settings.lower.gates, view.now, memory, view.types.clone())
}

/// A pod on the node cannot be read: nobody knows what it asks for.
fn has_unread(view: &View<'_>, node: &str) -> bool {
    view.world.unread.iter().any(|u| u.node_name.as_deref() == Some(node))
}

/// A copy of the world in which what is remembered shows: planned pods are in
/// their places, pods that wait are not there, nodes in commands are being
/// deleted, nodes that are promised to pods may not be disrupted. Versions are
/// left out, so that equal worlds are equal. Nodes that have nothing but the
/// room of virtual pods stay.
pub fn world(view: &View<'_>, shared: &Shared, placed: &Placed) -> World {
    let mut world = view.world.clone();
    let leaving: BTreeSet<&str> = view.nodes.iter().filter(|n| is_leaving(n)).map(|n| n.name()).collect();
    let mut pods = Vec::with_capacity(world.pods.len());
    for (p, mut pod) in world.pods.drain(..).enumerate() {
        if let Some(place) = placed.pods.get(&p) {
            pod.node_name = Some(place.clone());
            pod.deleted = None;
        }
        // Pods that wait, and those of nodes that go, are planned for by
        // provisioning.
        if pod.node_name.as_deref().is_some_and(|n| !leaving.contains(n)) {
            pods.push(pod);
        }
    }
    world.pods = with_kept(pods, placed);
    // They need their room wherever pods move to.
    if view.settings.lower.gates.capacity_buffer {
        buffers::add_pods(&mut world);
    }
    let memory: &Memory = &shared.memory;
    for node in &view.nodes {
        let marked = node.is_queued(memory) || node.is_marked(memory);
        let held = node.node.is_some_and(is_held) || has_unread(view, node.name());
        let spare =
            shared.buffered.contains(node.name()) && !node.pods.iter().any(|p| view.world.pods[*p].is_reschedulable());
        let promised = held || spare || node.is_nominated(memory, view.now);
        if let Some(claim) = node.claim.filter(|_| marked).and_then(|c| position(&world.node_claims, &c.meta.name)) {
            world.node_claims[claim].meta.deletion_timestamp.get_or_insert(Timestamp::UNIX_EPOCH);
        }
        if let Some(at) =
            node.node.filter(|_| promised).and_then(|n| world.nodes.iter().position(|o| o.meta.name == n.meta.name))
        {
            world.nodes[at].meta.annotations.insert(DO_NOT_DISRUPT.to_owned(), "true".to_owned());
        }
    }
    pass::forget_versions(&mut world);
    world
}

fn position(claims: &[millwright_models::karpenter::nodeclaim::NodeClaim], name: &str) -> Option<usize> {
    claims.binary_search_by(|c| c.meta.name.as_str().cmp(name)).ok()
}

/// The world once `node` is on its way out, whatever its pods say: what would
/// have to be bought for them.
pub fn without(mut world: World, node: &str) -> World {
    if let Some(node) = world.nodes.iter_mut().find(|n| n.meta.name == node) {
        node.taints.push(Taint::new(DISRUPTED, "", NO_SCHEDULE));
    }
    world.budgets.clear();
    for pod in world.pods.iter_mut().filter(|p| p.node_name.as_deref() == Some(node)) {
        if pod.annotations.contains_key(DO_NOT_DISRUPT) {
            let mut rest = (*pod.annotations).clone();
            rest.remove(DO_NOT_DISRUPT);
            pod.annotations = rest.into();
        }
    }
    world
}
