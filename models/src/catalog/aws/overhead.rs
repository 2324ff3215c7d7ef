//! What kubelet, system and eviction keep of a node.

use std::collections::BTreeMap;

use super::super::money::Decimal;
use super::super::{CatalogError, Hardware};
use super::Family;
use super::capacity::density;
use crate::karpenter::nodeclass::NodeClass;
use crate::kube::pod::RawQuantity;
use crate::quantity::amount_up;
use crate::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources};

const MI: i64 = 1 << 20;
const GI: i64 = 1 << 30;
/// Resources that a reservation can name beside `pid`.
const RESERVABLE: [&str; 3] = [CPU, MEMORY, EPHEMERAL_STORAGE];
/// Millicores up to which each share, in ten-thousandths, is kept.
const CPU_TIERS: [(i64, i64, i64); 4] = [(0, 1000, 600), (1000, 2000, 100), (2000, 4000, 50), (4000, i64::MAX, 25)];

pub fn overhead(
    h: &Hardware,
    capacity: &Resources,
    class: &NodeClass,
    family: Family,
) -> Result<Resources, CatalogError> {
    let mut kept = kube_reserved(h, capacity, class, family);
    override_with(&mut kept, &class.kubelet.kube_reserved, class, "kubeReserved")?;
    let mut system = Resources::default();
    override_with(&mut system, &class.kubelet.system_reserved, class, "systemReserved")?;
    kept.add(&system);
    kept.add(&eviction(capacity, class)?);
    Ok(kept)
}

fn kube_reserved(h: &Hardware, capacity: &Resources, class: &NodeClass, family: Family) -> Resources {
    let millicores = i64::from(h.vcpus) * 1000;
    let cpu = CPU_TIERS.iter().map(|&(from, to, share)| (millicores.min(to) - from).max(0) * share / 10_000).sum();
    let pods = if family.reserves_by_interfaces() { density(h, class, 0) } else { capacity.get(PODS) };
    [(CPU, cpu), (MEMORY, (11 * pods + 255) * MI), (EPHEMERAL_STORAGE, GI)].into_iter().collect()
}

fn override_with(
    kept: &mut Resources,
    given: &BTreeMap<String, RawQuantity>,
    class: &NodeClass,
    map: &str,
) -> Result<(), CatalogError> {
    for (name, amount) in given.iter().filter(|(name, _)| RESERVABLE.contains(&name.as_str())) {
        let amount = amount_up(name, &amount.0)
            .map_err(|e| wrong(class, format!("spec.kubelet.{map}.{name}"), e.to_string()))?;
        kept.set(name, amount);
    }
    Ok(())
}

fn eviction(capacity: &Resources, class: &NodeClass) -> Result<Resources, CatalogError> {
    let signal = |name: &str, resource: &str, default: &str| {
        let text = class.kubelet.eviction_hard.get(name).map_or(default, String::as_str);
        threshold(text, resource, capacity.get(resource))
            .map_err(|problem| wrong(class, format!("spec.kubelet.evictionHard.{name}"), problem))
    };
    let memory = signal("memory.available", MEMORY, "100Mi")?;
    let storage = signal("nodefs.available", EPHEMERAL_STORAGE, "10%")?;
    Ok([(MEMORY, memory), (EPHEMERAL_STORAGE, storage)].into_iter().collect())
}

/// An amount, or a share of `capacity`; all of it means the signal is off.
fn threshold(text: &str, resource: &str, capacity: i64) -> Result<i64, String> {
    let Some(percent) = text.strip_suffix('%') else {
        return amount_up(resource, text).map_err(|e| e.to_string());
    };
    let percent: Decimal = percent.parse().map_err(|_| format!("{text:?} is not a percentage"))?;
    if percent.cmp_whole(0).is_lt() || percent.cmp_whole(100).is_gt() {
        return Err(format!("{text:?} is not between 0% and 100%"));
    }
    if percent.cmp_whole(100).is_eq() {
        return Ok(0);
    }
    percent.percent_of(capacity).ok_or_else(|| format!("{text:?} is out of range"))
}

fn wrong(class: &NodeClass, field: String, problem: String) -> CatalogError {
    CatalogError::NodeClass { class: class.meta.name.clone(), field, problem }
}
