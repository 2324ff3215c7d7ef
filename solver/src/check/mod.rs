//! The independent verifier.
//!
//! Nothing here is shared with the code that plans or proves: this module
//! imports only the problem, the plan and the certificate, and recomputes
//! everything in exact integers.

mod broken;
mod order;
mod pairs;
mod place;
mod proof;
mod removals;
mod resources;
mod spread;
mod tiers;

pub use broken::{Broken, BrokenProof, Spot};
pub use proof::certificate;

use crate::instance::{Instance, RuleKind};
use crate::plan::Plan;
use place::View;

/// Checks every rule of the problem against a plan. All that is broken is
/// listed, in the order of the parts; an empty list never comes back as an
/// error.
pub fn plan(instance: &Instance, plan: &Plan) -> Result<(), Vec<Broken>> {
    let mut broken = place::form(instance, plan);
    if !broken.is_empty() {
        return Err(broken);
    }
    resources::counts(instance, plan, &mut broken);
    resources::capacity(instance, plan, &mut broken);
    resources::draws(instance, plan, &mut broken);
    removals::check(instance, plan, &mut broken);
    let mut best: Option<Vec<Broken>> = None;
    match tiers::assignments(instance, plan) {
        Err(mut impossible) => broken.append(&mut impossible),
        Ok(candidates) => {
            for tiers in candidates {
                let found = coupled(instance, &View::new(instance, plan, &tiers));
                let better = best.as_ref().is_none_or(|b| found.len() < b.len());
                let done = found.is_empty();
                if better {
                    best = Some(found);
                }
                if done {
                    break;
                }
            }
        }
    }
    broken.extend(best.unwrap_or_default());
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

/// What depends on which pods are where in which tier: rules and varieties.
fn coupled(instance: &Instance, view: &View) -> Vec<Broken> {
    let mut broken = Vec::new();
    for (r, rule) in instance.rules.iter().enumerate() {
        match &rule.kind {
            RuleKind::Spread(s) => spread::check(instance, view, r, rule, s, &mut broken),
            RuleKind::Anti => pairs::anti(instance, view, r, rule, &mut broken),
            RuleKind::Affinity => pairs::affinity(instance, view, r, rule, &mut broken),
        }
    }
    resources::varieties(instance, view, &mut broken);
    broken
}
