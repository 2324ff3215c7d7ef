//! Recomputes a lower bound from its certificate.

mod form;
mod items;
mod joint;
mod split;
mod worth;

use super::broken::BrokenProof;
use crate::certificate::{Certificate, U_SHIFT};
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use items::Items;

/// The lower bound that the certificate proves on the cost of any plan that
/// serves what this one serves, rounded down.
///
/// The plan itself is not judged here; see [`super::plan`].
pub fn certificate(instance: &Instance, plan: &Plan, proof: &Certificate) -> Result<Micros, BrokenProof> {
    form::form(instance, proof)?;
    form::partition(instance, plan, proof)?;
    let items = Items::new(instance, proof);
    worth::bins(instance, proof, &items)?;
    let worths = worth::nodes(instance, proof, &items);

    let mut total = split::total(instance, proof, &items)?;
    let mut removable = false;
    for (n, node) in instance.nodes.iter().enumerate() {
        // Worths are scaled; round against the bound.
        let worth = worths[n] >> U_SHIFT;
        let worth = worth + i128::from(worths[n] & ((1 << U_SHIFT) - 1) != 0);
        total -= match &node.removal {
            None => worth,
            Some(removal) => {
                removable = true;
                let mut keep = worth;
                for &(s, c) in &node.residents {
                    keep += i128::from(items.dearest(s)) * i128::from(c);
                }
                let mut gone = (i128::from(node.price) - i128::from(removal.charge)) * 1000;
                for &(l, a) in &node.limit_use {
                    gone += product(form::dual(&proof.limit_duals, l), a)?;
                }
                if let Some(s) = node.supply {
                    gone += i128::from(form::dual(&proof.supply_duals, s));
                }
                for &(b, a) in &removal.budgets {
                    gone -= product(form::dual(&proof.budget_duals, b), a)?;
                }
                if removal.forced { gone } else { keep.max(gone) }
            }
        };
    }
    for (l, limit) in instance.limits.iter().enumerate() {
        total -= product(form::dual(&proof.limit_duals, l), limit.max.max(0))?;
    }
    for (s, supply) in instance.supplies.iter().enumerate() {
        total -= i128::from(form::dual(&proof.supply_duals, s)) * i128::from(supply.count);
    }
    for (b, budget) in instance.budgets.iter().enumerate() {
        total -= product(form::dual(&proof.budget_duals, b), budget.max)?;
    }
    let bound = total.div_euclid(1000);
    let bound = if removable { bound } else { bound.max(0) };
    Micros::try_from(bound).map_err(|_| BrokenProof::Overflow)
}

fn product(a: i64, b: i64) -> Result<i128, BrokenProof> {
    let p = i128::from(a) * i128::from(b);
    // Sums of these must stay in range.
    if p.unsigned_abs() < 1 << 110 { Ok(p) } else { Err(BrokenProof::Overflow) }
}
