//! A provider that sells a machine for each claim, unless told otherwise.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Ask, Instance, Refusal, Reply};
use serde_json::json;

/// Machines, and what goes wrong next.
#[derive(Default)]
pub struct Provider {
    pub machines: BTreeMap<String, Instance>,
    ending: BTreeMap<String, Timestamp>,
    /// Answers to the next launches, before any machine is sold.
    pub refusals: VecDeque<Refusal>,
    pub terminate_refusals: VecDeque<Refusal>,
    pub list_fails: bool,
    /// How long a machine takes to end.
    pub ends_after: SignedDuration,
    pub labels: BTreeMap<String, String>,
    /// How many machines were ever sold.
    pub sold: usize,
}

pub fn id(claim: &str) -> String {
    format!("aws:///a/i-{claim}")
}

impl Provider {
    pub fn add(&mut self, claim: &str, created: Timestamp) {
        let capacity = json!({"cpu": "4", "memory": "16Gi", "pods": "110"});
        let machine = Instance {
            provider_id: id(claim),
            image_id: "ami-1".to_owned(),
            claim: claim.to_owned(),
            created: Some(created),
            labels: self.labels.clone(),
            annotations: BTreeMap::from([("provider/note".to_owned(), "sold".to_owned())]),
            capacity: capacity.clone(),
            allocatable: capacity,
            ..Instance::default()
        };
        self.machines.insert(id(claim), machine);
    }

    pub fn carry_out(&mut self, ask: &Ask, now: Timestamp) -> Option<Reply> {
        self.ending.retain(|id, at| {
            let over = *at <= now;
            if over {
                self.machines.remove(id);
            }
            !over
        });
        Some(match ask {
            Ask::Launch { claim, .. } => {
                if let Some(refusal) = self.refusals.pop_front() {
                    return Some(Reply::Refused(refusal));
                }
                if !self.machines.contains_key(&id(claim)) {
                    self.add(claim, now);
                    self.sold += 1;
                }
                Reply::Launched(self.machines[&id(claim)].clone())
            }
            Ask::Terminate { provider_id, .. } => {
                if let Some(refusal) = self.terminate_refusals.pop_front() {
                    return Some(Reply::Refused(refusal));
                }
                if !self.machines.contains_key(provider_id) {
                    return Some(Reply::Refused(Refusal::NotFound));
                }
                self.ending.entry(provider_id.clone()).or_insert(now + self.ends_after);
                if self.ends_after.is_zero() {
                    self.machines.remove(provider_id);
                    self.ending.remove(provider_id);
                }
                Reply::Done
            }
            Ask::Describe { provider_id, .. } => match self.machines.get(provider_id) {
                Some(machine) => Reply::Instances(vec![machine.clone()]),
                None => Reply::Refused(Refusal::NotFound),
            },
            Ask::Instances if self.list_fails => {
                Reply::Refused(Refusal::Unavailable { message: "throttled".to_owned() })
            }
            Ask::Instances => Reply::Instances(self.machines.values().cloned().collect()),
            _ => return None,
        })
    }
}
