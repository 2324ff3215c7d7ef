//! How many nodes of a NodePool may be disrupted at once. (spec 30 §8)

pub mod cron;

use std::collections::BTreeMap;

use jiff::Timestamp;
use millwright_models::karpenter::nodepool::{Budget, NodePool};

use crate::duration;
use crate::nodes::{Memory, StateNode};
use cron::{CronError, Schedule};

/// What a budget is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    Empty,
    Drifted,
    Underutilized,
    Unhealthy,
}

impl Reason {
    pub const ALL: [Self; 4] = [Self::Empty, Self::Drifted, Self::Underutilized, Self::Unhealthy];

    /// As NodePools write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Drifted => "Drifted",
            Self::Underutilized => "Underutilized",
            Self::Unhealthy => "Unhealthy",
        }
    }
}

/// No limit at all.
pub const UNLIMITED: i64 = i32::MAX as i64;

/// Why a budget cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    #[error("spec.disruption.budgets[{index}].schedule: {source}")]
    Schedule { index: usize, source: CronError },
    #[error("spec.disruption.budgets[{index}].duration: {text:?} is no duration like 8h30m")]
    Duration { index: usize, text: String },
    #[error("spec.disruption.budgets[{index}].nodes: {text:?} is neither a number nor a percentage")]
    Nodes { index: usize, text: String },
    #[error("spec.disruption.budgets[{index}]: schedule and duration go together")]
    Half { index: usize },
}

/// Nodes of `pool` that may be disrupted at `now` for `reason`, of `total`,
/// those included that are being disrupted already. One budget that cannot be
/// evaluated lets nothing go.
pub fn allowed(pool: &NodePool, total: u64, reason: Reason, now: Timestamp) -> Result<i64, BudgetError> {
    let mut least = UNLIMITED;
    for (index, budget) in pool.disruption.budgets.iter().enumerate() {
        let value = if is_active(budget, index, now)? { nodes(budget, index, total)? } else { UNLIMITED };
        if budget.reasons.as_ref().is_none_or(|rs| rs.iter().any(|r| r == reason.as_str())) {
            least = least.min(value);
        }
    }
    Ok(least)
}

fn is_active(budget: &Budget, index: usize, now: Timestamp) -> Result<bool, BudgetError> {
    let (schedule, length) = match (&budget.schedule, &budget.duration) {
        (None, None) => return Ok(true),
        (Some(schedule), Some(length)) => (schedule, length),
        _ => return Err(BudgetError::Half { index }),
    };
    let schedule = Schedule::parse(schedule).map_err(|source| BudgetError::Schedule { index, source })?;
    let length = duration::parse(length).ok_or_else(|| BudgetError::Duration { index, text: length.clone() })?;
    Ok(schedule.is_open(now, length))
}

fn nodes(budget: &Budget, index: usize, total: u64) -> Result<i64, BudgetError> {
    let bad = || BudgetError::Nodes { index, text: budget.nodes.clone() };
    match budget.nodes.strip_suffix('%') {
        Some(percent) => {
            let percent: u64 = percent.parse().ok().filter(|p| *p <= 100).ok_or_else(bad)?;
            Ok(i64::try_from((total * percent).div_ceil(100)).unwrap_or(UNLIMITED))
        }
        None => budget.nodes.parse::<i64>().ok().filter(|n| *n >= 0).map(|n| n.min(UNLIMITED)).ok_or_else(bad),
    }
}

/// Nodes of a pool that its percentages count, and those of them that are
/// being disrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub total: u64,
    pub disrupting: u64,
}

/// Nodes and what is remembered of them.
#[derive(Clone, Copy)]
pub struct Census<'c, 'w> {
    pub nodes: &'c [StateNode<'w>],
    pub memory: &'c Memory,
    /// Nodes without a claim count too.
    pub unmanaged: bool,
}

/// Counts the nodes of `pool` for `reason`. What is not ready uses the budget
/// up, whatever the cause; repair is there for exactly those.
pub fn tally(census: Census<'_, '_>, pool: &str, reason: Reason) -> Tally {
    let mut tally = Tally::default();
    for node in census.nodes.iter().filter(|n| n.pool() == Some(pool)) {
        let rebooting = node.is_rebooting();
        let mine = node.is_managed() || census.unmanaged;
        let counts = mine && (node.is_initialized() || rebooting) && !node.is_terminating_instance();
        if !counts {
            continue;
        }
        tally.total += 1;
        let unready = !node.is_ready() && reason != Reason::Unhealthy;
        if unready || rebooting || node.is_marked(census.memory) {
            tally.disrupting += 1;
        }
    }
    tally
}

/// What a pool's budgets say for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub tally: Tally,
    /// Before what is being disrupted is subtracted.
    pub allowed: i64,
    /// Never below 0.
    pub remaining: i64,
    /// Nodes exist and none may go: worth an event.
    pub blocked: bool,
}

/// Allowances of every pool for `reason`, and what could not be evaluated.
pub fn allowances(
    pools: &[NodePool],
    census: Census<'_, '_>,
    reason: Reason,
    now: Timestamp,
) -> (BTreeMap<String, Allowance>, Vec<(String, BudgetError)>) {
    let mut faults = Vec::new();
    let mut all = BTreeMap::new();
    for pool in pools {
        let tally = tally(census, pool.name(), reason);
        let allowed = allowed(pool, tally.total, reason, now).unwrap_or_else(|e| {
            faults.push((pool.name().to_owned(), e));
            0
        });
        let remaining = (allowed - i64::try_from(tally.disrupting).unwrap_or(i64::MAX)).max(0);
        let blocked = tally.total > 0 && allowed == 0;
        all.insert(pool.name().to_owned(), Allowance { tally, allowed, remaining, blocked });
    }
    (all, faults)
}
