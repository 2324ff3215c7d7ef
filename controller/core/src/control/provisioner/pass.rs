//! The world of a pass: only what it is about waits in it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use millwright_models::kube::eviction::must_move;
use millwright_models::kube::pod::Pod;
use millwright_models::world::World;

use crate::buffers;
use crate::control::brain::Shared;
use crate::control::landing::{self, Taker, berths, matched};
use crate::control::slots::stand_in;
use crate::control::view::View;
use crate::nodes::StateNode;
use crate::pdb::Pdbs;

/// What plans of ours have taken care of.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// Where pods will be: by position in `World::pods`, the name of a node or
    /// of a claim.
    pub pods: BTreeMap<usize, String>,
    /// Room that is kept for pods which have not come yet.
    pub kept: Vec<Pod>,
}

/// Pods that have a place by a plan of ours whose node or claim lives.
pub fn placed(view: &View<'_>, shared: &Shared) -> Placed {
    let all = berths(view);
    let matching = matched(view.world, &all, |_| false);
    let mut placed = Placed::default();
    for (berth, takers) in all.iter().zip(&matching.takers) {
        for (slot, taker) in berth.slots.all.iter().zip(takers) {
            match taker {
                Taker::Coming(p) | Taker::Elsewhere(p) => {
                    placed.pods.insert(*p, berth.name.clone());
                }
                Taker::Expected => placed.kept.push(stand_in(slot, &berth.name, placed.kept.len())),
                Taker::Here(_) | Taker::Nobody => {}
            }
        }
    }
    let mut owed: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, debt) in &shared.owed {
        owed.extend(debt.slots.all.iter().filter_map(|s| Some((s.uid()?, name.as_str()))));
    }
    owed.extend(shared.promised.iter().map(|(uid, place)| (uid.as_str(), place.as_str())));
    if owed.is_empty() {
        return placed;
    }
    for (p, pod) in view.world.pods.iter().enumerate() {
        if let Some(place) = owed.get(pod.uid.as_str()).and_then(|name| awaited(view, name))
            && pod.node_name.as_deref() != Some(place)
        {
            placed.pods.entry(p).or_insert_with(|| place.to_owned());
        }
    }
    placed
}

/// As [`living`], or a place that does not show yet.
fn awaited<'a>(view: &View<'a>, name: &'a str) -> Option<&'a str> {
    let shows = view.nodes.iter().any(|n| n.name() == name || n.claim.is_some_and(|c| c.meta.name == name));
    if shows { living(view, name) } else { Some(name) }
}

/// The name of a place that can take pods, by the name of its node or claim.
fn living<'v>(view: &View<'v>, name: &str) -> Option<&'v str> {
    let named = |n: &&StateNode<'v>| n.name() == name || n.claim.is_some_and(|c| c.meta.name == name);
    view.nodes.iter().find(named).filter(|n| !landing::is_leaving(n)).map(StateNode::name)
}

/// Whether the scheduler has given up on a pod that nothing else is done for.
/// A nomination counts while its node is there.
pub fn waits(view: &View<'_>, pod: &Pod) -> bool {
    let failed = pod.conditions.iter().any(|c| c.kind == "PodScheduled" && c.reason == "Unschedulable");
    failed && pod.is_pending() && nominated(view, pod).is_none()
}

/// The node that a pod is nominated to, if it lives.
fn nominated<'v>(view: &View<'v>, pod: &Pod) -> Option<&'v str> {
    living(view, pod.nominated_node.as_deref().filter(|n| !n.is_empty())?)
}

/// Pods that a PodDisruptionBudget does not let go now, though their node goes:
/// nothing is bought or held for them until it does.
pub struct Stuck<'w> {
    budgets: Pdbs<'w>,
    now: Timestamp,
}

impl<'w> Stuck<'w> {
    pub fn new(view: &View<'w>) -> Self {
        Self { budgets: Pdbs::new(view.world), now: view.now }
    }

    /// Whether the pod (a position in `World::pods`) has to stay for now.
    pub fn holds(&self, pod: usize) -> bool {
        self.budgets.refusal(pod, self.now).is_some()
    }
}

/// Pods to plan for (positions in `World::pods`): those that wait, and those
/// of nodes that leave.
pub fn intake(view: &View<'_>, placed: &Placed) -> Vec<usize> {
    let leaving = view.nodes.iter().filter(|n| landing::is_leaving(n)).flat_map(|n| &n.pods);
    let mut all: Vec<usize> = leaving.copied().filter(|p| must_move(view.world, &view.world.pods[*p])).collect();
    if !all.is_empty() {
        let stuck = Stuck::new(view);
        all.retain(|p| !stuck.holds(*p));
    }
    all.extend(view.world.pods.iter().enumerate().filter(|(_, p)| waits(view, p)).map(|(i, _)| i));
    all.retain(|p| !placed.pods.contains_key(p));
    all.sort_unstable();
    all
}

/// A copy of the world in which planned pods are in their places, and other
/// pods that nobody has to plan for yet are not there.
pub fn world(view: &View<'_>, placed: &Placed) -> World {
    let mut world = view.world.clone();
    let mut pods = Vec::with_capacity(world.pods.len());
    for (p, mut pod) in world.pods.drain(..).enumerate() {
        if let Some(place) = placed.pods.get(&p) {
            pod.node_name = Some(place.clone());
            pod.deleted = None;
        } else if pod.node_name.is_none() && pod.is_pending() && !waits(view, &pod) {
            match nominated(view, &pod) {
                Some(node) => pod.node_name = Some(node.to_owned()),
                // The scheduler has not looked at it.
                None => continue,
            }
        }
        pods.push(pod);
    }
    world.pods = with_kept(pods, placed);
    if view.settings.lower.gates.capacity_buffer {
        buffers::add_pods(&mut world);
    }
    forget_versions(&mut world);
    world
}

/// Leaves out what every write changes, so that equal worlds are equal.
pub fn forget_versions(world: &mut World) {
    let nodes = world.nodes.iter_mut().map(|n| &mut n.meta);
    let claims = world.node_claims.iter_mut().map(|c| &mut c.meta);
    let pools = world.node_pools.iter_mut().map(|p| &mut p.meta);
    let classes = world.node_classes.iter_mut().map(|c| &mut c.meta);
    let buffers = world.buffers.iter_mut().map(|b| &mut b.meta);
    let others = world.budgets.iter_mut().map(|b| &mut b.meta).chain(world.daemon_sets.iter_mut().map(|d| &mut d.meta));
    for meta in nodes.chain(claims).chain(pools).chain(classes).chain(buffers).chain(others) {
        meta.resource_version.clear();
    }
}

/// Adds the pods that keep room, in the order of names.
pub fn with_kept(mut pods: Vec<Pod>, placed: &Placed) -> Vec<Pod> {
    if !placed.kept.is_empty() {
        pods.extend(placed.kept.iter().cloned());
        pods.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    }
    pods
}
