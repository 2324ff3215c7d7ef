//! From the world to a pass: what exists, what is asked, what is counted.

mod drafts;
mod scene;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::bits::Bits;
use super::book::Book;
use super::constraints::Constraints;
use super::daemon::Daemon;
use super::node::{NodeState, Survey};
use super::pass::Pass;
use super::shape::{Draft, Shape};
use super::standing::standing;
use super::taint::TaintBook;
use super::topology::{Author, Ground, Target, Topology, Universe};
use super::volume::Storage;
use super::{GreedyOptions, Imagined};
use crate::catalog::pool_types::PoolTypes;
use crate::karpenter::labels::{HOSTNAME, WELL_KNOWN};
use crate::karpenter::nodepool::NodePool;
use crate::kube::meta::Labels;
use crate::kube::pod::Pod;
use crate::resources::Resources;
use crate::world::World;

/// The pods of a pass with the shape of each.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub pods: Vec<usize>,
    pub shape: FxHashMap<usize, usize>,
}

/// Everything a pass starts from.
pub(super) fn prepare<'a>(
    world: &'a World,
    pools: &'a [(&'a NodePool, PoolTypes)],
    options: &GreedyOptions,
    imagined: &Imagined<'_>,
) -> (Pass<'a>, Vec<Shape>, Batch) {
    let pools = scene::in_order(pools);
    let labels = pools.iter().flat_map(|(_, types)| types.iter()).flat_map(|t| t.requirements.keys());
    let known: BTreeSet<String> = WELL_KNOWN.iter().copied().chain(labels).map(str::to_owned).collect();
    let mut book = Book::new(known.clone());
    let mut taints = TaintBook::default();
    let storage = Storage::new(world);
    let mut all = standing(world);
    for node in all.iter_mut().filter(|n| imagined.moves(n.node.map(|n| n.meta.name.as_str()))) {
        node.leaving = true;
    }
    let (mut drafts, batch) = drafts::drafts(world, &all, &pools, (options, imagined), &storage, &known);
    let daemons: Vec<Daemon<'_>> = world.daemon_sets.iter().map(|d| Daemon::new(&mut book, d)).collect();
    let dims = drafts::dimensions(&batch, world, &daemons);
    let vector = |r: &Resources| dims.iter().map(|d| r.get(d)).collect::<Vec<i64>>();
    let demands = drafts::demands(&batch, world, &mut drafts, vector);
    let templates = scene::templates(&mut book, &mut taints, &pools, &daemons, &dims, &all);

    let running: Vec<&Pod> = world
        .pods
        .iter()
        .enumerate()
        .filter(|(i, p)| is_running(p) && !batch.shape.contains_key(i))
        .map(|(_, p)| p)
        .collect();
    let repelling = running.iter().filter(|p| p.spec.affinity.as_ref().is_some_and(|a| a.pod_anti_affinity.is_some()));
    let owners: Vec<_> = repelling.map(|p| (*p, Constraints::new(&p.spec, options.preference_policy))).collect();
    let keys = declare_keys(&mut book, &drafts, &owners, &daemons);
    let survey = Survey { daemons: &daemons, dims: &dims, storage: &storage, keys: &keys };

    let mut universe = Universe::new(&book);
    for template in &templates {
        let types = template.types.iter().map(|t| &t.requirements);
        universe.add_pool(&book, book.set(template.req), template.taints, types);
    }
    all.iter().for_each(|n| universe.add_node(&book, &survey.labels(n)));
    universe.publish(&mut book);

    let mut pods_of: FxHashMap<&str, Vec<&Pod>> = FxHashMap::default();
    for pod in world.pods.iter().filter(|p| !p.is_terminal()) {
        if let Some(node) = &pod.node_name {
            pods_of.entry(node).or_default().push(pod);
        }
    }
    let mut nodes: Vec<NodeState> = Vec::new();
    let mut closed = Bits::default();
    let mut targets: FxHashMap<&str, Target<'_>> = FxHashMap::default();
    let (mut ground, mut names) = (Vec::new(), Vec::new());
    for node in &all {
        let place = nodes.len();
        if node.leaving {
            let (req, taints) = (book.id(survey.labels(node)), taints.taints_id(&node.taints));
            targets.extend(node.node.map(|n| (n.meta.name.as_str(), Target::elsewhere(req, taints, node.hostname))));
            continue;
        }
        let pods = node.node.and_then(|n| pods_of.get(n.meta.name.as_str())).map_or(&[][..], Vec::as_slice);
        let limits = scene::attach_limits(world, node, &pools);
        let state = survey.node(&mut book, &mut taints, place, node, pods, limits);
        if let Some(n) = node.node {
            targets.insert(n.meta.name.as_str(), state.target(place, node.hostname));
            ground.push(state.target(place, node.hostname));
        }
        if imagined.closed.contains(node.name) {
            closed.set(place);
        }
        names.push((node.name.to_owned(), node.hostname.to_owned()));
        nodes.push(state);
    }

    let namespaces = scene::namespaces(world);
    let ground = Ground { universe: &universe, nodes: ground, namespaces: &namespaces };
    let mut topology = Topology::default();
    let mut shapes = drafts::shapes(&mut book, &mut taints, &mut topology, &ground, drafts);
    let target_of = |pod: &Pod| pod.node_name.as_deref().and_then(|n| targets.get(n)).copied();
    for (pod, rules) in &owners {
        let tolerations = taints.tolerations_id(&pod.spec.tolerations);
        let author = Author { namespace: &pod.namespace, labels: &pod.labels, tolerations };
        let repels = topology.repelling(&mut book, &mut taints, &ground, author, &rules.anti_affinity);
        if let Some(target) = target_of(pod) {
            repels.into_iter().for_each(|g| topology.count_owner(&mut book, g, target));
        }
    }
    for shape in &mut shapes {
        (shape.selected_by, shape.repelled_by) = topology.selecting(&shape.namespace, &shape.labels);
    }
    let mut selecting: FxHashMap<(&str, &Labels), Vec<usize>> = FxHashMap::default();
    for pod in running {
        let Some(target) = target_of(pod) else { continue };
        let groups = selecting
            .entry((pod.namespace.as_str(), &*pod.labels))
            .or_insert_with(|| topology.selecting(&pod.namespace, &pod.labels).0);
        groups.iter().for_each(|g| topology.count_running(&mut book, &mut taints, *g, target));
    }
    let mut pass = Pass::new(*options, book, taints, topology, templates, nodes, names, (dims, demands));
    pass.closed = closed;
    (pass, shapes, batch)
}

/// Declares every topology key; gives all keys that some rule holds against
/// a node's labels.
fn declare_keys(
    book: &mut Book,
    drafts: &[Draft],
    owners: &[(&Pod, Constraints)],
    daemons: &[Daemon<'_>],
) -> BTreeSet<String> {
    let rules = drafts.iter().flat_map(|d| &d.chain).chain(owners.iter().map(|(_, c)| c));
    let topology: BTreeSet<&str> = rules.flat_map(Constraints::topology_keys).filter(|k| *k != HOSTNAME).collect();
    let mut keys: BTreeSet<String> = topology.iter().map(|k| (*k).to_owned()).collect();
    topology.into_iter().for_each(|k| {
        book.key(k);
    });
    let asked = drafts.iter().flat_map(Draft::sets);
    keys.extend(asked.flat_map(|s| s.keys().map(str::to_owned).collect::<Vec<_>>()));
    keys.extend(daemons.iter().flat_map(|d| d.keys(book)));
    keys.remove(HOSTNAME);
    keys
}

/// Bound and neither terminal nor terminating.
fn is_running(pod: &Pod) -> bool {
    pod.node_name.is_some() && !pod.is_terminal() && pod.deleted.is_none()
}
