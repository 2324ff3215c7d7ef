//! Few machines: every fleet that could be better than the best plan known,
//! best first, each asked whether the pods fit it.
//!
//! Columns of contents are too many where pods are small against machines and
//! the bound is far off; fleets of a handful of machines are not. That a fleet
//! is too small is told by sums, or proven by an integer program that leaves
//! rules between pods out, so it is too small under the rules as well.

mod enumerate;
mod fit;

use super::PODS;
use crate::check;
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use enumerate::{Fleet, fleets};
use fit::Fit;

/// What looking through the fleets came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// A better plan than the one known, if there is one.
    pub plan: Option<Plan>,
    /// No plan that serves everybody as wished costs less than the better of
    /// the two.
    pub proven: bool,
}

/// Most fleets that are asked.
const ASKED: usize = 1_500;
/// The same where no clock decides.
const FEW: usize = 40;

/// Looks for a better plan than `start`, which serves everybody as wished;
/// `least` is a bound on the cost, `left` tells how many seconds remain.
/// `None` where fleets are too many.
pub fn solve(instance: &Instance, start: &Plan, least: Micros, left: &dyn Fn() -> f64) -> Option<Answer> {
    if !start.unserved.is_empty() || !start.demoted.is_empty() || instance.movable_pods() > PODS {
        return None;
    }
    check::plan(instance, start).ok()?;
    let all = fleets(instance, &Rank::of(instance, start), least)?;
    let mut proven = true;
    let most = if left().is_finite() { ASKED } else { FEW };
    for (asked, fleet) in all.into_iter().enumerate() {
        if asked >= most || left() <= 0.0 {
            return Some(Answer { plan: None, proven: false });
        }
        match fit::fit(instance, &fleet, left()) {
            Ok(Fit::Never) => {}
            Ok(Fit::Plan(plan)) if check::plan(instance, &plan).is_ok() => {
                return Some(Answer { plan: Some(plan), proven });
            }
            // Rules refuse this way of filling it; another might do.
            Ok(Fit::Plan(_) | Fit::Unknown) | Err(_) => proven = false,
        }
    }
    Some(Answer { plan: None, proven })
}

/// What decides between plans that serve the same pods; smaller is better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    cost: Micros,
    evictions: u64,
    removed: usize,
    bought: usize,
}

impl Rank {
    fn of(instance: &Instance, plan: &Plan) -> Self {
        Rank {
            cost: plan.cost(instance),
            evictions: plan.evictions(instance),
            removed: plan.removed.len(),
            bought: plan.bought.len(),
        }
    }

    fn of_fleet(instance: &Instance, fleet: &Fleet) -> Self {
        let plan = Plan {
            bought: fleet.bins.iter().map(|&bin| crate::plan::NewNode { bin, contents: Vec::new() }).collect(),
            removed: fleet.removed.clone(),
            ..Plan::default()
        };
        Rank::of(instance, &plan)
    }
}
