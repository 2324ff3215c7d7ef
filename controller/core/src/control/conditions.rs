//! Status conditions with a root that sums them up. (spec 10 §7)

use jiff::Timestamp;
use millwright_models::karpenter::buffer::CapacityBuffer;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::kube::meta::{Condition, Meta};
use serde_json::{Value, json};

use super::keys::{CLASS_READY, INITIALIZED, LAUNCHED, READY, REGISTERED, VALIDATED};

/// What a condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    True,
    False,
    Unknown,
}

impl Truth {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// The conditions of one object, being brought up to date.
#[derive(Clone, Debug)]
pub struct Conditions {
    before: Vec<Condition>,
    list: Vec<Condition>,
    /// What the root sums up; no root without any.
    dependents: &'static [&'static str],
    generation: i64,
    now: Timestamp,
}

impl Conditions {
    pub fn of_claim(claim: &NodeClaim, now: Timestamp) -> Self {
        Self::new(&claim.meta, &claim.conditions, &[LAUNCHED, REGISTERED, INITIALIZED], now)
    }

    pub fn of_pool(pool: &NodePool, now: Timestamp) -> Self {
        Self::new(&pool.meta, &pool.conditions, &[VALIDATED, CLASS_READY], now)
    }

    pub fn of_buffer(buffer: &CapacityBuffer, now: Timestamp) -> Self {
        Self::new(&buffer.meta, &buffer.conditions, &[], now)
    }

    /// Missing dependents are Unknown since the object's creation.
    fn new(meta: &Meta, list: &[Condition], dependents: &'static [&'static str], now: Timestamp) -> Self {
        // The API keeps whole seconds.
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let mut all = Self {
            before: list.to_vec(),
            list: list.to_vec(),
            dependents,
            generation: meta.generation,
            now: meta.creation_timestamp.unwrap_or(now),
        };
        for kind in dependents {
            if all.get(kind).is_none() {
                all.set(kind, Truth::Unknown, "AwaitingReconciliation", "object is awaiting reconciliation");
            }
        }
        all.now = now;
        if meta.deletion_timestamp.is_some() {
            all.refresh_all();
        }
        all
    }

    pub fn get(&self, kind: &str) -> Option<&Condition> {
        self.list.iter().find(|c| c.kind == kind)
    }

    pub fn is(&self, kind: &str, truth: Truth) -> bool {
        self.get(kind).is_some_and(|c| c.status == truth.as_str())
    }

    /// When the condition came to say what it says.
    pub fn since(&self, kind: &str) -> Option<Timestamp> {
        self.get(kind).and_then(|c| c.last_transition_time)
    }

    /// Sets a condition. The time of transition moves only with the status.
    pub fn set(&mut self, kind: &str, truth: Truth, reason: &str, message: &str) {
        let status = truth.as_str();
        let since = self.get(kind).filter(|c| c.status == status).and_then(|c| c.last_transition_time);
        let condition = Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: Some(since.unwrap_or(self.now)),
            observed_generation: Some(self.generation),
        };
        match self.list.iter_mut().find(|c| c.kind == kind) {
            Some(held) => *held = condition,
            None => self.list.push(condition),
        }
    }

    /// True, for the reason that it is.
    pub fn set_true(&mut self, kind: &str) {
        self.set(kind, Truth::True, kind, "");
    }

    /// Takes a condition away.
    pub fn remove(&mut self, kind: &str) {
        self.list.retain(|c| c.kind != kind);
    }

    /// Restates a condition for the current generation.
    pub fn refresh(&mut self, kind: &str) {
        let generation = self.generation;
        if let Some(condition) = self.list.iter_mut().find(|c| c.kind == kind) {
            condition.observed_generation = Some(generation);
        }
    }

    fn refresh_all(&mut self) {
        for condition in &mut self.list {
            condition.observed_generation = Some(self.generation);
        }
    }

    /// The whole list, if anything in it is new.
    pub fn changed(mut self) -> Option<Value> {
        self.sum_up();
        let sorted = |list: &[Condition]| {
            let mut list = list.to_vec();
            list.sort_by(|a, b| a.kind.cmp(&b.kind));
            list
        };
        if sorted(&self.before) == sorted(&self.list) {
            return None;
        }
        self.list.sort_by_key(|c| (c.kind == READY, c.last_transition_time));
        Some(Value::Array(self.list.iter().map(written).collect()))
    }

    fn sum_up(&mut self) {
        if self.dependents.is_empty() {
            return;
        }
        let dependents = self.dependents.iter().filter_map(|kind| self.get(kind));
        let current = |c: &Condition| c.observed_generation.is_none_or(|g| g >= self.generation);
        let mut wanting: Vec<&Condition> = dependents.filter(|c| c.status != "True" || !current(c)).collect();
        wanting.sort_by_key(|c| std::cmp::Reverse(c.last_transition_time));
        let failed = wanting.iter().any(|c| c.status == "False" && current(c));
        let list: Vec<String> = wanting.iter().map(|c| format!("{}={}", c.kind, c.status)).collect();
        let message = list.join(", ");
        match (list.is_empty(), failed) {
            (true, _) => self.set(READY, Truth::True, READY, ""),
            (_, true) => self.set(READY, Truth::False, "UnhealthyDependents", &message),
            _ => self.set(READY, Truth::Unknown, "ReconcilingDependents", &message),
        }
    }
}

fn written(condition: &Condition) -> Value {
    let mut value = json!({
        "type": condition.kind,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
    });
    if let Some(at) = condition.last_transition_time {
        value["lastTransitionTime"] = json!(at.to_string());
    }
    if let Some(generation) = condition.observed_generation {
        value["observedGeneration"] = json!(generation);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn claim(generation: i64) -> NodeClaim {
        let meta = Meta { generation, creation_timestamp: Some(at(100)), ..Meta::default() };
        NodeClaim { meta, ..NodeClaim::default() }
    }

    fn stored(claim: &NodeClaim, list: Value) -> NodeClaim {
        NodeClaim { conditions: serde_json::from_value(list).unwrap(), ..claim.clone() }
    }

    #[test]
    fn missing_ones_are_unknown_since_creation() {
        let list = Conditions::of_claim(&claim(1), at(160)).changed().unwrap();
        let stored = stored(&claim(1), list);
        let launched = &stored.conditions[0];
        assert_eq!((&*launched.kind, &*launched.reason), (LAUNCHED, "AwaitingReconciliation"));
        assert_eq!(launched.last_transition_time, Some(at(100)));
        let root = stored.conditions.last().unwrap();
        assert_eq!((&*root.kind, &*root.status, &*root.reason), (READY, "Unknown", "ReconcilingDependents"));
        assert_eq!(Conditions::of_claim(&stored, at(200)).changed(), None, "nothing is new");
    }

    #[test]
    fn transition_times_move_with_the_status_only() {
        let mut all = Conditions::of_claim(&claim(1), at(160));
        all.set(LAUNCHED, Truth::Unknown, "LaunchFailed", "no");
        assert_eq!(all.since(LAUNCHED), Some(at(100)));
        all.set_true(LAUNCHED);
        assert_eq!(all.since(LAUNCHED), Some(at(160)));
    }

    #[test]
    fn the_root_follows_and_an_old_generation_does_not_count() {
        let mut all = Conditions::of_claim(&claim(1), at(160));
        for kind in [LAUNCHED, REGISTERED, INITIALIZED] {
            all.set_true(kind);
        }
        let ready = stored(&claim(1), all.changed().unwrap());
        assert!(ready.is(READY));
        let mut newer = ready.clone();
        newer.meta.generation = 2;
        let all = Conditions::of_claim(&newer, at(170));
        let root = stored(&newer, all.changed().unwrap());
        assert!(!root.is(READY));
        let mut all = Conditions::of_claim(&ready, at(170));
        all.set(REGISTERED, Truth::False, "MultipleNodesFound", "");
        let list = all.changed().unwrap();
        let root = list.as_array().unwrap().last().unwrap();
        assert_eq!((&root["status"], &root["message"]), (&json!("False"), &json!("Registered=False")));
    }
}
