//! Carrying a command out on paper.

use std::collections::BTreeSet;

use millwright_models::catalog::CapacityType;
use millwright_models::greedy::GreedyClaim;
use millwright_models::karpenter::labels::{OS, RESERVATION_ID};
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::kube::meta::Labels;
use millwright_models::kube::node::Node;
use millwright_models::requirements::well_known;
use millwright_models::world::World;

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
        let os = claim.requirements.get(OS).map_or_else(|| "linux".to_owned(), |r| r.any());
        let held = claim.launchable(kind).find(|o| {
            o.capacity_type == CapacityType::Reserved && o.zone == *zone && *capacity_type == o.capacity_type
        });
        let reservation = held.and_then(|o| o.reservation.as_ref()).map(|r| r.id.to_string());
        let mut labels: Labels = pool.template.labels.clone();
        let open = claim.requirements.iter().filter(|r| !r.complement && !r.values.is_empty() && !well_known(&r.key));
        labels.extend(open.filter(|r| r.key != RESERVATION_ID).map(|r| (r.key.clone(), r.any())));
        let made = machine(&Machine {
            name,
            pool,
            kind,
            labels: &labels,
            os: &os,
            region: &self.scene.catalog.region,
            zone,
            capacity_type: capacity_type.as_str(),
            reservation: reservation.as_deref(),
        });
        let added = Added {
            name: name.to_owned(),
            pool: claim.pool.clone(),
            instance_type: kind.name.to_string(),
            zone: zone.to_string(),
            capacity_type: capacity_type.as_str().to_owned(),
            price: claim.price,
        };
        Some((made, added))
    }
}
