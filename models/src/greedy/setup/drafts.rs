//! Pods by shape, with what each shape asks.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::super::batch::refusal;
use super::super::book::Book;
use super::super::constraints::{Constraints, is_preference, split_host};
use super::super::daemon::Daemon;
use super::super::port::host_ports;
use super::super::shape::{Alternative, Draft, Shape, Variant};
use super::super::standing::Standing;
use super::super::taint::TaintBook;
use super::super::topology::{Author, Ground, Topology};
use super::super::volume::Storage;
use super::super::{GreedyOptions, Imagined};
use super::Batch;
use crate::catalog::pool_types::PoolType;
use crate::karpenter::nodepool::NodePool;
use crate::kube::eviction::must_move;
use crate::kube::meta::Labels;
use crate::kube::pod::{Pod, PodSpec};
use crate::resources::Resources;
use crate::world::World;

/// What makes pods alike.
#[derive(PartialEq, Eq, Hash)]
struct Likeness<'a> {
    namespace: &'a str,
    labels: &'a Labels,
    spec: &'a PodSpec,
    requests: &'a Resources,
    /// Only where volumes are named after the pod.
    name: Option<&'a str>,
    moves: bool,
}

/// The batch, and its shapes before their groups are known.
pub(super) fn drafts(
    world: &World,
    all: &[Standing<'_>],
    pools: &[(&NodePool, &[PoolType])],
    (options, imagined): (&GreedyOptions, &Imagined<'_>),
    storage: &Storage<'_>,
    known: &BTreeSet<String>,
) -> (Vec<Draft>, Batch) {
    let leaving: BTreeSet<&str> =
        all.iter().filter(|n| n.leaving).filter_map(|n| n.node).map(|n| n.meta.name.as_str()).collect();
    let soft_taints = pools.iter().any(|(p, _)| p.template.taints.iter().any(is_preference));
    let moves = |p: &Pod| {
        options.pods_of_leaving_nodes
            && p.node_name.as_deref().is_some_and(|n| leaving.contains(n))
            && must_move(world, p)
    };
    let mut ids: FxHashMap<Likeness<'_>, usize> = FxHashMap::default();
    let (mut drafts, mut batch) = (Vec::new(), Batch::default());
    for (i, pod) in world.pods.iter().enumerate().filter(|(_, p)| p.is_pending() || moves(p)) {
        let named = pod.spec.volumes.iter().any(|v| v.ephemeral.is_some());
        let likeness = Likeness {
            namespace: &pod.namespace,
            labels: &pod.labels,
            spec: &pod.spec,
            requests: &pod.requests,
            name: named.then_some(pod.name.as_str()),
            moves: imagined.moves(pod.node_name.as_deref()),
        };
        let moves = likeness.moves;
        let shape = *ids.entry(likeness).or_insert_with(|| {
            drafts.push(Draft { moves, ..draft(pod, options, storage, known, soft_taints) });
            drafts.len() - 1
        });
        batch.pods.push(i);
        batch.shape.insert(i, shape);
    }
    (drafts, batch)
}

fn draft(
    pod: &Pod,
    options: &GreedyOptions,
    storage: &Storage<'_>,
    known: &BTreeSet<String>,
    soft_taints: bool,
) -> Draft {
    let original = Constraints::new(&pod.spec, options.preference_policy);
    let mut refused = refusal(pod, &original, known);
    let volumes = storage.of(pod).unwrap_or_else(|reason| {
        refused.get_or_insert(reason);
        Default::default()
    });
    let mut chain = vec![original];
    while let Some(mut next) = chain.last().cloned().filter(|_| refused.is_none()) {
        if !next.relax(soft_taints) {
            break;
        }
        chain.push(next);
    }
    Draft {
        namespace: pod.namespace.clone(),
        labels: pod.labels.clone(),
        demand: 0,
        ports: host_ports(&pod.spec),
        volumes,
        chain,
        moves: false,
        refused,
    }
}

/// Shapes with their groups, which are made here.
pub(super) fn shapes(
    book: &mut Book,
    taints: &mut TaintBook,
    topology: &mut Topology,
    ground: &Ground<'_>,
    drafts: Vec<Draft>,
) -> Vec<Shape> {
    let mut shapes = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let mut variants = Vec::with_capacity(draft.chain.len());
        for rules in draft.chain.iter().filter(|_| draft.refused.is_none()) {
            let ((full, full_host), (strict, strict_host)) = (split_host(rules.full()), split_host(rules.strict()));
            let tolerations = taints.tolerations_id(&rules.tolerations);
            let author = Author { namespace: &draft.namespace, labels: &draft.labels, tolerations };
            let (owned, repels) = topology.own(book, taints, ground, author, rules);
            let (full, strict) = (book.id(full), book.id(strict));
            variants.push(Variant { full, full_host, strict, strict_host, tolerations, owned, repels });
        }
        let alternatives = draft.volumes.alternatives.into_iter().map(|set| {
            let (set, host) = split_host(set);
            Alternative { req: book.id(set), host }
        });
        shapes.push(Shape {
            alternatives: alternatives.collect(),
            namespace: draft.namespace,
            labels: draft.labels,
            demand: draft.demand,
            ports: draft.ports,
            attached: draft.volumes.attached,
            variants,
            selected_by: Vec::new(),
            repelled_by: Vec::new(),
            moves: draft.moves,
            refused: draft.refused,
        });
    }
    shapes
}

/// Names of the resources that somebody asks for.
pub(super) fn dimensions(batch: &Batch, world: &World, daemons: &[Daemon<'_>]) -> Vec<String> {
    let pods = batch.pods.iter().flat_map(|p| world.pods[*p].requests.iter());
    let names = pods.chain(daemons.iter().flat_map(|d| d.requests.iter())).map(|(n, _)| n);
    let all: BTreeSet<&str> = names.collect();
    all.into_iter().map(str::to_owned).collect()
}

/// Numbers the distinct vectors of requests and notes each draft's.
pub(super) fn demands(
    batch: &Batch,
    world: &World,
    drafts: &mut [Draft],
    vector: impl Fn(&Resources) -> Vec<i64>,
) -> Vec<Vec<i64>> {
    let mut all: Vec<Vec<i64>> = Vec::new();
    let mut ids: FxHashMap<Vec<i64>, usize> = FxHashMap::default();
    let mut done = vec![false; drafts.len()];
    for pod in &batch.pods {
        let shape = batch.shape[pod];
        if std::mem::replace(&mut done[shape], true) {
            continue;
        }
        let demand = vector(&world.pods[*pod].requests);
        drafts[shape].demand = *ids.entry(demand).or_insert_with_key(|d| {
            all.push(d.clone());
            all.len() - 1
        });
    }
    all
}
