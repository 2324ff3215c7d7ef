//! Pods that wait for a place, grouped by what they look like.

use std::collections::BTreeMap;

use millwright_solver::instance::UNLIMITED;
use rustc_hash::FxHashMap;

use super::attach::Attach;
use super::nodes::Places;
use super::ports::{HostPort, host_ports};
use super::terms::{Ladder, TermReader};
use super::volumes::VolumeNeeds;
use crate::kube::eviction::must_move;
use crate::kube::pod::{self, Pod};
use crate::quantity;
use crate::world::World;

/// Pods with equal namespace, labels, spec, requests and volume needs.
pub struct Class {
    /// Positions in `World::pods`.
    pub pods: Vec<usize>,
    pub needs: VolumeNeeds,
    pub ladder: Ladder,
    pub ports: Vec<HostPort>,
    /// They run, and some place is not yet fit to take pods that do.
    pub settled: bool,
    /// Selectors that match its labels, ascending.
    pub matched: Vec<usize>,
}

impl Class {
    /// One pod that stands for all.
    pub fn sample<'w>(&self, world: &'w World) -> &'w Pod {
        &world.pods[self.pods[0]]
    }
}

/// Classes of the pods to place, in the order of their first pods, and pods
/// that are refused with the reasons.
pub struct Demand {
    pub classes: Vec<Class>,
    pub refused: Vec<(usize, Vec<String>)>,
    pub warnings: Vec<String>,
}

/// The pods to place (positions in `World::pods`, ascending): those pending,
/// those on nodes that leave, and the residents of nodes that may go.
pub fn chosen(world: &World, places: &Places<'_>, homes: &BTreeMap<usize, usize>) -> Vec<usize> {
    let leaving: Vec<usize> = places.0.iter().filter(|p| p.leaving).flat_map(|p| &p.running).copied().collect();
    let mut chosen: Vec<usize> =
        world.pods.iter().enumerate().filter(|(_, p)| p.is_pending()).map(|(i, _)| i).collect();
    chosen.extend(leaving.into_iter().filter(|&p| must_move(world, &world.pods[p])));
    chosen.extend(homes.keys());
    chosen.sort_unstable();
    chosen
}

/// Groups the pods to place.
pub fn demand(
    world: &World,
    places: &Places<'_>,
    homes: &BTreeMap<usize, usize>,
    chosen: &[usize],
    attach: &Attach<'_, '_>,
    reader: &mut TermReader<'_>,
) -> Demand {
    let mut out = Demand { classes: Vec::new(), refused: Vec::new(), warnings: Vec::new() };
    let gated = world.pods.iter().filter(|p| p.node_name.is_none() && !p.spec.scheduling_gates.is_empty()).count();
    if gated > 0 {
        out.warnings.push(format!("{gated} pods are held by scheduling gates and not planned"));
    }
    let unfit = places.0.iter().any(|p| !p.is_destination());
    let mut index: FxHashMap<(usize, usize, &str, usize, VolumeNeeds, bool), usize> = FxHashMap::default();
    let mut verdicts: FxHashMap<(usize, &str), Vec<String>> = FxHashMap::default();
    for &i in chosen {
        let p = &world.pods[i];
        let errors = if p.spec.volumes.is_empty() {
            verdicts
                .entry((std::sync::Arc::as_ptr(&p.spec) as usize, p.namespace.as_str()))
                .or_insert_with(|| refusals(p, world))
                .clone()
        } else {
            refusals(p, world)
        };
        if !errors.is_empty() {
            out.refused.push((i, errors));
            continue;
        }
        let needs = attach.needs(p);
        let key = (
            std::sync::Arc::as_ptr(&p.spec) as usize,
            std::sync::Arc::as_ptr(&p.labels) as usize,
            p.namespace.as_str(),
            std::sync::Arc::as_ptr(&p.requests) as usize,
            needs,
            unfit && homes.contains_key(&i),
        );
        if let Some(&c) = index.get(&key) {
            out.classes[c].pods.push(i);
            continue;
        }
        let (needs, settled) = (key.4.clone(), key.5);
        index.insert(key, out.classes.len());
        out.classes.push(Class {
            pods: vec![i],
            needs,
            ladder: reader.ladder(p),
            ports: host_ports(&p.spec),
            settled,
            matched: Vec::new(),
        });
    }
    out
}

pub fn refusals(p: &Pod, world: &World) -> Vec<String> {
    let mut errors = pod::validate(p, world);
    for (resource, amount) in p.requests.iter().filter(|(_, amount)| *amount > UNLIMITED) {
        errors.push(format!("requests {resource} {}, more than any machine has", quantity::format(resource, amount)));
    }
    let claims = !p.spec.resource_claims.is_empty() || p.spec.containers.iter().any(|c| !c.resources.claims.is_empty());
    if claims {
        errors.push("it uses ResourceClaims (dynamic resource allocation), which are not planned for".to_owned());
    }
    errors
}
