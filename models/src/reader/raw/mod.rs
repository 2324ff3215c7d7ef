//! Objects as they are written, and what is kept of each.
//!
//! A `keep` function turns the written form into the kept one and reports
//! every fault with the path of its field.

pub(super) mod buffer;
pub(super) mod device;
pub(super) mod node;
pub(super) mod nodeclass;
pub(super) mod nodepool;
pub(super) mod pod;
pub(super) mod policy;
pub(super) mod volume;
pub(super) mod workload;

use std::collections::BTreeMap;

use crate::faults::Faults;
use crate::kube::meta::Meta;
use crate::kube::pod::RawQuantity;
use crate::quantity::{amount_down, amount_up};
use crate::resources::Resources;

/// Quantities by resource name.
pub(super) type Quantities = BTreeMap<String, RawQuantity>;

/// Requested amounts, rounded up.
pub(super) fn requested(map: &Quantities, field: &str, faults: &mut Faults) -> Resources {
    amounts(map, field, faults, amount_up)
}

/// Offered amounts, rounded down.
pub(super) fn offered(map: &Quantities, field: &str, faults: &mut Faults) -> Resources {
    amounts(map, field, faults, amount_down)
}

fn amounts<E: std::fmt::Display>(
    map: &Quantities,
    field: &str,
    faults: &mut Faults,
    amount: fn(&str, &str) -> Result<i64, E>,
) -> Resources {
    let mut all = Resources::default();
    for (name, text) in map {
        if let Some(amount) = faults.check(&format!("{field}.{name}"), amount(name, &text.0)) {
            all.set(name, amount);
        }
    }
    all
}

/// Completes metadata: a name there must be; the namespace is `default` where
/// one belongs and none is given; the copy that kubectl leaves in an
/// annotation goes.
pub(super) fn settle(meta: &mut Meta, namespaced: bool, faults: &mut Faults) {
    if meta.name.is_empty() {
        faults.add("metadata.name", "missing (generateName alone names no object)");
    }
    if !namespaced {
        meta.namespace.clear();
    } else if meta.namespace.is_empty() {
        "default".clone_into(&mut meta.namespace);
    }
    meta.annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
}
