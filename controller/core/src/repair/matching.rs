//! Whether a node is due for repair. (spec 30 §20.2)

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::meta::Condition;

use super::policy::{Action, Policies, Rule};
use crate::nodes::StateNode;

/// A score of 1 is one rank of priority, or so much waiting.
const HALF_HOUR: f64 = 1800.0;

/// What the policies say of a node that is due.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The higher, the sooner: rank of the priority and time since it was due.
    pub score: f64,
    /// The shortest that a policy which is due sets for pods to leave.
    pub grace: Option<SignedDuration>,
    pub action: Action,
    /// Condition and status of the policy that governs.
    pub condition: String,
    pub status: String,
    pub since: Timestamp,
    /// The governing policy is the fallback.
    pub fallback: bool,
    /// A reboot was asked for, and there were too many lately.
    pub escalated: bool,
}

/// Judges a node at `now`; none if nothing is due. `reboots` are those
/// committed within the last day.
pub fn verdict(node: &StateNode<'_>, policies: &Policies, reboots: usize, now: Timestamp) -> Option<Verdict> {
    let born = node.node?.meta.creation_timestamp.unwrap_or(Timestamp::MIN);
    let rebooted = node.condition("Rebooting").filter(|c| c.status == "False").and_then(|c| c.last_transition_time);
    let floor = rebooted.map_or(born, |end| end.max(born));
    let mut due: Vec<(&Rule, Timestamp)> = Vec::new();
    for condition in &node.node?.conditions {
        let start = condition.last_transition_time.unwrap_or(floor).max(floor);
        for rule in matching(policies, condition) {
            let at = start.saturating_add(rule.toleration).unwrap_or(Timestamp::MAX);
            if at <= now {
                due.push((rule, at));
            }
        }
    }
    let waited = |at: Timestamp| now.duration_since(at).as_secs_f64() / HALF_HOUR;
    let score = due.iter().map(|(r, at)| policies.rank(r.priority) as f64 + waited(*at)).reduce(f64::max)?;
    let grace = due.iter().filter_map(|(r, _)| r.grace).min();
    let escalated = reboots >= super::reboot::MOST;
    let effective = |r: &Rule| if escalated { Action::ReplaceNode } else { r.action };
    let action = due.iter().map(|(r, _)| effective(r)).max()?;
    let equal = due.iter().filter(|(r, _)| effective(r) == action);
    let (governs, since) = equal.min_by(|(a, at), (b, bt)| {
        b.priority.cmp(&a.priority).then(at.cmp(bt)).then_with(|| a.condition.cmp(&b.condition))
    })?;
    Some(Verdict {
        score,
        grace,
        action,
        condition: governs.condition.clone(),
        status: governs.status.clone(),
        since: *since,
        fallback: governs.reason.is_none(),
        escalated: escalated && due.iter().all(|(r, _)| r.action == Action::RebootNode),
    })
}

/// The policies whose pattern is in the condition's reason; the fallback
/// where there is none, but only for pairs that some policy names.
fn matching<'p>(policies: &'p Policies, condition: &Condition) -> Vec<&'p Rule> {
    let pair = |r: &Rule| r.condition == condition.kind && r.status == condition.status;
    let named = policies.all.iter().filter(|(r, _)| pair(r));
    let mut found: Vec<&Rule> = named
        .filter(|(_, p)| p.as_ref().is_some_and(|p| p.is_match(&condition.reason)))
        .map(|(rule, _)| rule)
        .collect();
    if found.is_empty() && policies.names(&condition.kind, &condition.status) {
        found.extend(policies.all.iter().find(|(_, p)| p.is_none()).map(|(rule, _)| rule));
    }
    found
}
