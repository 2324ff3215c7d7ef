//! EC2NodeClasses.

use serde::Deserialize;

use super::settle;
use crate::faults::Faults;
use crate::karpenter::nodeclass::{BlockDevice, Kubelet, NetworkInterface, NodeClass, Reservation};
use crate::kube::meta::{Condition, Meta};
use crate::kube::pod::RawQuantity;
use crate::quantity::amount_down;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct RawNodeClass {
    metadata: Meta,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    ami_family: Option<String>,
    ami_selector_terms: Vec<AmiTerm>,
    kubelet: Kubelet,
    block_device_mappings: Vec<Mapping>,
    instance_store_policy: Option<String>,
    network_interfaces: Vec<RawInterface>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawInterface {
    network_card_index: u32,
    device_index: u32,
    interface_type: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ami {
    id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AmiTerm {
    alias: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Mapping {
    device_name: String,
    root_volume: bool,
    ebs: Ebs,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Ebs {
    volume_size: Option<RawQuantity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    subnets: Vec<Subnet>,
    amis: Vec<Ami>,
    capacity_reservations: Vec<RawReservation>,
    conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Subnet {
    zone: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawReservation {
    id: String,
    instance_type: String,
    availability_zone: String,
    reservation_type: Option<String>,
}

const FAMILIES: [&str; 7] = ["AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"];

impl RawNodeClass {
    pub fn keep(self, faults: &mut Faults) -> NodeClass {
        let Self { metadata: mut meta, spec, status } = self;
        settle(&mut meta, false, faults);
        let ami_family = spec.family(faults);
        if let Some(policy) = spec.instance_store_policy.as_deref().filter(|p| *p != "RAID0") {
            faults.add("spec.instanceStorePolicy", format!("{policy:?} is not RAID0"));
        }
        if spec.block_device_mappings.iter().filter(|m| m.root_volume).count() > 1 {
            faults.add("spec.blockDeviceMappings", "more than one has rootVolume: true");
        }
        let mut block_devices = Vec::new();
        for (i, mapping) in spec.block_device_mappings.into_iter().enumerate() {
            let field = format!("spec.blockDeviceMappings[{i}].ebs.volumeSize");
            let size = mapping.ebs.volume_size;
            block_devices.push(BlockDevice {
                device_name: mapping.device_name,
                root_volume: mapping.root_volume,
                volume_size: size.and_then(|q| faults.check(&field, amount_down("ephemeral-storage", &q.0))),
            });
        }
        let mut zones: Vec<_> = status.subnets.into_iter().map(|s| s.zone).filter(|z| !z.is_empty()).collect();
        zones.sort_unstable();
        zones.dedup();
        let network_interfaces = spec.network_interfaces.iter().enumerate().map(|(i, n)| n.keep(i, faults)).collect();
        let amis = status.amis.into_iter().map(|a| a.id).filter(|id| !id.is_empty()).collect();
        let mut reservations: Vec<_> = status.capacity_reservations.into_iter().map(RawReservation::keep).collect();
        reservations.sort_by(|a, b| a.id.cmp(&b.id));
        NodeClass {
            meta,
            ami_family,
            kubelet: spec.kubelet,
            block_devices,
            instance_store_policy: spec.instance_store_policy.unwrap_or_default(),
            network_interfaces,
            zones,
            amis,
            reservations,
            conditions: status.conditions,
        }
    }
}

impl RawInterface {
    fn keep(&self, i: usize, faults: &mut Faults) -> NetworkInterface {
        let kind = &self.interface_type;
        if !matches!(kind.as_str(), "" | "interface" | "efa-only") {
            let field = format!("spec.networkInterfaces[{i}].interfaceType");
            faults.add(field, format!("{kind:?} is neither interface nor efa-only"));
        }
        NetworkInterface { card: self.network_card_index, device: self.device_index, efa_only: kind == "efa-only" }
    }
}

impl RawReservation {
    fn keep(self) -> Reservation {
        Reservation {
            id: self.id,
            instance_type: self.instance_type,
            zone: self.availability_zone,
            kind: self.reservation_type.unwrap_or_else(|| "default".to_owned()),
        }
    }
}

impl Spec {
    /// `amiFamily`, or the family of the alias.
    fn family(&self, faults: &mut Faults) -> String {
        if let Some(family) = &self.ami_family {
            if !FAMILIES.contains(&family.as_str()) {
                faults.add("spec.amiFamily", format!("{family:?} is none of {}", FAMILIES.join(", ")));
            }
            return family.clone();
        }
        let alias = self.ami_selector_terms.iter().find_map(|t| t.alias.as_deref());
        let Some(alias) = alias else {
            faults.add("spec.amiFamily", "missing, and no amiSelectorTerms entry has an alias that implies it");
            return String::new();
        };
        let name = alias.split('@').next().unwrap_or_default();
        let family = FAMILIES.iter().find(|f| **f != "Custom" && f.eq_ignore_ascii_case(name));
        family.map(|f| (*f).to_owned()).unwrap_or_else(|| {
            faults.add("spec.amiSelectorTerms", format!("alias {alias:?} names no known AMI family"));
            String::new()
        })
    }
}
