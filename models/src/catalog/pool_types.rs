//! What each NodePool may buy.

use std::borrow::Cow;
use std::sync::Arc;

use super::facts::Facts;
use super::observed::Observed;
use super::reserved::Holders;
use super::view::ClassView;
use super::{Catalog, CatalogError, Gates, Reserved, barren, overlay};
use crate::karpenter::labels;
use crate::karpenter::nodepool::NodePool;
use crate::kube::meta::Labels;
use crate::requirements::Requirements;
use crate::resources::Resources;
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
    /// Offerings that have a price only if an overlay gives one.
    pub unpriced: Vec<PoolOffering>,
}

/// The types of `catalog` as `pool` may buy them.
///
/// The pool's own requirements only drop types that none of its nodes could
/// be: whether a pod's, the template's and the type's requirements agree in
/// the end is for the caller to ask of [`PoolType::requirements`], and of each
/// offering.
pub fn pool_types(world: &World, catalog: &Catalog, pool: &NodePool, gates: &Gates) -> Result<PoolTypes, CatalogError> {
    if !gates.node_overlay || world.overlays.is_empty() {
        let holders = Holders::of(world);
        let (candidates, warnings) = candidates(world, catalog, pool, gates, &holders)?;
        let mut types = finish(pool, candidates, warnings);
        if types.types.is_empty() {
            let why = barren::why(pool, &catalog.region, &all_facts(world, catalog, pool, gates, &holders)?);
            types.warnings.push(format!("NodePool {} can buy nothing: {why}", pool.name()));
        }
        return Ok(types);
    }
    // Overlays conflict across pools, so every pool is looked at.
    let mut with_pool = Cow::Borrowed(world);
    if !world.node_pools.iter().any(|p| p.meta.name == pool.meta.name) {
        with_pool.to_mut().node_pools.push(pool.clone());
    }
    let all = every_pool(&with_pool, catalog, gates)?;
    Ok(all.into_iter().find(|(name, _)| *name == pool.meta.name).map(|(_, types)| types).unwrap_or_default())
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

/// What every type of the catalogue says about nodes of the pool.
fn all_facts(
    world: &World,
    catalog: &Catalog,
    pool: &NodePool,
    gates: &Gates,
    holders: &Holders,
) -> Result<Vec<Facts>, CatalogError> {
    let view = ClassView::of(world, pool, &mut Vec::new())?;
    Ok(catalog.types.iter().map(|t| view.facts(catalog, t, &view.offerings(t, gates, holders), &[])).collect())
}

/// All types before overlays. Those that the pool's own requirements rule out
/// are built only where overlays may have to see them.
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
    let overlays = gates.node_overlay && !world.overlays.is_empty();
    let mut all = Vec::with_capacity(catalog.types.len());
    for (type_index, t) in catalog.types.iter().enumerate() {
        let offerings = view.offerings(t, gates, holders);
        let unpriced = if overlays { view.unpriced(t) } else { Vec::new() };
        let facts = view.facts(catalog, t, &offerings, &unpriced);
        if !overlays && !possible(pool, &facts) {
            continue;
        }
        let Some((capacity, allocatable)) = view.sizes(t, observed.get(&t.name))? else { continue };
        let kind = PoolType {
            type_index,
            name: Arc::from(t.name.as_str()),
            requirements: Requirements::default(),
            labels: Labels::new(),
            capacity,
            allocatable,
            offerings,
            volume_attachments: view.volumes(t),
            overlaid: false,
        };
        all.push(Candidate { facts, kind, unpriced });
    }
    Ok((all, warnings))
}

/// Whether some node of the type could be one of the pool's.
fn possible(pool: &NodePool, facts: &Facts) -> bool {
    let has_value = |key| facts.get(key).is_some_and(|values| !values.is_empty());
    has_value(labels::OS)
        && has_value(labels::ZONE)
        && facts.meets(&pool.template.requirements, true)
        && pool.template.labels.iter().all(|(key, value)| facts.admits(key, value))
}

/// Drops hopeless types and states the requirements of the others.
fn finish(pool: &NodePool, candidates: Vec<Candidate>, warnings: Vec<String>) -> PoolTypes {
    let kept = candidates.into_iter().filter(|c| !c.kind.offerings.is_empty() && possible(pool, &c.facts));
    let describe =
        |c: Candidate| PoolType { requirements: c.facts.requirements(), labels: c.facts.single_valued(), ..c.kind };
    PoolTypes { types: kept.map(describe).collect(), warnings }
}
