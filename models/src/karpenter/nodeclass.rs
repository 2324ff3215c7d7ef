//! EC2NodeClasses, as far as they decide what a machine offers.

use std::collections::BTreeMap;

use crate::kube::meta::{Condition, Meta};
use crate::kube::pod::RawQuantity;

/// An EC2NodeClass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeClass {
    pub meta: Meta,
    /// `AL2`, `AL2023`, `Bottlerocket`, `Windows2019`, `Windows2022`,
    /// `Windows2025` or `Custom`; taken from the alias where one is given.
    pub ami_family: String,
    pub kubelet: Kubelet,
    pub block_devices: Vec<BlockDevice>,
    /// `RAID0` or empty.
    pub instance_store_policy: String,
    /// `spec.networkInterfaces`; empty if not set.
    pub network_interfaces: Vec<NetworkInterface>,
    /// Zones of `status.subnets`; empty if there is no status.
    pub zones: Vec<String>,
    /// Ids of `status.amis`; empty if there is no status.
    pub amis: Vec<String>,
    /// Reservations of `status.capacityReservations`.
    pub reservations: Vec<Reservation>,
    pub conditions: Vec<Condition>,
}

/// `spec.kubelet`.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Kubelet {
    pub max_pods: Option<u32>,
    pub pods_per_core: Option<u32>,
    pub system_reserved: BTreeMap<String, RawQuantity>,
    pub kube_reserved: BTreeMap<String, RawQuantity>,
    pub eviction_hard: BTreeMap<String, String>,
    pub eviction_soft: BTreeMap<String, String>,
}

/// A block device mapping.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockDevice {
    pub device_name: String,
    pub root_volume: bool,
    /// Bytes.
    pub volume_size: Option<i64>,
}

/// An entry of `spec.networkInterfaces`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkInterface {
    pub card: u32,
    pub device: u32,
    /// `interfaceType: efa-only`.
    pub efa_only: bool,
}

/// A capacity reservation that the class selected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reservation {
    pub id: String,
    pub instance_type: String,
    pub zone: String,
    pub kind: String,
}
