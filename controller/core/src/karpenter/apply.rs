//! Carrying a command out on paper.

use std::collections::BTreeSet;

use millwright_models::catalog::{CapacityType, PoolType};
use millwright_models::greedy::GreedyClaim;
use millwright_models::karpenter::labels::OS;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::meta::Labels;
use millwright_models::kube::node::Node;
use millwright_models::requirements::{Requirements, well_known};
use millwright_models::world::World;
use millwright_solver::instance::Micros;

use super::pass::{Command, Pass};
use super::{Added, Step};
use crate::consolidate::simulate::{Change, Machine, carry_out, machine, names};

impl Pass<'_, '_> {
    /// The world after the command, and the command in names; its cost is for
    /// the caller to reckon. The replacements are the cheapest offerings that
    /// their claims allow.
    pub(super) fn apply(&self, command: &Command, number: usize) -> (World, Step) {
        let scene = self.scene;
        let names = names(scene.world, number, command.plan.claims.len());
        let gone: BTreeSet<&str> = command.nodes.iter().map(|n| scene.nodes[*n].name()).collect();
        let claims = command.plan.claims.iter().zip(&names);
        let (machines, added): (Vec<_>, Vec<_>) = claims.clone().filter_map(|(c, name)| self.bought(c, name)).unzip();
        let bought: BTreeSet<&str> = added.iter().map(|a: &Added| a.name.as_str()).collect();
        let old = command.plan.existing.iter().map(|(name, pods)| (name.as_str(), pods.as_slice()));
        let new = claims.map(|(c, name)| (name.as_str(), c.pods.as_slice()));
        let placed = old.chain(new.filter(|(name, _)| bought.contains(name))).collect();
        let evicted = command.nodes.iter().flat_map(|n| &scene.nodes[*n].pods);
        let step = Step {
            method: command.method,
            removed: gone.iter().map(|n| (*n).to_owned()).collect(),
            evictions: evicted.filter(|p| scene.world.pods[**p].is_reschedulable()).count(),
            added,
            cost: 0,
        };
        (carry_out(scene.world, Change { gone, placed, machines }), step)
    }

    /// None if the claim allows nothing that can be launched.
    fn bought(&self, claim: &GreedyClaim, name: &str) -> Option<((Node, NodeClaim), Added)> {
        let (pool, types) = self.pools.iter().find(|(p, _)| p.name() == claim.pool)?;
        let (kind, zone, capacity_type) = claim.cheapest.as_ref()?;
        let kind = &types.types[*kind as usize];
        let held = claim.launchable(kind).find(|o| {
            o.capacity_type == CapacityType::Reserved && o.zone == *zone && *capacity_type == o.capacity_type
        });
        Some(bought(&Launched {
            name,
            pool,
            kind,
            requirements: &claim.requirements,
            region: &self.scene.catalog.region,
            zone,
            capacity_type: *capacity_type,
            reservation: held.and_then(|o| o.reservation.as_ref()).map(|r| &*r.id),
            price: claim.price,
        }))
    }
}

/// What a launch comes to.
pub(crate) struct Launched<'a> {
    pub name: &'a str,
    pub pool: &'a NodePool,
    pub kind: &'a PoolType,
    /// Of its claim; values of custom keys become labels.
    pub requirements: &'a Requirements,
    pub region: &'a str,
    pub zone: &'a str,
    pub capacity_type: CapacityType,
    pub reservation: Option<&'a str>,
    pub price: Micros,
}

/// The machine of a launch, and the launch in names.
pub(crate) fn bought(l: &Launched<'_>) -> ((Node, NodeClaim), Added) {
    let mut labels: Labels = l.pool.template.labels.clone();
    let open = l.requirements.iter().filter(|r| !r.complement && !r.values.is_empty() && !well_known(&r.key));
    labels.extend(open.map(|r| (r.key.clone(), r.any())));
    let os = l.requirements.get(OS).map_or_else(|| "linux".to_owned(), |r| r.any());
    let capacity_type = l.capacity_type.as_str();
    let made = machine(&Machine {
        name: l.name,
        pool: l.pool,
        kind: l.kind,
        labels: &labels,
        os: &os,
        region: l.region,
        zone: l.zone,
        capacity_type,
        reservation: l.reservation,
    });
    let added = Added {
        name: l.name.to_owned(),
        pool: l.pool.name().to_owned(),
        instance_type: l.kind.name.to_string(),
        zone: l.zone.to_owned(),
        capacity_type: capacity_type.to_owned(),
        price: l.price,
    };
    (made, added)
}
