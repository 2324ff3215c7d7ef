//! The state of a cluster as the scheduler sees it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::counters::Counters;
use super::labels::Namespaces;
use super::ports::{self, HostPort};
use super::refusal::{Refusal, StateError};
use super::storage::{Attached, Storage};
use super::taints;
use super::topology::Slot;
use crate::kube::node::Node;
use crate::kube::pod::Pod;
use crate::kube::volume::CsiNode;
use crate::resources::{self, Resources};
use crate::world::World;

/// Nodes, and the pods that run on them.
///
/// Checks of the same pod against many nodes share what they learn, so the
/// state is changed by asking; the answers are not.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub(super) counters: Counters,
    hosts: Vec<Option<Host>>,
    slots: HashMap<String, Slot>,
    places: HashMap<String, Slot>,
    storage: Storage,
}

/// A node and its load.
#[derive(Clone, Debug)]
struct Host {
    node: Arc<Node>,
    limits: Option<CsiNode>,
    used: Resources,
    ports: Vec<HostPort>,
    attached: Attached,
    residents: BTreeMap<String, Resident>,
}

/// A pod in its place.
#[derive(Clone, Debug)]
struct Resident {
    pod: Arc<Pod>,
    class: usize,
    terminating: bool,
}

impl State {
    /// A cluster without namespaces and volumes of interest.
    pub fn new(nodes: Vec<Node>, pods: Vec<Pod>) -> Result<Self, StateError> {
        Self::of(&World { nodes, pods, ..World::default() })
    }

    /// The nodes of a snapshot and the pods bound to them. Pods that have
    /// ended take no room, and those whose node is gone are nowhere.
    pub fn of(world: &World) -> Result<Self, StateError> {
        let mut namespaces = Namespaces::default();
        world.namespaces.iter().for_each(|n| namespaces.insert(&n.meta.name, &n.meta.labels));
        let storage = Storage::new(&world.claims, &world.volumes, &world.storage_classes);
        let mut state = Self { counters: Counters::new(namespaces), storage, ..Self::default() };
        for node in &world.nodes {
            let limits = world.csi_nodes.iter().find(|c| c.meta.name == node.meta.name);
            state.add_node(node.clone(), limits.cloned())?;
        }
        for pod in &world.pods {
            match &pod.node_name {
                Some(node) if !pod.is_terminal() && state.slots.contains_key(node) => {
                    state.place(&Arc::new(pod.clone()), node)?;
                }
                _ => {}
            }
        }
        Ok(state)
    }

    /// A node joins; without `limits` any number of volumes can be attached.
    pub fn add_node(&mut self, node: Node, limits: Option<CsiNode>) -> Result<(), StateError> {
        let name = node.meta.name.clone();
        if self.slots.contains_key(&name) {
            return Err(StateError::NodeTwice(name));
        }
        let node = Arc::new(node);
        let slot = self.counters.add_node(node.clone());
        self.hosts.push(Some(Host {
            node,
            limits,
            used: Resources::default(),
            ports: Vec::new(),
            attached: Attached::default(),
            residents: BTreeMap::new(),
        }));
        self.slots.insert(name, slot);
        Ok(())
    }

    /// A node leaves; its pods are returned in the order of their names.
    pub fn remove_node(&mut self, node: &str) -> Result<Vec<Arc<Pod>>, StateError> {
        let slot = self.slot(node)?;
        let names: Vec<String> = self.hosts[slot].iter().flat_map(|h| h.residents.keys().cloned()).collect();
        let pods = names.iter().map(|name| self.evict_named(name)).collect::<Result<_, _>>()?;
        self.counters.remove_node(slot);
        self.hosts[slot] = None;
        self.slots.remove(node);
        Ok(pods)
    }

    /// Puts a pod on a node, whatever the filters say.
    pub fn place(&mut self, pod: &Arc<Pod>, node: &str) -> Result<(), StateError> {
        let slot = self.slot(node)?;
        let class = self.counters.intern(pod);
        self.settle(pod, class, slot, pod.deleted.is_some())
    }

    /// Takes a pod away.
    pub fn evict(&mut self, pod: &Pod) -> Result<Arc<Pod>, StateError> {
        self.evict_named(&pod.full_name())
    }

    /// The node a pod runs on.
    pub fn node_of(&self, pod: &Pod) -> Option<&str> {
        let host = self.hosts[*self.places.get(&pod.full_name())?].as_ref()?;
        Some(&host.node.meta.name)
    }

    /// Whether the scheduler would let `pod` run on `node` now.
    pub fn filter(&mut self, pod: &Pod, node: &str) -> Result<(), Refusal> {
        if let Some(requested) = pod.node_name.as_ref().filter(|n| *n != node) {
            return Err(Refusal::NodeName { requested: requested.clone() });
        }
        self.filter_anew(pod, node)
    }

    /// As [`State::filter`] for the pod that a controller would make in the
    /// place of `pod`: wherever that one runs.
    pub fn filter_anew(&mut self, pod: &Pod, node: &str) -> Result<(), Refusal> {
        let slot = self.slot(node)?;
        let class = self.counters.intern(pod);
        self.node_admits(pod, class, slot)?;
        self.room_admits(pod, class, slot)
    }

    pub(super) fn slot(&self, node: &str) -> Result<Slot, StateError> {
        self.slots.get(node).copied().ok_or_else(|| StateError::NoNode(node.to_owned()))
    }

    fn host(&self, slot: Slot) -> Result<&Host, StateError> {
        self.hosts[slot].as_ref().ok_or_else(|| StateError::NoNode(format!("#{slot}")))
    }

    /// The filters that never change while the node stays as it is.
    pub(super) fn node_admits(&self, pod: &Pod, class: usize, slot: Slot) -> Result<(), Refusal> {
        let host = self.host(slot)?;
        let class = &self.counters.classes[class];
        taints::admits(&host.node, &class.spec.tolerations)?;
        if !class.rule.admits(&host.node.meta.name, &host.node.meta.labels) {
            return Err(Refusal::NodeAffinity);
        }
        if class.spec.volumes.is_empty() { Ok(()) } else { self.storage.admits(pod, &host.node) }
    }

    /// The filters that depend on what runs.
    pub(super) fn room_admits(&self, pod: &Pod, class: usize, slot: Slot) -> Result<(), Refusal> {
        let host = self.host(slot)?;
        let kind = &self.counters.classes[class];
        ports::free(&kind.ports, &host.ports)?;
        host.fits(&kind.requests)?;
        if !kind.spec.volumes.is_empty() {
            self.storage.fits(pod, host.limits.as_ref(), &host.attached)?;
        }
        self.counters.admits(class, slot)
    }

    /// Puts a pod of `class` into its slot.
    pub(super) fn settle(
        &mut self,
        pod: &Arc<Pod>,
        class: usize,
        slot: Slot,
        terminating: bool,
    ) -> Result<(), StateError> {
        let name = pod.full_name();
        if pod.is_terminal() {
            return Err(StateError::Ended(name));
        }
        if let Some(at) = self.places.get(&name) {
            let node = self.host(*at)?.node.meta.name.clone();
            return Err(StateError::PodTwice { pod: name, node });
        }
        let Some(host) = &mut self.hosts[slot] else { return Err(StateError::NoNode(format!("#{slot}"))) };
        let kind = &self.counters.classes[class];
        host.used.add(&kind.requests);
        host.ports.extend(kind.ports.iter().cloned());
        if !kind.spec.volumes.is_empty() {
            self.storage.attach(pod, &mut host.attached);
        }
        host.residents.insert(name.clone(), Resident { pod: pod.clone(), class, terminating });
        self.places.insert(name, slot);
        self.counters.add(class, slot, terminating);
        Ok(())
    }

    pub(super) fn evict_named(&mut self, name: &str) -> Result<Arc<Pod>, StateError> {
        let gone = || StateError::NoPod(name.to_owned());
        let slot = self.places.remove(name).ok_or_else(gone)?;
        let host = self.hosts[slot].as_mut().ok_or_else(gone)?;
        let resident = host.residents.remove(name).ok_or_else(gone)?;
        let kind = &self.counters.classes[resident.class];
        host.used.sub(&kind.requests);
        for port in &kind.ports {
            if let Some(at) = host.ports.iter().position(|p| p == port) {
                host.ports.swap_remove(at);
            }
        }
        if !kind.spec.volumes.is_empty() {
            self.storage.detach(&resident.pod, &mut host.attached);
        }
        self.counters.take(resident.class, slot, resident.terminating);
        Ok(resident.pod)
    }
}

impl Host {
    /// NodeResourcesFit: what is not asked for cannot be short, however
    /// overcommitted the node is.
    fn fits(&self, requests: &Resources) -> Result<(), Refusal> {
        let capacity = self.node.allocatable.get(resources::PODS);
        if self.residents.len() as i64 + 1 > capacity {
            return Err(Refusal::Pods { capacity });
        }
        for (resource, requested) in requests.iter().filter(|(r, n)| *n > 0 && *r != resources::PODS) {
            let (used, capacity) = (self.used.get(resource), self.node.allocatable.get(resource));
            if requested > capacity.saturating_sub(used) {
                return Err(Refusal::Resource { resource: resource.to_owned(), requested, used, capacity });
            }
        }
        Ok(())
    }
}
