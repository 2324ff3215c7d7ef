//! Instance types, what they hold and what they cost.
//!
//! A [`Catalog`] comes from a file ([`file`]) or from the tables built into
//! the program ([`embedded`]). What a NodePool can buy from it, with
//! allocatable amounts, overlays and reservations settled, is told by
//! [`pool_types`].

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::kube::meta::Labels;
use crate::resources::Resources;

pub mod aws;
mod barren;
mod describe;
mod digest;
pub mod embedded;
mod error;
mod facts;
pub mod file;
pub mod gates;
pub mod money;
mod observed;
mod overlay;
pub mod pool_types;
mod price;
mod reserved;
mod view;

pub use embedded::embedded;
pub use error::{CatalogError, Problem};
pub use gates::Gates;
pub use pool_types::{CapacityType, PoolOffering, PoolType, PoolTypes, every_pool, pool_types};
pub use price::{price_in_pool, price_of};

/// Instance types on offer in one region.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub region: String,
    /// Where the prices come from and of which date.
    pub source: String,
    /// The day that the prices are of, where it is told.
    pub prices_of: Option<Date>,
    /// Sorted by name; names are unique.
    pub types: Vec<InstanceType>,
    /// SHA-256 over the content, hex.
    pub digest: String,
}

/// An instance type.
#[derive(Clone, Debug, Default)]
pub struct InstanceType {
    pub name: String,
    /// `amd64` or `arm64`.
    pub architecture: String,
    pub operating_systems: Vec<String>,
    pub capacity: Resources,
    /// Given, or `None` where the AWS rules compute it per node class.
    pub allocatable: Option<Resources>,
    /// Labels beside architecture, system, zone, region, capacity type and
    /// name.
    pub labels: Labels,
    /// EBS volumes that pods may attach.
    pub volume_attachments: Option<u32>,
    /// Sorted by zone, capacity type and reservation.
    pub offerings: Vec<Offering>,
    /// Zones where the type exists although no on-demand price is known.
    pub unpriced_zones: Vec<String>,
    /// Hardware figures for the AWS rules; absent for types of a file that
    /// give `allocatable`.
    pub hardware: Option<Hardware>,
}

/// A zone and capacity type in which a type can be bought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offering {
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity_type: String,
    /// Micro-dollars per hour, rounded up.
    pub price: i64,
    pub available: bool,
    pub reservation: Option<Reserved>,
}

/// A reservation behind an offering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reserved {
    pub id: String,
    /// Size of the reservation, running machines included.
    pub count: u32,
}

/// What the AWS rules need to know of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    pub vcpus: u32,
    pub memory_mib: u64,
    /// Interfaces of the default network card.
    pub interfaces: u32,
    pub ipv4_per_interface: u32,
    /// NVMe instance store, in GB (10^9).
    pub local_nvme_gb: u64,
    /// Instance store of any kind, in GB (10^9).
    pub instance_store_gb: u64,
    /// Extended resources: `nvidia.com/gpu`, …
    pub devices: BTreeMap<String, u32>,
    pub bare_metal: bool,
    pub hypervisor: String,
    /// EBS volumes that fit beside the primary interface and the instance
    /// store, the root volume included.
    pub ebs_attachments: u32,
    /// Further interfaces take slots of EBS volumes.
    pub ebs_slots_shared: bool,
}

impl Catalog {
    /// A catalogue in canonical order with its digest.
    pub fn new(region: String, source: String, mut types: Vec<InstanceType>) -> Self {
        for t in &mut types {
            t.offerings.sort_by(|a, b| offering_key(a).cmp(&offering_key(b)));
            t.operating_systems.sort();
            t.operating_systems.dedup();
            t.unpriced_zones.sort();
        }
        types.sort_by(|a, b| a.name.cmp(&b.name));
        let mut catalog = Self { region, source, prices_of: None, types, digest: String::new() };
        catalog.digest = digest::digest(&catalog);
        catalog
    }

    /// The type called `name`.
    pub fn find(&self, name: &str) -> Option<&InstanceType> {
        self.position(name).map(|i| &self.types[i])
    }

    /// The index of the type called `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.types.binary_search_by(|t| t.name.as_str().cmp(name)).ok()
    }
}

fn offering_key(o: &Offering) -> (&str, &str, Option<&str>) {
    (&o.zone, &o.capacity_type, o.reservation.as_ref().map(|r| r.id.as_str()))
}

#[cfg(test)]
mod tests;
