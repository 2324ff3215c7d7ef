//! Repair as it was before it drained: the claim goes at once. (spec 30 §20.1)

use jiff::Timestamp;

use super::breaker::{Breaker, breaker};
use super::policy::Policies;
use crate::nodes::StateNode;

/// What becomes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legacy {
    Healthy,
    /// Unhealthy; look again at this time.
    Wait(Timestamp),
    /// Too many are unhealthy; look again in five minutes.
    Blocked(Breaker),
    /// Delete the claim with this time as its deadline, if a deadline is to be
    /// written at all: budgets, opt-outs and grace periods do not count.
    Delete {
        deadline: Option<Timestamp>,
    },
}

/// Judges one node. `deadline` is the one that its claim has already.
pub fn legacy(
    node: &StateNode<'_>,
    nodes: &[StateNode<'_>],
    policies: &Policies,
    deadline: Option<Timestamp>,
    now: Timestamp,
) -> Legacy {
    let Some(object) = node.node.filter(|_| node.is_managed()) else { return Legacy::Healthy };
    let due = object.conditions.iter().flat_map(|c| {
        let fits = move |reason: &Option<regex::Regex>| reason.as_ref().is_none_or(|p| p.is_match(&c.reason));
        let rules = policies.all.iter().filter(move |(r, p)| r.condition == c.kind && r.status == c.status && fits(p));
        rules.map(|(r, _)| {
            let start = c.last_transition_time.unwrap_or(Timestamp::MIN);
            start.saturating_add(r.toleration).unwrap_or(Timestamp::MAX)
        })
    });
    let Some(at) = due.min() else { return Legacy::Healthy };
    if at > now {
        return Legacy::Wait(at);
    }
    let counted = breaker(nodes, node.pool(), policies);
    if counted.is_open() {
        return Legacy::Blocked(counted);
    }
    Legacy::Delete { deadline: deadline.is_none_or(|d| d > now).then_some(now) }
}
