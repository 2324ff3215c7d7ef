//! From a plan in the solver's terms back to nodes, pods and reasons.

mod claims;
mod launch;

pub use claims::node_claims;
pub use launch::LAUNCH_LIST;

use std::collections::BTreeMap;
use std::sync::Arc;

use millwright_solver::instance::Micros;
use millwright_solver::plan::Plan;
use rustc_hash::FxHashMap;

use crate::kube::pod::PodSpec;
use crate::lower::{BinSource, Lowered, Witness};
use crate::resources::Resources;

/// A node to buy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedNode {
    pub pool: String,
    pub instance_type: String,
    pub zone: String,
    pub capacity_type: String,
    pub reservation: Option<String>,
    pub price: Micros,
    /// Positions in `World::pods`, ascending.
    pub pods: Vec<usize>,
    /// Every type the launch may return, in price order.
    pub instance_types: Vec<String>,
    /// Bin of the instance it was planned as.
    pub bin: usize,
    /// Row whose type, zone and capacity type are told here.
    pub row: usize,
    /// What pods may take of it, those of DaemonSets included.
    pub allocatable: Resources,
    /// What its DaemonSets take.
    pub daemons: Resources,
}

/// A pod that changes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Position in `World::pods`.
    pub pod: usize,
    /// Node or claim it runs on.
    pub from: String,
    pub to: Target,
}

/// Where a pod goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A node or claim that exists, by name.
    Existing(String),
    /// Position in [`Lifted::nodes`].
    New(usize),
}

/// A plan in Kubernetes' words.
#[derive(Clone, Debug, Default)]
pub struct Lifted {
    pub nodes: Vec<PlannedNode>,
    /// Node or claim name with the pods that come to it.
    pub existing: Vec<(String, Vec<usize>)>,
    /// Nodes or claims to remove, by name, in the order of the instance.
    pub removed: Vec<String>,
    /// Pods of removed nodes with their new places, ascending by pod.
    pub moves: Vec<Move>,
    /// Pods without a place, ascending, with the reasons.
    pub unscheduled: Vec<(usize, Vec<String>)>,
    /// Price of what is bought.
    pub cost: Micros,
}

/// Reads a plan back. Pods of one shape are interchangeable; they take their
/// places in the order of their names, nodes that exist first.
pub fn lift(lowered: &Lowered<'_>, plan: &Plan, spot_types: usize) -> Lifted {
    let mut next: Vec<usize> = vec![0; lowered.shape_pods.len()];
    // Residents need a place only if their node goes.
    let moves = |p: &usize| lowered.homes.get(p).is_none_or(|home| plan.removed.binary_search(home).is_ok());
    let shape_pods: Vec<Vec<usize>> =
        lowered.shape_pods.iter().map(|pods| pods.iter().copied().filter(moves).collect()).collect();
    let mut take = |contents: &[(usize, u32)]| {
        let mut pods = Vec::new();
        for &(shape, count) in contents {
            let from = next[shape];
            next[shape] += count as usize;
            pods.extend(&shape_pods[shape][from..next[shape]]);
        }
        pods.sort_unstable();
        pods
    };
    let existing: Vec<(String, Vec<usize>)> = plan
        .placed
        .iter()
        .filter(|(_, contents)| !contents.is_empty())
        .map(|(node, contents)| (lowered.places[*node].name.to_owned(), take(contents)))
        .collect();
    let mut bought: Vec<_> = plan.bought.iter().collect();
    bought.sort_by(|a, b| (order(lowered, a.bin), &a.contents).cmp(&(order(lowered, b.bin), &b.contents)));
    let mut nodes: Vec<PlannedNode> = Vec::with_capacity(bought.len());
    let peers = launch::Peers::of(lowered);
    for node in bought {
        let launch = launch::launch(lowered, &peers, node, spot_types);
        let row = &lowered.offers.rows[launch.row];
        let offering = lowered.offers.offering(row);
        nodes.push(PlannedNode {
            pool: lowered.offers.pools[row.pool].pool.name().to_owned(),
            instance_type: lowered.offers.ptype(row).name.to_string(),
            zone: offering.zone.to_string(),
            capacity_type: offering.capacity_type.as_str().to_owned(),
            reservation: lowered.instance.bins[launch.row].supply.map(|s| lowered.supply_names[s].clone()),
            price: offering.price,
            pods: take(&node.contents),
            instance_types: launch.types,
            bin: node.bin,
            row: launch.row,
            allocatable: lowered.offers.ptype(row).allocatable.clone(),
            daemons: daemons(lowered, launch.row),
        });
    }
    let mut unscheduled: BTreeMap<usize, Vec<String>> = lowered.refused.iter().cloned().collect();
    let mut witness = None;
    // Pods of one spec stay for the same reasons, unless by their own volumes.
    let mut told: FxHashMap<(usize, *const PodSpec), Vec<String>> = FxHashMap::default();
    for &(shape, count) in &plan.unserved {
        let from = next[shape];
        next[shape] += count as usize;
        for &pod in &shape_pods[shape][from..next[shape]] {
            let spec = &lowered.world.pods[pod].spec;
            let key = (shape, Arc::as_ptr(spec));
            let reasons = match told.get(&key).filter(|_| spec.volumes.is_empty()) {
                Some(reasons) => reasons.clone(),
                None => witness.get_or_insert_with(|| Witness::new(lowered, plan)).why(pod, shape).reasons,
            };
            told.insert(key, reasons.clone());
            unscheduled.insert(pod, reasons);
        }
    }
    let removed = plan.removed.iter().map(|&n| lowered.places[n].name.to_owned()).collect();
    let moves = moved(lowered, &existing, &nodes);
    Lifted {
        removed,
        moves,
        cost: nodes.iter().map(|n| n.price).sum(),
        nodes,
        existing,
        unscheduled: unscheduled.into_iter().collect(),
    }
}

/// What the DaemonSets of a row take: the difference between what the type
/// has and what the bin offers.
fn daemons(lowered: &Lowered<'_>, row: usize) -> Resources {
    let whole = &lowered.offers.ptype(&lowered.offers.rows[row]).allocatable;
    let mut taken = Resources::default();
    for (name, &left) in lowered.dims.resources.iter().zip(&lowered.instance.bins[row].capacity) {
        if whole.get(name) > left {
            taken.set(name, whole.get(name) - left);
        }
    }
    taken
}

/// The pods among those placed that had a place before.
fn moved(lowered: &Lowered<'_>, existing: &[(String, Vec<usize>)], nodes: &[PlannedNode]) -> Vec<Move> {
    let old = existing.iter().map(|(name, pods)| (Target::Existing(name.clone()), pods));
    let new = nodes.iter().enumerate().map(|(i, node)| (Target::New(i), &node.pods));
    let mut moves: Vec<Move> = Vec::new();
    for (to, pods) in old.chain(new) {
        for &pod in pods {
            if let Some(&home) = lowered.homes.get(&pod) {
                moves.push(Move { pod, from: lowered.places[home].name.to_owned(), to: to.clone() });
            }
        }
    }
    moves.sort_by_key(|m| m.pod);
    moves
}

/// A canonical order of bins that does not depend on the catalogue's.
fn order<'l>(lowered: &'l Lowered<'_>, bin: usize) -> (usize, usize, &'l str, &'l str, &'l str) {
    let row = match &lowered.bins[bin] {
        BinSource::Row(r) => *r,
        BinSource::Envelope(e) => e.members[0],
    };
    let row = &lowered.offers.rows[row];
    let offering = lowered.offers.offering(row);
    let name = &lowered.offers.ptype(row).name;
    (row.pool, row.variant, name, &offering.zone, offering.capacity_type.as_str())
}
