//! Changes that lift what holds a node.

use std::sync::Arc;

use millwright_models::karpenter::labels::DO_NOT_DISRUPT;
use millwright_models::karpenter::nodepool::{Budget, NodePool};
use millwright_models::kube::pod::Pod;
use millwright_models::kube::policy::PodDisruptionBudget;
use millwright_models::world::World;
use millwright_solver::instance::Micros;

use crate::candidates::Scene;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lift {
    /// The annotation on the node and its claim.
    NodeShield { node: String, claim: Option<String> },
    /// The annotation on pods of the node (`namespace`, `name`).
    PodShields(Vec<(String, String)>),
    /// Budgets that cover pods of the node.
    Pdbs(Vec<(String, String)>),
    /// The pool's disruption budgets.
    Budgets { pool: String },
    /// How long the pool waits after pods came or went.
    ConsolidateAfter { pool: String },
    /// What the pool consolidates at all.
    Policy { pool: String },
    /// The price on disruption.
    FreeDisruption,
}

/// Everything that might hold node `name`.
pub fn lifts(scene: &Scene<'_>, name: &str, price: Micros) -> Vec<Lift> {
    let Some(n) = scene.nodes.iter().position(|s| s.name() == name) else { return Vec::new() };
    let node = &scene.nodes[n];
    let mut out = Vec::new();
    if node.is_shielded() {
        let claim = node.claim.map(|c| c.meta.name.clone());
        out.push(Lift::NodeShield { node: name.to_owned(), claim });
    }
    let shields = |p: &&Pod| p.annotations.contains_key(DO_NOT_DISRUPT);
    let key = |p: &Pod| (p.namespace.clone(), p.name.clone());
    let shielded: Vec<_> = scene.pods(n).filter(shields).map(key).collect();
    if !shielded.is_empty() {
        out.push(Lift::PodShields(shielded));
    }
    let covers = |b: &&PodDisruptionBudget| {
        let selects = |labels: &_| b.selector.as_ref().is_some_and(|s| s.matches(labels));
        scene.pods(n).any(|p| p.namespace == b.meta.namespace && selects(&p.labels))
    };
    let pdbs: Vec<_> =
        scene.world.budgets.iter().filter(covers).map(|b| (b.meta.namespace.clone(), b.meta.name.clone())).collect();
    if !pdbs.is_empty() {
        out.push(Lift::Pdbs(pdbs));
    }
    if let Some(pool) = node.pool().and_then(|p| scene.world.node_pool(p)) {
        let name = || pool.name().to_owned();
        if pool.disruption.budgets.iter().any(|b| b.nodes != "100%") {
            out.push(Lift::Budgets { pool: name() });
        }
        if pool.disruption.consolidate_after.as_deref() != Some("0s") {
            out.push(Lift::ConsolidateAfter { pool: name() });
        }
        if pool.disruption.policy != "WhenEmptyOrUnderutilized" {
            out.push(Lift::Policy { pool: name() });
        }
    }
    if price > 0 {
        out.push(Lift::FreeDisruption);
    }
    out
}

impl Lift {
    /// What to do, as an instruction.
    pub fn words(&self) -> String {
        let list = |names: &[(String, String)]| {
            let mut all: Vec<String> = names.iter().take(3).map(|(ns, n)| format!("{ns}/{n}")).collect();
            if names.len() > 3 {
                all.push(format!("{} more", names.len() - 3));
            }
            all.join(", ")
        };
        match self {
            Self::NodeShield { .. } => format!("take the annotation {DO_NOT_DISRUPT} off the node"),
            Self::PodShields(pods) => format!("take the annotation {DO_NOT_DISRUPT} off {}", list(pods)),
            Self::Pdbs(pdbs) => format!("let PodDisruptionBudget {} allow more evictions", list(pdbs)),
            Self::Budgets { pool } => {
                format!("let NodePool {pool} disrupt more nodes at once (spec.disruption.budgets)")
            }
            Self::ConsolidateAfter { pool } => format!("wait, or set consolidateAfter of NodePool {pool} to 0s"),
            Self::Policy { pool } => {
                format!("set consolidationPolicy of NodePool {pool} to WhenEmptyOrUnderutilized")
            }
            Self::FreeDisruption => "take disruption to cost nothing (--disruption-price 0)".to_owned(),
        }
    }

    /// Makes the change; the price on disruption is the caller's.
    pub fn apply(&self, world: &mut World) {
        match self {
            Self::NodeShield { node, claim } => {
                for n in world.nodes.iter_mut().filter(|n| n.meta.name == *node) {
                    n.meta.annotations.remove(DO_NOT_DISRUPT);
                }
                for c in world.node_claims.iter_mut().filter(|c| Some(&c.meta.name) == claim.as_ref()) {
                    c.meta.annotations.remove(DO_NOT_DISRUPT);
                }
            }
            Self::PodShields(pods) => {
                for pod in &mut world.pods {
                    if pods.iter().any(|(ns, n)| *ns == pod.namespace && *n == pod.name) {
                        Arc::make_mut(&mut pod.annotations).remove(DO_NOT_DISRUPT);
                    }
                }
            }
            Self::Pdbs(pdbs) => {
                world.budgets.retain(|b| !pdbs.iter().any(|(ns, n)| *ns == b.meta.namespace && *n == b.meta.name));
            }
            Self::Budgets { pool } => {
                let all = Budget { nodes: "100%".to_owned(), ..Budget::default() };
                self::pool(world, pool, |p| p.disruption.budgets = vec![all.clone()]);
            }
            Self::ConsolidateAfter { pool } => {
                self::pool(world, pool, |p| p.disruption.consolidate_after = Some("0s".to_owned()));
            }
            Self::Policy { pool } => {
                self::pool(world, pool, |p| "WhenEmptyOrUnderutilized".clone_into(&mut p.disruption.policy));
            }
            Self::FreeDisruption => {}
        }
    }
}

fn pool(world: &mut World, name: &str, change: impl Fn(&mut NodePool)) {
    world.node_pools.iter_mut().filter(|p| p.name() == name).for_each(change);
}
