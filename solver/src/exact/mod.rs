//! Exact answers for small instances: every content that an optimal plan
//! could use becomes a column, and HiGHS picks.
//!
//! A lower bound prunes: in a plan no dearer than one already known, no node's
//! contents can lose more against the values of the bound than the gap between
//! the two. Rules on a domain are rows where they are linear; what is not is
//! left out, and an answer counts only if the verifier accepts it, which makes
//! it optimal under the left-out rules as well.

mod contents;
pub mod fleets;
mod host;
mod pick;
mod rows;

use crate::bound::{Certifier, Round, served};
use crate::check;
use crate::instance::{Instance, Micros};
use crate::plan::Plan;

/// Nodes of a search tree where no clock decides.
const NODES: u32 = 200;

/// Most pods for which an exact answer is tried.
pub const PODS: u64 = 200;

/// A proven optimum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact {
    /// A cheapest plan, with the fewest nodes among the cheapest.
    pub plan: Plan,
    /// Its cost, which no other plan undercuts. The search proved it, not a
    /// certificate.
    pub bound: Micros,
}

/// The optimum, or `None` if it could not be proven: too large, too little
/// time, a node may be removed, or a rule that is not linear decided.
///
/// `start` is a valid plan; `left` tells how many seconds remain, infinity
/// that no clock decides: then the work itself is limited.
pub fn solve(instance: &Instance, start: &Plan, left: &dyn Fn() -> f64) -> Option<Exact> {
    if instance.pods() > PODS || instance.nodes.iter().any(|n| n.removal.is_some()) {
        return None;
    }
    check::plan(instance, start).ok()?;
    let complete = start.unserved.is_empty() && start.demoted.is_empty();
    let price = complete.then(|| {
        let mut certifier = Certifier::new(instance, &served(instance, start));
        certifier.fluid();
        let begun = left();
        let stop = || left() < 0.6 * begun;
        for _ in 0..400 {
            let round = certifier.round(&stop);
            if matches!(round, Round::Converged | Round::Stopped) {
                break;
            }
        }
        let (bound, certificate) = certifier.best();
        contents::Prices::new(instance, certificate, start.bought_cost(instance), bound)
    });
    let columns = contents::enumerate(instance, price.as_ref(), left)?;
    let plan = pick::best(instance, &columns, complete, left)?;
    check::plan(instance, &plan).ok()?;
    let bound = plan.bought_cost(instance);
    Some(Exact { plan, bound })
}
