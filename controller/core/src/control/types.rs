//! What pools may buy, worked out anew only when something that it depends on
//! has changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use millwright_models::catalog::{Catalog, Gates};
use millwright_models::karpenter::labels::{INSTANCE_TYPE, NODEPOOL, RESERVATION_ID};
use millwright_models::karpenter::nodeclass::NodeClass;
use millwright_models::karpenter::nodepool::{NodePool, Status};
use millwright_models::karpenter::overlay::NodeOverlay;
use millwright_models::kube::meta::Meta;
use millwright_models::resources::MEMORY;
use millwright_models::world::World;

use crate::candidates::{Types, types_of};

/// The types of all pools of the world that was seen last.
#[derive(Debug, Default)]
pub struct TypesCache {
    last: Option<(Inputs, Arc<Types>)>,
}

/// Everything that decides what pools may buy.
#[derive(Debug)]
struct Inputs {
    catalog: Arc<Catalog>,
    pools: Vec<NodePool>,
    classes: Vec<NodeClass>,
    overlays: Vec<NodeOverlay>,
    machines: BTreeMap<(bool, String), Machine>,
}

/// What a node or a claim tells of its type and its reservation.
#[derive(Debug, Default, PartialEq, Eq)]
struct Machine {
    provider_id: String,
    labels: [Option<String>; 3],
    /// Capacity and allocatable, bytes.
    memory: (i64, i64),
    image: String,
    node: String,
}

impl TypesCache {
    /// What the pools of `world` may buy.
    pub fn of(&mut self, world: &World, catalog: &Arc<Catalog>, gates: &Gates) -> Arc<Types> {
        let inputs = Inputs::of(world, catalog);
        if let Some((_, types)) = self.last.as_ref().filter(|(last, _)| last.is_same(&inputs)) {
            return types.clone();
        }
        let types = Arc::new(types_of(world, catalog, gates));
        self.last = Some((inputs, types.clone()));
        types
    }
}

impl Inputs {
    fn of(world: &World, catalog: &Arc<Catalog>) -> Self {
        let pool = |p: &NodePool| NodePool {
            meta: unversioned(&p.meta),
            conditions: Vec::new(),
            status: Status::default(),
            ..p.clone()
        };
        let class = |c: &NodeClass| NodeClass { meta: unversioned(&c.meta), ..c.clone() };
        let overlay = |o: &NodeOverlay| NodeOverlay { meta: unversioned(&o.meta), ..o.clone() };
        let labels = |meta: &Meta| [NODEPOOL, INSTANCE_TYPE, RESERVATION_ID].map(|k| meta.labels.get(k).cloned());
        let nodes = world.nodes.iter().map(|n| {
            let machine = Machine {
                provider_id: n.provider_id.clone(),
                labels: labels(&n.meta),
                memory: (n.capacity.get(MEMORY), n.allocatable.get(MEMORY)),
                ..Machine::default()
            };
            ((true, n.meta.name.clone()), machine)
        });
        let claims = world.node_claims.iter().map(|c| {
            let machine = Machine {
                provider_id: c.provider_id.clone(),
                labels: labels(&c.meta),
                image: c.image_id.clone(),
                node: c.node_name.clone(),
                ..Machine::default()
            };
            ((false, c.meta.name.clone()), machine)
        });
        Self {
            catalog: catalog.clone(),
            pools: world.node_pools.iter().map(pool).collect(),
            classes: world.node_classes.iter().map(class).collect(),
            overlays: world.overlays.iter().map(overlay).collect(),
            machines: nodes.chain(claims).collect(),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.catalog, &other.catalog)
            && self.pools == other.pools
            && self.classes == other.classes
            && self.overlays == other.overlays
            && self.machines == other.machines
    }
}

/// Without what changes with every write.
fn unversioned(meta: &Meta) -> Meta {
    Meta { resource_version: String::new(), ..meta.clone() }
}
