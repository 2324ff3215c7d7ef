//! Capacity of a node.

use super::super::Hardware;
use super::super::money::div_ceil;
use super::{Family, Settings};
use crate::karpenter::nodeclass::NodeClass;
use crate::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources};

const MI: i64 = 1 << 20;
const GB: i64 = 1_000_000_000;
const EFA: &str = "vpc.amazonaws.com/efa";
const WINDOWS_ADDRESSES: &str = "vpc.amazonaws.com/PrivateIPv4Address";
const PODS_WITHOUT_DENSITY: i64 = 110;
/// Memory that arm64 machines lose before anything else.
const ARM_MIB: i64 = 64;

pub fn capacity(h: &Hardware, architecture: &str, class: &NodeClass, family: Family, settings: Settings) -> Resources {
    let mut all = Resources::default();
    all.set(CPU, i64::from(h.vcpus) * 1000);
    all.set(MEMORY, memory(h, architecture, settings));
    all.set(EPHEMERAL_STORAGE, ephemeral_storage(h, class, family));
    all.set(PODS, pods(h, class, family, settings));
    for (name, count) in &h.devices {
        all.set(name, i64::from(*count));
    }
    if !class.network_interfaces.is_empty() {
        all.set(EFA, class.network_interfaces.iter().filter(|i| i.efa_only).map(|_| 1).sum());
    }
    if family == Family::Windows {
        all.set(WINDOWS_ADDRESSES, i64::from(h.ipv4_per_interface.saturating_sub(1)));
    }
    all.iter().filter(|(name, amount)| *amount > 0 || matches!(*name, CPU | MEMORY | PODS)).collect()
}

fn memory(h: &Hardware, architecture: &str, settings: Settings) -> i64 {
    let mut mib = i64::try_from(h.memory_mib).unwrap_or(i64::MAX / MI);
    if architecture == "arm64" {
        mib = (mib - ARM_MIB).max(0);
    }
    let kept = div_ceil(i128::from(mib) * i128::from(settings.vm_memory_overhead_ppm), 1_000_000);
    (mib - i64::try_from(kept).unwrap_or(mib)).max(0).saturating_mul(MI)
}

fn ephemeral_storage(h: &Hardware, class: &NodeClass, family: Family) -> i64 {
    if class.instance_store_policy == "RAID0" && h.instance_store_gb > 0 {
        return i64::try_from(h.instance_store_gb).unwrap_or(i64::MAX).saturating_mul(GB);
    }
    let devices = &class.block_devices;
    if let Some(size) = devices.iter().find(|d| d.root_volume).and_then(|d| d.volume_size) {
        return size;
    }
    let data = match family.data_device() {
        Some(name) => devices.iter().find(|d| d.device_name == name),
        None => devices.last(),
    };
    data.and_then(|d| d.volume_size).unwrap_or_else(|| family.data_bytes())
}

fn pods(h: &Hardware, class: &NodeClass, family: Family, settings: Settings) -> i64 {
    let most = match class.kubelet.max_pods {
        Some(stated) => i64::from(stated),
        None if family.limits_pods_by_interfaces() => density(h, class, settings.reserved_enis),
        None => PODS_WITHOUT_DENSITY,
    };
    match class.kubelet.pods_per_core {
        Some(per_core) if per_core > 0 && family.honours_pods_per_core() => {
            most.min(i64::from(per_core) * i64::from(h.vcpus))
        }
        _ => most,
    }
}

/// Pods that get an address: one a secondary address, and two on the host's
/// network.
pub fn density(h: &Hardware, class: &NodeClass, reserved: u32) -> i64 {
    let efa_only = class.network_interfaces.iter().filter(|i| i.efa_only && i.card == 0).count();
    let taken = i64::from(reserved) + i64::try_from(efa_only).unwrap_or(i64::MAX);
    match i64::from(h.interfaces).saturating_sub(taken) {
        usable if usable > 0 => usable * (i64::from(h.ipv4_per_interface) - 1) + 2,
        _ => 0,
    }
}
