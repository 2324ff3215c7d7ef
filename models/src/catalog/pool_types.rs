//! What each NodePool may buy.

use std::sync::Arc;

use super::facts::Facts;
use super::observed::Observed;
use super::reserved::Holders;
use super::view::ClassView;
use super::{Catalog, CatalogError, Gates, Reserved, aws, overlay};
use crate::karpenter::labels;
use crate::karpenter::nodepool::NodePool;
use crate::kube::meta::Labels;
use crate::requirements::Requirements;
use crate::resources::{MEMORY, Resources};
use crate::world::World;

/// How a machine is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapacityType {
    OnDemand,
    Spot,
    Reserved,
}

impl CapacityType {
    /// The label's value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OnDemand => labels::ON_DEMAND,
            Self::Spot => labels::SPOT,
            Self::Reserved => labels::RESERVED,
        }
    }

    /// Of a label's value.
    pub fn of(text: &str) -> Option<Self> {
        [Self::OnDemand, Self::Spot, Self::Reserved].into_iter().find(|c| c.as_str() == text)
    }
}

/// An instance type as one NodePool may buy it.
#[derive(Clone, Debug)]
pub struct PoolType {
    /// Index in [`Catalog::types`].
    pub type_index: usize,
    pub name: Arc<str>,
    /// Every label of the type; several values where its nodes differ (zone,
    /// capacity type). A label known to be absent must not exist.
    pub requirements: Requirements,
    /// The single-valued labels.
    pub labels: Labels,
    pub capacity: Resources,
    pub allocatable: Resources,
    /// Sorted by zone, capacity type and reservation.
    pub offerings: Vec<PoolOffering>,
    /// EBS volumes that pods may attach; `None` is unlimited.
    pub volume_attachments: Option<u32>,
    /// A NodeOverlay changed its capacity.
    pub overlaid: bool,
}

/// A zone and capacity type in which a pool may buy a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolOffering {
    pub zone: Arc<str>,
    pub capacity_type: CapacityType,
    /// Micro-dollars per hour.
    pub price: i64,
    /// In good health, and in a zone of the class. A full reservation is
    /// available all the same: see [`PoolOffering::launchable`].
    pub available: bool,
    /// The reservation with what is left of it.
    pub reservation: Option<Reserved>,
    /// A NodeOverlay set the price.
    pub overlaid: bool,
}

impl PoolOffering {
    /// Whether a launch may aim at it now.
    pub fn launchable(&self) -> bool {
        self.available && self.reservation.as_ref().is_none_or(|r| r.count > 0)
    }
}

/// What a pool may buy, and what had to be assumed.
#[derive(Clone, Debug, Default)]
pub struct PoolTypes {
    /// In the order of names.
    pub types: Vec<PoolType>,
    pub warnings: Vec<String>,
}

/// A type on its way to a [`PoolType`].
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub facts: Facts,
    pub kind: PoolType,
    /// Offerings from here on have a price only if an overlay gives one.
    pub unpriced: Vec<PoolOffering>,
}

/// The types of `catalog` as `pool` may buy them.
///
/// The pool's own requirements only drop types that none of its nodes could
/// be: whether a pod's, the template's and the type's requirements agree in
/// the end is for the caller to ask of [`PoolType::requirements`], and of each
/// offering.
pub fn pool_types(world: &World, catalog: &Catalog, pool: &NodePool, gates: &Gates) -> Result<PoolTypes, CatalogError> {
    let holders = Holders::of(world);
    if !gates.node_overlay || world.overlays.is_empty() {
        let (candidates, warnings) = candidates(world, catalog, pool, gates, &holders)?;
        return Ok(finish(pool, candidates, warnings));
    }
    // Overlays conflict across pools, so every pool is looked at.
    let all = every_pool(world, catalog, gates)?;
    let wanted = all.into_iter().find(|(name, _)| *name == pool.meta.name).map(|(_, types)| types);
    match wanted {
        Some(types) => Ok(types),
        None => {
            let mut alone = world.clone();
            alone.node_pools.push(pool.clone());
            let all = every_pool(&alone, catalog, gates)?;
            Ok(all.into_iter().find(|(name, _)| *name == pool.meta.name).map(|(_, t)| t).unwrap_or_default())
        }
    }
}

/// [`pool_types`] for every pool of the world, in the world's order.
pub fn every_pool(world: &World, catalog: &Catalog, gates: &Gates) -> Result<Vec<(String, PoolTypes)>, CatalogError> {
    let holders = Holders::of(world);
    let mut pools = Vec::with_capacity(world.node_pools.len());
    for pool in &world.node_pools {
        let (candidates, warnings) = candidates(world, catalog, pool, gates, &holders)?;
        pools.push(overlay::Pool { pool, candidates, warnings });
    }
    if gates.node_overlay {
        overlay::apply(&world.overlays, &mut pools);
    }
    Ok(pools.into_iter().map(|p| (p.pool.meta.name.clone(), finish(p.pool, p.candidates, p.warnings))).collect())
}

/// All types before overlays and before the pool's requirements.
fn candidates(
    world: &World,
    catalog: &Catalog,
    pool: &NodePool,
    gates: &Gates,
    holders: &Holders,
) -> Result<(Vec<Candidate>, Vec<String>), CatalogError> {
    let mut warnings = Vec::new();
    let view = ClassView::of(world, pool, &mut warnings)?;
    let observed = Observed::of(world, pool, &view);
    let mut all = Vec::with_capacity(catalog.types.len());
    for (type_index, t) in catalog.types.iter().enumerate() {
        // Overlays must see types of every pool, also those the pool's own
        // requirements rule out; without overlays they are not worth building.
        let systems = view.operating_systems(t);
        let (mut capacity, mut allocatable) = match (&t.allocatable, &t.hardware) {
            (Some(given), _) => (t.capacity.clone(), given.clone()),
            (None, Some(h)) => {
                let sizes = aws::amounts(h, &t.architecture, &view.class, aws::Settings::default(), &t.capacity)?;
                (sizes.capacity, sizes.allocatable)
            }
            (None, None) => continue,
        };
        if let Some(seen) = observed.get(&t.name) {
            capacity.set(MEMORY, seen.capacity);
            allocatable.set(MEMORY, seen.allocatable);
        }
        if allocatable.iter().any(|(_, amount)| amount < 0) {
            continue;
        }
        let offerings = view.offerings(t, gates, holders);
        let unpriced = if gates.node_overlay { view.unpriced(t) } else { Vec::new() };
        let facts = view.facts(catalog, t, &systems, &offerings, &unpriced);
        let volume_attachments =
            t.volume_attachments.or_else(|| t.hardware.as_ref().map(|h| aws::pod_volumes(h, &view.class, view.family)));
        all.push(Candidate {
            facts,
            unpriced,
            kind: PoolType {
                type_index,
                name: Arc::from(t.name.as_str()),
                requirements: Requirements::default(),
                labels: Labels::new(),
                capacity,
                allocatable,
                offerings,
                volume_attachments,
                overlaid: false,
            },
        });
    }
    Ok((all, warnings))
}

/// Drops hopeless types and states the requirements of the others.
fn finish(pool: &NodePool, candidates: Vec<Candidate>, warnings: Vec<String>) -> PoolTypes {
    let possible = |c: &Candidate| {
        let template = &pool.template;
        !c.kind.offerings.is_empty()
            && c.facts.get(labels::OS).is_none_or(|systems| !systems.is_empty())
            && c.facts.get(labels::ZONE).is_none_or(|zones| !zones.is_empty())
            && c.facts.meets(&template.requirements, true)
            && template.labels.iter().all(|(key, value)| c.facts.admits(key, value))
    };
    let types = candidates
        .into_iter()
        .filter(possible)
        .map(|c| PoolType { requirements: c.facts.requirements(), labels: c.facts.single_valued(), ..c.kind })
        .collect();
    PoolTypes { types, warnings }
}
