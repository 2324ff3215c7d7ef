//! What an EC2 machine offers once it is a node: capacity, what the system
//! keeps of it, and how many volumes fit.
//!
//! Rules: `spec/50-aws.md` §2.3 and §2.4. All integers, nothing estimated.

mod capacity;
mod family;
mod overhead;
#[cfg(test)]
mod tests;
mod volumes;

pub use family::Family;
pub use volumes::pod_volumes;

use super::{CatalogError, Hardware};
use crate::karpenter::nodeclass::NodeClass;
use crate::resources::Resources;

/// Settings of the provider that decide sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Share of memory that the hypervisor keeps, in millionths.
    pub vm_memory_overhead_ppm: u32,
    /// Interfaces that are not for pods.
    pub reserved_enis: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { vm_memory_overhead_ppm: 75_000, reserved_enis: 0 }
    }
}

/// What a node of a type under a class has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amounts {
    pub capacity: Resources,
    /// Capacity less what kubelet, system and eviction keep; negative where
    /// they ask for more than there is.
    pub allocatable: Resources,
}

/// Sizes of a machine with `hardware` under `class`. Entries of `given`
/// replace the computed capacity.
pub fn amounts(
    hardware: &Hardware,
    architecture: &str,
    class: &NodeClass,
    settings: Settings,
    given: &Resources,
) -> Result<Amounts, CatalogError> {
    let family = Family::of(class)?;
    let mut capacity = capacity::capacity(hardware, architecture, class, family, settings);
    for (name, amount) in given.iter() {
        capacity.set(name, amount);
    }
    let mut allocatable = capacity.clone();
    for (name, kept) in overhead::overhead(hardware, &capacity, class, family)?.iter() {
        if capacity.entry(name).is_some() {
            allocatable.set(name, allocatable.get(name).saturating_sub(kept));
        }
    }
    Ok(Amounts { capacity, allocatable })
}
