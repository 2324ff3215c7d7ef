//! The catalogue as seen through a node class.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::aws::{self, Family};
use super::facts::Facts;
use super::observed::Seen;
use super::pool_types::{CapacityType, PoolOffering};
use super::reserved::Holders;
use super::{Catalog, CatalogError, Gates, InstanceType, Reserved};
use crate::karpenter::labels;
use crate::karpenter::nodeclass::NodeClass;
use crate::karpenter::nodepool::NodePool;
use crate::resources::{MEMORY, Resources};
use crate::world::World;

/// Labels that AWS types have or are known to lack.
const AWS_LABELS: [&str; 8] = [
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.k8s.aws/instance-gpu-memory",
    "karpenter.k8s.aws/instance-accelerator-name",
    "karpenter.k8s.aws/instance-accelerator-manufacturer",
    "karpenter.k8s.aws/instance-accelerator-count",
    "karpenter.k8s.aws/instance-local-nvme",
];

/// A pool's node class, or what stands in for it.
pub(super) struct ClassView<'a> {
    pub class: Cow<'a, NodeClass>,
    pub family: Family,
    /// Whether the input holds the class.
    given: bool,
}

impl<'a> ClassView<'a> {
    /// The class that `pool` names. One that is absent counts as AL2023 with
    /// defaults, in every zone.
    pub fn of(world: &'a World, pool: &NodePool, warnings: &mut Vec<String>) -> Result<Self, CatalogError> {
        let name = &pool.template.node_class.name;
        let class = world.node_classes.iter().find(|c| c.meta.name == *name);
        let given = class.is_some();
        if !given && !name.is_empty() {
            warnings.push(format!(
                "NodePool {}: node class {name} is not in the input; assumed ready, AL2023, in every zone",
                pool.meta.name
            ));
        }
        let class = class.map_or_else(|| Cow::Owned(NodeClass::default()), Cow::Borrowed);
        Ok(Self { family: Family::of(&class)?, class, given })
    }

    /// Whether the class has subnets in `zone`, or does not say.
    fn covers(&self, zone: &str) -> bool {
        self.class.zones.is_empty() || self.class.zones.iter().any(|z| z == zone)
    }

    /// AL2023 does not run on the first ARM generation.
    fn compatible(&self, t: &InstanceType) -> bool {
        !(self.given && self.family == Family::Al2023 && t.name.starts_with("a1."))
    }

    /// Systems that nodes of `t` can run: the image decides. Without a class,
    /// a type that brings its allocatable keeps the systems it names.
    fn operating_systems(&self, t: &InstanceType) -> Vec<String> {
        let image = match self.family {
            Family::Windows => "windows",
            _ if !self.given && t.allocatable.is_some() => return t.operating_systems.clone(),
            _ => "linux",
        };
        t.operating_systems.iter().filter(|os| *os == image).cloned().collect()
    }

    /// Offerings of `t`. Those outside the class's zones stay, unavailable,
    /// so that running nodes find their price.
    pub fn offerings(&self, t: &InstanceType, gates: &Gates, holders: &Holders) -> Vec<PoolOffering> {
        let usable = self.compatible(t);
        let offering = |o: &super::Offering| {
            let capacity_type = CapacityType::of(&o.capacity_type)?;
            let mut available = o.available && usable && self.covers(&o.zone);
            let reservation = match &o.reservation {
                None => None,
                Some(_) if !gates.reserved_capacity => return None,
                Some(r) => {
                    available &= self.selects(&r.id);
                    Some(Reserved { id: r.id.clone(), count: holders.free(&r.id, r.count) })
                }
            };
            let zone = Arc::from(o.zone.as_str());
            Some(PoolOffering { zone, capacity_type, price: o.price, available, reservation, overlaid: false })
        };
        t.offerings.iter().filter_map(offering).collect()
    }

    /// Capacity and allocatable of `t`; `None` where nothing can run on it.
    pub fn sizes(&self, t: &InstanceType, seen: Option<Seen>) -> Result<Option<(Resources, Resources)>, CatalogError> {
        let (mut capacity, mut allocatable) = match (&t.allocatable, &t.hardware) {
            (Some(given), _) => (t.capacity.clone(), given.clone()),
            (None, Some(h)) => {
                let settings = aws::Settings::default();
                let sizes = aws::amounts(h, &t.architecture, &self.class, settings, &t.capacity)?;
                (sizes.capacity, sizes.allocatable)
            }
            (None, None) => return Ok(None),
        };
        if let Some(seen) = seen {
            capacity.set(MEMORY, seen.capacity);
            allocatable.set(MEMORY, seen.allocatable);
        }
        let sound = allocatable.iter().all(|(_, amount)| amount >= 0);
        Ok(sound.then_some((capacity, allocatable)))
    }

    /// EBS volumes that pods may attach: as the catalogue says, else by the
    /// AWS rules, else unlimited.
    pub fn volumes(&self, t: &InstanceType) -> Option<u32> {
        let by_rules = || t.hardware.as_ref().map(|h| aws::pod_volumes(h, &self.class, self.family));
        t.volume_attachments.or_else(by_rules)
    }

    /// Whether the class selected a reservation; a class that lists none
    /// leaves it to the catalogue.
    fn selects(&self, id: &str) -> bool {
        self.class.reservations.is_empty() || self.class.reservations.iter().any(|r| r.id == id)
    }

    /// On-demand offerings that lack a price.
    pub fn unpriced(&self, t: &InstanceType) -> Vec<PoolOffering> {
        let usable = self.compatible(t);
        let zones = t.unpriced_zones.iter().filter(|z| self.covers(z));
        let offering = |zone: &String| PoolOffering {
            zone: Arc::from(zone.as_str()),
            capacity_type: CapacityType::OnDemand,
            price: 0,
            available: usable,
            reservation: None,
            overlaid: false,
        };
        zones.map(offering).collect()
    }

    /// The labels of `t`'s nodes.
    pub fn facts(
        &self,
        catalog: &Catalog,
        t: &InstanceType,
        offerings: &[PoolOffering],
        unpriced: &[PoolOffering],
    ) -> Facts {
        let mut facts = Facts::default();
        for (key, value) in &t.labels {
            facts.set(labels::normalise(key), vec![value.clone()]);
        }
        facts.set(labels::INSTANCE_TYPE, vec![t.name.clone()]);
        facts.set(labels::ARCH, vec![t.architecture.clone()]);
        facts.set(labels::OS, self.operating_systems(t));
        if !catalog.region.is_empty() {
            facts.set(labels::REGION, vec![catalog.region.clone()]);
        }
        let offerings = || offerings.iter().chain(unpriced);
        let zones: BTreeSet<&str> = offerings().map(|o| &*o.zone).filter(|z| self.covers(z)).collect();
        facts.set(labels::ZONE, zones.into_iter().map(str::to_owned).collect());
        let kinds: BTreeSet<&str> = offerings().map(|o| o.capacity_type.as_str()).collect();
        facts.set(labels::CAPACITY_TYPE, kinds.into_iter().map(str::to_owned).collect());
        let ids: BTreeSet<&str> = offerings().filter_map(|o| Some(o.reservation.as_ref()?.id.as_str())).collect();
        facts.set(labels::RESERVATION_ID, ids.into_iter().map(str::to_owned).collect());
        let build = Family::windows_build(&self.class.ami_family);
        facts.set(labels::WINDOWS_BUILD, build.into_iter().map(str::to_owned).collect());
        if t.hardware.is_some() {
            AWS_LABELS.iter().for_each(|key| facts.assume(key, &[]));
            facts.assume(labels::INSTANCE_TENANCY, &["dedicated", "default"]);
        }
        facts
    }
}
