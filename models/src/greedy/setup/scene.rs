//! Pools in their order, limits of nodes, namespaces.

use std::collections::BTreeMap;

use super::super::book::Book;
use super::super::constraints::split_host;
use super::super::daemon::Daemon;
use super::super::limit::Limits;
use super::super::standing::Standing;
use super::super::taint::TaintBook;
use super::super::template::{EBS_DRIVER, Template, requirements};
use crate::catalog::pool_types::{PoolType, PoolTypes};
use crate::karpenter::labels::INSTANCE_TYPE;
use crate::karpenter::nodepool::NodePool;
use crate::kube::meta::Labels;
use crate::world::World;

/// Highest weight first, equal ones by name from the end.
pub(super) fn in_order<'a>(pools: &'a [(&'a NodePool, PoolTypes)]) -> Vec<(&'a NodePool, &'a [PoolType])> {
    let usable = pools
        .iter()
        .filter(|(p, t)| !t.types.is_empty() && p.replicas.is_none() && p.meta.deletion_timestamp.is_none());
    let mut all: Vec<_> = usable.map(|(p, t)| (*p, t.types.as_slice())).collect();
    all.sort_by(|(a, _), (b, _)| b.weight.cmp(&a.weight).then_with(|| b.name().cmp(a.name())));
    all
}

pub(super) fn templates<'a>(
    book: &mut Book,
    taints: &mut TaintBook,
    pools: &[(&'a NodePool, &'a [PoolType])],
    daemons: &[Daemon<'_>],
    dims: &[String],
    all: &[Standing<'_>],
) -> Vec<Template<'a>> {
    let mut templates = Vec::new();
    for (pool, types) in pools {
        // A malformed requirement was refused when the pool was read.
        let Ok(set) = requirements(pool) else { continue };
        let req = book.id(split_host(set).0);
        let mine = all.iter().filter(|n| !n.leaving && n.pool() == Some(pool.name())).map(|n| &n.capacity);
        let limits = Limits::new(pool, mine);
        templates.push(Template::new(book, taints, (*pool, *types), req, daemons, dims, limits));
    }
    templates
}

/// Attach limits of a node: what its drivers have published, else its type's.
pub(super) fn attach_limits(
    world: &World,
    node: &Standing<'_>,
    pools: &[(&NodePool, &[PoolType])],
) -> BTreeMap<String, u32> {
    let mut limits = BTreeMap::new();
    let published = node.node.and_then(|n| world.csi_nodes.iter().find(|c| c.meta.name == n.meta.name));
    if published.is_none_or(|c| !c.drivers.contains_key(EBS_DRIVER)) {
        let name = node.labels.get(INSTANCE_TYPE);
        let kind = name.and_then(|n| pools.iter().flat_map(|(_, t)| t.iter()).find(|t| *t.name == **n));
        limits.extend(kind.and_then(|t| t.volume_attachments).map(|limit| (EBS_DRIVER.to_owned(), limit)));
    }
    let listed = published.into_iter().flat_map(|c| &c.drivers);
    limits.extend(listed.filter_map(|(driver, limit)| Some((driver.clone(), (*limit)?))));
    limits
}

pub(super) fn namespaces(world: &World) -> BTreeMap<String, Labels> {
    let mut all: BTreeMap<String, Labels> =
        world.namespaces.iter().map(|n| (n.meta.name.clone(), n.meta.labels.clone())).collect();
    for pod in &world.pods {
        if !all.contains_key(&pod.namespace) {
            all.insert(pod.namespace.clone(), Labels::new());
        }
    }
    for (name, labels) in &mut all {
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.clone());
    }
    all
}
