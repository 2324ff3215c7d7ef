//! Nodes that exist, as the page draws them.

use std::collections::{BTreeMap, BTreeSet};

use millwright_models::catalog::{Catalog, price_of};
use millwright_models::kube::pod::Pod;
use millwright_models::resources::{CPU, MEMORY, PODS, Resources};
use millwright_models::world::World;

use super::page::{Machine, Page, PodBox, State, amounts};

/// Labels a machine is described by.
const TYPE: &str = "node.kubernetes.io/instance-type";
const ZONE: &str = "topology.kubernetes.io/zone";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

/// Resources that deserve a bar: CPU and memory always, then whatever devices
/// pods ask for.
pub fn resources(world: &World) -> Vec<String> {
    let devices: BTreeSet<&str> = world
        .pods
        .iter()
        .flat_map(|p| p.requests.iter())
        .filter(|(name, amount)| *amount > 0 && name.contains('/') && *name != PODS)
        .map(|(name, _)| name)
        .collect();
    [CPU, MEMORY].into_iter().chain(devices).map(str::to_owned).collect()
}

/// All pods of the world: a machine's pods are their positions.
pub fn pods(world: &World, resources: &[String]) -> Vec<PodBox> {
    let one = |p: &Pod| PodBox { name: p.full_name(), requests: amounts(&p.requests, resources) };
    world.pods.iter().map(one).collect()
}

/// The nodes of the world with the pods they run.
pub fn machines(world: &World, catalog: &Catalog, page: &Page) -> Vec<Machine> {
    let mut running: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut daemons: BTreeMap<&str, Resources> = BTreeMap::new();
    for (i, pod) in world.pods.iter().enumerate() {
        let Some(node) = pod.node_name.as_deref().filter(|_| !pod.is_terminal()) else { continue };
        if pod.is_daemon() {
            daemons.entry(node).or_default().add(&pod.requests);
        } else {
            running.entry(node).or_default().push(i);
        }
    }
    let one = |node: &millwright_models::kube::node::Node| {
        let name = node.meta.name.as_str();
        let label = |key: &str| node.meta.labels.get(key).cloned().unwrap_or_else(|| "?".to_owned());
        let system = daemons.get(name).cloned().unwrap_or_default();
        Machine {
            name: name.to_owned(),
            state: State::Existing,
            instance_type: label(TYPE),
            zone: label(ZONE),
            capacity_type: label(CAPACITY_TYPE),
            price: price_of(catalog, &node.meta.labels).unwrap_or(0),
            capacity: amounts(&node.allocatable, &page.resources),
            system: amounts(&system, &page.resources),
            pods: running.get(name).cloned().unwrap_or_default(),
        }
    };
    world.nodes.iter().map(one).collect()
}
