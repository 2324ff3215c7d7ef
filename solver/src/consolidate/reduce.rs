//! The problem that is left once it is settled which nodes go.

use crate::instance::{Instance, RuleKind};
use crate::plan::Plan;
use fixedbitset::FixedBitSet;

/// The instance without the nodes of `gone`, whose residents wait for a
/// place; no other node may be removed. Nodes keep their positions.
pub fn without(instance: &Instance, gone: &[usize]) -> Instance {
    let mut out = instance.clone();
    out.budgets.clear();
    let mut closed = FixedBitSet::with_capacity(out.nodes.len());
    for node in &mut out.nodes {
        node.removal = None;
    }
    for &n in gone {
        closed.insert(n);
        let node = &mut out.nodes[n];
        for (s, c) in std::mem::take(&mut node.residents) {
            out.shapes[s].count += c;
        }
        node.free.fill(0);
        for &(l, amount) in &node.limit_use {
            out.limits[l].max += amount;
        }
        if let Some(s) = node.supply {
            out.supplies[s].count += 1;
        }
    }
    for admission in &mut out.admissions {
        admission.nodes.difference_with(&closed);
    }
    for rule in &mut out.rules {
        rule.present.retain(|p| !closed.contains(p.0));
        rule.present_owners.retain(|p| !closed.contains(p.0));
        if let RuleKind::Spread(s) = &mut rule.kind {
            s.scope.nodes.difference_with(&closed);
        }
    }
    out
}

/// A plan for the reduced problem as one for the whole.
pub fn lift(mut plan: Plan, gone: &[usize]) -> Plan {
    plan.removed = gone.to_vec();
    plan
}
