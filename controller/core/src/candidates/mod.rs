//! Nodes that may be disrupted, and why others may not. (spec 30 §5)

mod exclusion;
mod filter;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use millwright_models::catalog::{Catalog, Gates, PoolTypes, pool_types, price_in_pool, price_of};
use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::pod::Pod;
use millwright_models::world::World;
use millwright_solver::instance::Micros;

pub use exclusion::Exclusion;
pub use filter::Unconsolidatable;

use crate::budgets::Census;
use crate::cost;
use crate::nodes::{Memory, StateNode, state_nodes};
use crate::pdb::{Pdbs, Refusal};
use crate::pods::{is_active, shield};

/// How gently a node must be treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// PodDisruptionBudgets and opt-outs of pods always count.
    Graceful,
    /// They do not where the claim has a terminationGracePeriod.
    Eventual,
    /// Neither they nor the node's own opt-out keep an unhealthy node.
    Repair,
}

/// What each pool may buy, or why that is not known.
pub type Types = BTreeMap<String, Result<PoolTypes, String>>;

/// What the pools of a world may buy.
pub fn types_of(world: &World, catalog: &Catalog, gates: &Gates) -> Types {
    let types = |p: &NodePool| pool_types(world, catalog, p, gates).map_err(|e| e.to_string());
    world.node_pools.iter().map(|p| (p.name().to_owned(), types(p))).collect()
}

/// Everything that candidates are judged by.
pub struct Scene<'w> {
    pub world: &'w World,
    pub catalog: &'w Catalog,
    pub gates: Gates,
    pub now: Timestamp,
    pub memory: Memory,
    pub nodes: Vec<StateNode<'w>>,
    pub pdbs: Pdbs<'w>,
    pub pools: Arc<Types>,
    /// Nodes without a claim are candidates too.
    pub unmanaged: bool,
}

/// A node that may be disrupted.
#[derive(Clone, Debug)]
pub struct Candidate<'w> {
    /// Position in [`Scene::nodes`].
    pub node: usize,
    /// None for a node that no NodePool manages.
    pub pool: Option<&'w NodePool>,
    /// Known to the catalogue.
    pub instance_type: Option<&'w str>,
    pub zone: Option<&'w str>,
    pub capacity_type: Option<&'w str>,
    /// Pods that need a new place if it goes (positions in `World::pods`).
    pub pods: Vec<usize>,
    pub disruption_cost: f64,
    /// 0 where it is not known.
    pub price: Micros,
    pub rescheduling: f64,
    /// A pod opts out or is held by a budget, and the class looks past it.
    pub has_blockers: bool,
}

impl Candidate<'_> {
    /// Nothing on it has to move.
    pub fn is_empty(&self) -> bool {
        cost::is_empty(self.rescheduling)
    }

    /// What consolidation sorts by.
    pub fn savings_ratio(&self) -> f64 {
        self.price as f64 / self.rescheduling
    }
}

impl<'w> Scene<'w> {
    /// Pairs nodes with claims, counts budgets, asks for the pools' types.
    pub fn new(world: &'w World, catalog: &'w Catalog, gates: Gates, now: Timestamp, memory: Memory) -> Self {
        let types = Arc::new(types_of(world, catalog, &gates));
        Self::of(world, catalog, gates, now, memory, types)
    }

    /// The same where the pools' types are known already.
    pub fn of(
        world: &'w World,
        catalog: &'w Catalog,
        gates: Gates,
        now: Timestamp,
        memory: Memory,
        pools: Arc<Types>,
    ) -> Self {
        Self {
            world,
            catalog,
            gates,
            now,
            memory,
            nodes: state_nodes(world),
            pdbs: Pdbs::new(world),
            pools,
            unmanaged: false,
        }
    }

    /// What budgets count.
    pub fn census(&self) -> Census<'_, 'w> {
        Census { nodes: &self.nodes, memory: &self.memory, unmanaged: self.unmanaged }
    }

    /// Pods bound to node `n`.
    pub fn pods(&self, n: usize) -> impl Iterator<Item = &'w Pod> + '_ {
        let world = self.world;
        self.nodes[n].pods.iter().map(|p| &world.pods[*p])
    }

    /// What node `n` costs: its offering as its pool pays for it, else as the
    /// catalogue has it; available or not.
    pub fn price(&self, n: usize) -> Option<Micros> {
        let node = &self.nodes[n];
        let of_pool = node.pool().and_then(|p| self.pools.get(p)).and_then(|r| r.as_ref().ok());
        let in_pool = of_pool.and_then(|t| price_in_pool(&t.types, node.labels()));
        in_pool.or_else(|| price_of(self.catalog, node.labels()))
    }

    /// Cost of moving the pods of node `n`.
    pub fn rescheduling(&self, n: usize) -> f64 {
        cost::of_rescheduling(self.pods(n), &self.gates)
    }

    /// Node `n` as a candidate, or the first reason why it is none.
    pub fn candidate(&self, n: usize, class: Class) -> Result<Candidate<'w>, Exclusion> {
        let node = &self.nodes[n];
        let repair = class == Class::Repair;
        if node.is_queued(&self.memory) {
            return Err(Exclusion::Queued);
        }
        if repair && node.pool().is_none() {
            return Err(Exclusion::NoPoolLabel);
        }
        if node.claim.is_none() && !self.unmanaged {
            return Err(Exclusion::Unmanaged);
        }
        if node.node.is_none() {
            return Err(Exclusion::NoNode);
        }
        if node.is_rebooting() {
            return Err(Exclusion::Rebooting);
        }
        if node.is_marked(&self.memory) {
            return Err(Exclusion::Leaving);
        }
        let forgiven = repair && node.is_registered() && !node.is_initialized();
        if !node.is_initialized() && !forgiven {
            return Err(Exclusion::Uninitialized { registered: node.is_registered() });
        }
        if !forgiven && node.is_nominated(&self.memory, self.now) {
            return Err(Exclusion::Nominated);
        }
        if !repair && node.is_shielded() {
            return Err(Exclusion::DoNotDisrupt);
        }
        let pool = self.pool_of(node)?;
        let blocked = self.pod_block(n);
        let bounded = node.claim.is_some_and(|c| c.termination_grace_period.is_some());
        let ignored = repair || (class == Class::Eventual && bounded);
        let has_blockers = blocked.is_some();
        if let Some(why) = blocked.filter(|_| !ignored) {
            return Err(why);
        }
        let label = |key: &str| node.labels().get(key).map(String::as_str);
        let pods: Vec<usize> = node.pods.iter().copied().filter(|p| self.world.pods[*p].is_reschedulable()).collect();
        let disruption_cost = node.claim.map_or(0.0, |c| cost::of_disruption(self.pods(n), c, &self.gates, self.now));
        Ok(Candidate {
            node: n,
            pool,
            instance_type: label(labels::INSTANCE_TYPE).filter(|t| self.catalog.find(t).is_some()),
            zone: label(labels::ZONE),
            capacity_type: label(labels::CAPACITY_TYPE),
            pods,
            disruption_cost,
            price: self.price(n).unwrap_or(0),
            rescheduling: self.rescheduling(n),
            has_blockers,
        })
    }

    /// Rules 8 and 9.
    fn pool_of(&self, node: &StateNode<'w>) -> Result<Option<&'w NodePool>, Exclusion> {
        let foreign = node.claim.is_none();
        let Some(name) = node.pool() else {
            return if foreign { Ok(None) } else { Err(Exclusion::NoPoolLabel) };
        };
        match (self.world.node_pool(name), self.pools.get(name)) {
            (Some(pool), Some(Ok(types))) if !types.types.is_empty() => Ok(Some(pool)),
            (Some(_), Some(Err(why))) => Err(Exclusion::NoTypes { pool: name.to_owned(), why: why.clone() }),
            (Some(_), _) => Err(Exclusion::NoTypes { pool: name.to_owned(), why: "none is left".to_owned() }),
            (None, _) if foreign => Ok(None),
            (None, _) => Err(Exclusion::NoPool(name.to_owned())),
        }
    }

    /// Rules 10 and 11: the first pod that holds node `n`.
    fn pod_block(&self, n: usize) -> Option<Exclusion> {
        let pods = || self.nodes[n].pods.iter().copied();
        for p in pods() {
            let pod = &self.world.pods[p];
            if is_active(pod) && shield(pod, self.now).holds() {
                return Some(Exclusion::PodShield { pod: pod.full_name(), shield: shield(pod, self.now) });
            }
        }
        pods().find_map(|p| {
            let refusal = self.pdbs.refusal(p, self.now)?;
            let pod = self.world.pods[p].full_name();
            Some(match refusal {
                Refusal::Exhausted(b) => Exclusion::Pdb { pod, pdb: self.pdbs.key(b) },
                Refusal::Several(all) => {
                    Exclusion::SeveralPdbs { pod, pdbs: all.iter().map(|b| self.pdbs.key(*b)).collect() }
                }
            })
        })
    }
}
