//! What a provider calls unhealthy, and what is to be done about it.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use regex::Regex;

/// What heals a node; the more disruptive is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    RebootNode,
    ReplaceNode,
}

/// One policy as a provider gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub condition: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Pattern found anywhere in the condition's reason; the fallback has none.
    pub reason: Option<String>,
    pub toleration: SignedDuration,
    /// How long pods may take to leave.
    pub grace: Option<SignedDuration>,
    /// 0 to 100.
    pub priority: u32,
    pub action: Action,
}

/// Why a set of policies cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("repair policy {0}: the condition type is empty")]
    NoCondition(usize),
    #[error("repair policy {0}: status {1:?} is none of True, False, Unknown")]
    Status(usize, String),
    #[error("repair policy {0}: the reason {1:?} is no pattern: {2}")]
    Pattern(usize, String, String),
    #[error("repair policy {0}: the toleration is negative")]
    Toleration(usize),
    #[error("repair policy {0}: the termination grace period is negative")]
    Grace(usize),
    #[error("repair policy {0}: priority {1} is above 100")]
    Priority(usize, u32),
    #[error("repair policy {0}: the fallback must replace nodes")]
    RebootingFallback(usize),
    #[error("{0} repair policies have no reason; exactly one, the fallback, must have none")]
    Fallbacks(usize),
    #[error("there are no repair policies")]
    Empty,
}

/// A set that holds together.
#[derive(Clone, Debug)]
pub struct Policies {
    pub(super) all: Vec<(Rule, Option<Regex>)>,
    /// The distinct priorities, ascending: a policy's rank is its place here.
    priorities: Vec<u32>,
}

impl Policies {
    /// Every fault of the set, if it has any.
    pub fn new(rules: Vec<Rule>) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        if rules.is_empty() {
            faults.push(Fault::Empty);
        }
        for (i, rule) in rules.iter().enumerate() {
            if rule.condition.is_empty() {
                faults.push(Fault::NoCondition(i));
            }
            if !["True", "False", "Unknown"].contains(&rule.status.as_str()) {
                faults.push(Fault::Status(i, rule.status.clone()));
            }
            if rule.toleration.is_negative() {
                faults.push(Fault::Toleration(i));
            }
            if rule.grace.is_some_and(|g| g.is_negative()) {
                faults.push(Fault::Grace(i));
            }
            if rule.priority > 100 {
                faults.push(Fault::Priority(i, rule.priority));
            }
            if rule.reason.is_none() && rule.action != Action::ReplaceNode {
                faults.push(Fault::RebootingFallback(i));
            }
        }
        let fallbacks = rules.iter().filter(|r| r.reason.is_none()).count();
        if fallbacks != 1 && !rules.is_empty() {
            faults.push(Fault::Fallbacks(fallbacks));
        }
        let all = Self::compiled(rules, &mut faults);
        if faults.is_empty() { Ok(all) } else { Err(faults) }
    }

    /// The set as the old controller takes it: only what replaces, without
    /// any demand on the whole. Patterns that cannot be read match nothing.
    pub fn legacy(rules: Vec<Rule>) -> Self {
        let replacing = rules.into_iter().filter(|r| r.action == Action::ReplaceNode).collect();
        Self::compiled(replacing, &mut Vec::new())
    }

    fn compiled(rules: Vec<Rule>, faults: &mut Vec<Fault>) -> Self {
        let priorities: BTreeSet<u32> = rules.iter().map(|r| r.priority).collect();
        let mut all = Vec::new();
        for (i, rule) in rules.into_iter().enumerate() {
            match rule.reason.as_deref().map(Regex::new) {
                None => all.push((rule, None)),
                Some(Ok(pattern)) => all.push((rule, Some(pattern))),
                Some(Err(e)) => {
                    faults.push(Fault::Pattern(i, rule.reason.clone().unwrap_or_default(), e.to_string()));
                }
            }
        }
        Self { all, priorities: priorities.into_iter().collect() }
    }

    /// Distinct priorities below this one.
    pub(super) fn rank(&self, priority: u32) -> usize {
        self.priorities.partition_point(|p| *p < priority)
    }

    /// Whether some policy names this condition in this status.
    pub fn names(&self, condition: &str, status: &str) -> bool {
        self.all.iter().any(|(r, _)| r.condition == condition && r.status == status)
    }
}
