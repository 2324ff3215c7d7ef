//! Why a pool can buy nothing from a catalogue.

use std::collections::BTreeSet;

use super::facts::Facts;
use crate::karpenter::labels;
use crate::karpenter::nodepool::NodePool;
use crate::kube::selector::{Expression, Operator};

/// Values of the catalogue that are told.
const TOLD: usize = 8;

/// The first requirement that no type meets, or that no type meets all of
/// them; with what the catalogue has instead.
pub fn why(pool: &NodePool, region: &str, types: &[Facts]) -> String {
    if types.is_empty() {
        return "the catalogue has no type".to_owned();
    }
    let expressions = &pool.template.requirements;
    let fails = |e: &&Expression| !types.iter().any(|f| f.meets(std::slice::from_ref(e), true));
    let Some(e) = expressions.iter().find(fails) else {
        return format!("no type of the catalogue of {region} meets all its requirements");
    };
    let asked =
        if e.operator == Operator::In { e.values.join(", ") } else { format!("{:?} {:?}", e.operator, e.values) };
    let have: BTreeSet<&str> = types.iter().filter_map(|f| f.get(&e.key)).flatten().map(String::as_str).collect();
    if e.key == labels::CAPACITY_TYPE && e.values.iter().all(|v| v != labels::ON_DEMAND) {
        return format!(
            "it allows only {asked} capacity, for which the catalogue has no price; allow on-demand as well, or give a \
             catalogue with such prices (--catalog)"
        );
    }
    let listed: Vec<&str> = have.iter().copied().take(TOLD).collect();
    let more = if have.len() > TOLD { ", …" } else { "" };
    let hint = if e.key == labels::ZONE || e.key == labels::REGION { "; --region chooses another" } else { "" };
    format!(
        "it requires {} {asked}, which no type of the catalogue of {region} has ({}{more}){hint}",
        e.key,
        if listed.is_empty() { "it knows no value".to_owned() } else { format!("there: {}", listed.join(", ")) }
    )
}
