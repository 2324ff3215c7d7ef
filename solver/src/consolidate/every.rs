//! Small clusters: every choice of nodes, each answered exactly.

use super::budget::holds;
use super::reduce::{lift, without};
use crate::engine::{self, Clock, EngineError, Options};
use crate::exact::PODS;
use crate::instance::{Instance, Micros};
use crate::plan::Plan;
use std::time::Duration;

/// Most choices that are all tried.
const CHOICES: usize = 64;

/// All choices that the budgets admit, cheapest first if pods took no room;
/// none if there are too many or too many pods.
pub fn choices(instance: &Instance, open: &[bool]) -> Option<Vec<Vec<usize>>> {
    let free: Vec<usize> = (0..open.len()).filter(|&n| open[n] && !is_forced(instance, n)).collect();
    if free.len() > CHOICES.ilog2() as usize || instance.movable_pods() > PODS {
        return None;
    }
    let must: Vec<usize> = (0..open.len()).filter(|&n| is_forced(instance, n)).collect();
    let mut out: Vec<Vec<usize>> = Vec::new();
    for mask in 0..1usize << free.len() {
        let mut gone = must.clone();
        gone.extend(free.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, &n)| n));
        gone.sort_unstable();
        if holds(instance, &gone) {
            out.push(gone);
        }
    }
    out.sort_by_cached_key(|gone| (gone.iter().map(|&n| -instance.nodes[n].price).sum::<Micros>(), gone.len()));
    Some(out)
}

fn is_forced(instance: &Instance, n: usize) -> bool {
    instance.nodes[n].removal.as_ref().is_some_and(|r| r.forced)
}

/// The best plan for one choice, and whether it is known to be.
pub fn answer(
    instance: &Instance,
    gone: &[usize],
    options: &Options,
    until: Option<Duration>,
    clock: Clock,
) -> Result<(Plan, bool), EngineError> {
    let reduced = without(instance, gone);
    let options = Options { deadline: until, threads: 1, candidates: Vec::new(), ..options.clone() };
    let outcome = engine::solve(&reduced, &options, clock)?;
    let cost = outcome.plan.cost(&reduced);
    let proven = outcome.bound >= cost || outcome.claimed.is_some_and(|c| c >= cost);
    Ok((lift(outcome.plan, gone), proven))
}
