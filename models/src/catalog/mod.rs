//! Instance types, what they hold and what they cost.

use std::collections::BTreeMap;

use crate::kube::meta::Labels;
use crate::resources::Resources;

/// Instance types on offer in one region.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub region: String,
    /// Where the prices come from and of which date.
    pub source: String,
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
    pub offerings: Vec<Offering>,
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
#[derive(Clone, Debug, Default)]
pub struct Hardware {
    pub vcpus: u32,
    pub memory_mib: u64,
    /// Interfaces of the default network card.
    pub interfaces: u32,
    pub ipv4_per_interface: u32,
    /// NVMe instance store, in GB (10^9).
    pub local_nvme_gb: u64,
    /// Extended resources: `nvidia.com/gpu`, …
    pub devices: BTreeMap<String, u32>,
    pub bare_metal: bool,
    pub hypervisor: String,
}
