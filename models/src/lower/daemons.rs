//! DaemonSet pods that come with a node. (spec 20 §§4.4, 4.5, 7.1)

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::columns::{Columns, Labelled};
use super::nodes::Place;
use super::offers::Offers;
use super::ports::{HostPort, host_ports};
use crate::kube::node::{Taint, untolerated};
use crate::kube::pod::{PodSpec, Toleration};
use crate::kube::workload::DaemonSet;
use crate::resources::Resources;
use crate::world::World;

/// What the DaemonSets of a group of rows take.
#[derive(Clone, Debug, Default)]
pub struct Overhead {
    pub requests: Resources,
    pub ports: Vec<HostPort>,
}

/// The overhead of every row: an index into the groups.
pub fn of_rows(world: &World, columns: &mut Columns<'_, Offers<'_>>) -> (Vec<usize>, Vec<Overhead>) {
    let offers = columns.source();
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); offers.rows.len()];
    for (d, set) in world.daemon_sets.iter().enumerate().filter(|(_, d)| counts(d)) {
        let tolerated: Vec<bool> =
            offers.pools.iter().map(|p| tolerates_hard(&p.pool.template.taints, &set.spec.tolerations)).collect();
        for row in admitted(columns, &set.spec).ones() {
            if tolerated[offers.rows[row].pool] {
                sets[row].push(d);
            }
        }
    }
    let mut groups = Vec::new();
    let mut index: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
    let of_row = sets
        .into_iter()
        .map(|set| {
            if let Some(&g) = index.get(&set) {
                return g;
            }
            groups.push(sum(world, &set));
            index.insert(set, groups.len() - 1);
            groups.len() - 1
        })
        .collect();
    (of_row, groups)
}

/// What the DaemonSets that a place should run and does not yet will take.
pub fn of_places<'w, L>(world: &World, columns: &mut Columns<'_, L>) -> Vec<Overhead>
where
    L: Labelled + AsRef<[Place<'w>]>,
{
    let places = columns.source().as_ref();
    let mut missing: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    for (d, set) in world.daemon_sets.iter().enumerate().filter(|(_, d)| counts(d)) {
        for p in admitted(columns, &set.spec).ones() {
            let place = &places[p];
            if !place.leaving && tolerates_on_node(&place.taints, &set.spec.tolerations) && !runs(world, place, set) {
                missing[p].push(d);
            }
        }
    }
    missing.into_iter().map(|set| sum(world, &set)).collect()
}

/// Pods that need devices by claim are not planned for.
fn counts(set: &DaemonSet) -> bool {
    set.spec.resource_claims.is_empty()
}

fn runs(world: &World, place: &Place<'_>, set: &DaemonSet) -> bool {
    place.running.iter().map(|&p| &world.pods[p]).any(|pod| {
        pod.is_daemon()
            && pod.namespace == set.meta.namespace
            && pod.owner.as_ref().is_some_and(|o| o.name == set.meta.name)
    })
}

fn sum(world: &World, set: &[usize]) -> Overhead {
    let mut overhead = Overhead::default();
    for &d in set {
        overhead.requests.add(&world.daemon_sets[d].requests);
        overhead.ports.extend(host_ports(&world.daemon_sets[d].spec));
    }
    overhead
}

/// Rows that the pod's node selector and required node affinity admit.
pub fn admitted<L: Labelled>(columns: &mut Columns<'_, L>, spec: &PodSpec) -> FixedBitSet {
    let mut rows = columns.every();
    columns.narrow_by_labels(&mut rows, &spec.node_selector);
    let required = spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref()).and_then(|n| n.required.as_ref());
    if let Some(required) = required {
        rows.intersect_with(&columns.any_term(&required.node_selector_terms));
    }
    rows
}

/// `PreferNoSchedule` never keeps a DaemonSet away.
fn tolerates_hard(taints: &[Taint], tolerations: &[Toleration]) -> bool {
    let hard: Vec<Taint> = taints.iter().filter(|t| t.effect != "PreferNoSchedule").cloned().collect();
    untolerated(&hard, tolerations).is_none()
}

/// On a node that exists the DaemonSet controller's own tolerations count too.
fn tolerates_on_node(taints: &[Taint], tolerations: &[Toleration]) -> bool {
    let foreign: Vec<Taint> = taints.iter().filter(|t| !t.key.starts_with("node.kubernetes.io/")).cloned().collect();
    tolerates_hard(&foreign, tolerations)
}
