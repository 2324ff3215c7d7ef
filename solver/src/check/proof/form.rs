use std::collections::{BTreeMap, BTreeSet};

use super::super::broken::BrokenProof;
use crate::certificate::{Certificate, Nanos};
use crate::instance::{Instance, Key};
use crate::plan::Plan;

/// A dual from a list that may be left empty.
pub(super) fn dual(duals: &[Nanos], i: usize) -> Nanos {
    duals.get(i).copied().unwrap_or(0)
}

/// References, lengths and signs.
pub(super) fn form(instance: &Instance, proof: &Certificate) -> Result<(), BrokenProof> {
    for (i, r) in proof.roundings.iter().enumerate() {
        if r.dim >= instance.dims {
            return Err(BrokenProof::Reference { part: "rounding", index: i, what: "dimension", got: r.dim });
        }
        if r.unit <= 0 {
            return Err(BrokenProof::Unit { index: i, unit: r.unit });
        }
    }
    let dims = instance.dims + proof.roundings.len();
    for (i, item) in proof.items.iter().enumerate() {
        let shape = instance.shapes.get(item.shape);
        let shape = shape.ok_or(BrokenProof::Dangling { item: i, what: "shape", got: item.shape })?;
        if item.tier >= shape.tiers.len() {
            return Err(BrokenProof::Dangling { item: i, what: "tier", got: item.tier });
        }
        sign("item", i, "dual", &[item.dual])?;
        if let Some(by) = &item.by_domain {
            let len = instance.domains.get(by.key);
            let len = *len.ok_or(BrokenProof::Dangling { item: i, what: "key", got: by.key })? as usize;
            length("item", i, "domain duals", by.dual.len(), len)?;
            sign("item", i, "domain dual", &by.dual)?;
        }
    }
    for (i, b) in proof.bins.iter().enumerate() {
        if b.bin >= instance.bins.len() {
            return Err(BrokenProof::Reference { part: "bin proof", index: i, what: "bin", got: b.bin });
        }
        length("bin proof", i, "u", b.u.len(), dims)?;
        sign("bin proof", i, "multiplier", &b.u)?;
    }
    for (i, n) in proof.nodes.iter().enumerate() {
        if n.node >= instance.nodes.len() {
            return Err(BrokenProof::Reference { part: "node proof", index: i, what: "node", got: n.node });
        }
        length("node proof", i, "u", n.u.len(), dims)?;
        sign("node proof", i, "multiplier", &n.u)?;
    }
    for (what, duals, len) in [
        ("limit duals", &proof.limit_duals, instance.limits.len()),
        ("supply duals", &proof.supply_duals, instance.supplies.len()),
        ("budget duals", &proof.budget_duals, instance.budgets.len()),
    ] {
        if !duals.is_empty() {
            length("certificate", 0, what, duals.len(), len)?;
        }
        sign("certificate", 0, what, duals)?;
    }
    let mut seen = BTreeSet::new();
    for (i, s) in proof.splits.iter().enumerate() {
        let key = instance.rules.get(s.rule).map(|r| r.key);
        let (Some(Key::Domain(k)), true) = (key, seen.insert(s.rule)) else {
            return Err(BrokenProof::Reference { part: "split", index: i, what: "rule", got: s.rule });
        };
        length("split", i, "duals", s.dual.len(), instance.domains[k] as usize)?;
    }
    Ok(())
}

/// Items must value exactly the pods that the plan serves, tier by tier, and
/// the residents that might need a place.
pub(super) fn partition(instance: &Instance, plan: &Plan, proof: &Certificate) -> Result<(), BrokenProof> {
    let mut want: BTreeMap<(usize, usize), i128> = BTreeMap::new();
    let mut got: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let lists = plan.bought.iter().map(|n| &n.contents).chain(plan.placed.iter().map(|(_, c)| c));
    for &(s, c) in lists.flatten() {
        *want.entry((s, 0)).or_default() += i128::from(c);
    }
    for &(s, t, c) in &plan.demoted {
        *want.entry((s, 0)).or_default() -= i128::from(c);
        *want.entry((s, t)).or_default() += i128::from(c);
    }
    for (n, node) in instance.nodes.iter().enumerate() {
        if node.removal.is_some() && plan.removed.binary_search(&n).is_err() {
            // Nothing serves a shape without tiers: it has no value.
            for &(s, c) in node.residents.iter().filter(|r| !instance.shapes[r.0].tiers.is_empty()) {
                *want.entry((s, 0)).or_default() += i128::from(c);
            }
        }
    }
    for item in &proof.items {
        *got.entry((item.shape, item.tier)).or_default() += u64::from(item.count);
    }
    let keys: BTreeSet<(usize, usize)> = want.keys().chain(got.keys()).copied().collect();
    for key in keys {
        let want = want.get(&key).copied().unwrap_or(0);
        let got = got.get(&key).copied().unwrap_or(0);
        if want != i128::from(got) {
            let want = u64::try_from(want).unwrap_or(0);
            return Err(BrokenProof::Partition { shape: key.0, tier: key.1, want, got });
        }
    }
    Ok(())
}

fn length(part: &'static str, index: usize, what: &'static str, got: usize, want: usize) -> Result<(), BrokenProof> {
    if got == want { Ok(()) } else { Err(BrokenProof::Length { part, index, what, got, want }) }
}

fn sign(part: &'static str, index: usize, what: &'static str, values: &[i64]) -> Result<(), BrokenProof> {
    if values.iter().any(|&v| v < 0) { Err(BrokenProof::Negative { part, index, what }) } else { Ok(()) }
}
