//! A machine, from its sale to its end.

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::Instance;
use millwright_models::kube::meta::Labels;
use millwright_models::quantity;
use millwright_models::resources::Resources;
use serde_json::{Value, json};

/// A machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// `aws:///zone/i-…`
    pub id: String,
    pub claim: String,
    /// Uid of the NodeClaim, the client token.
    pub token: String,
    pub instance_type: String,
    pub zone: String,
    pub capacity_type: String,
    /// Micro-dollars per hour.
    pub price: i64,
    pub image: String,
    pub created: Timestamp,
    pub state: State,
    pub labels: Labels,
    pub capacity: Resources,
    /// What the provider promises.
    pub allocatable: Resources,
    /// What its kubelet reports.
    pub offered: Resources,
    /// From the sale to the Node; never, if absent.
    pub boots_in: Option<SignedDuration>,
    /// From the Node to Ready.
    pub ready_in: SignedDuration,
    /// Name of its Node.
    pub node: String,
    /// Taints that its kubelet registers with.
    pub taints: Vec<Value>,
}

/// What a machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Up,
    /// Shutting down.
    Ending {
        until: Timestamp,
    },
    /// Gone without a trace.
    Gone,
}

impl Machine {
    pub fn is_up(&self) -> bool {
        self.state == State::Up
    }

    pub fn is_gone(&self, now: Timestamp) -> bool {
        match self.state {
            State::Up => false,
            State::Ending { until } => until <= now,
            State::Gone => true,
        }
    }

    /// As the provider tells it.
    pub fn instance(&self, now: Timestamp) -> Instance {
        Instance {
            provider_id: self.id.clone(),
            image_id: self.image.clone(),
            claim: self.claim.clone(),
            created: Some(self.created),
            terminating: !self.is_up() && !self.is_gone(now),
            labels: self.labels.clone(),
            annotations: Labels::new(),
            capacity: amounts(&self.capacity),
            allocatable: amounts(&self.allocatable),
        }
    }
}

/// A resource list as objects carry it.
pub fn amounts(resources: &Resources) -> Value {
    resources.iter().map(|(name, amount)| (name.to_owned(), json!(quantity::format(name, amount)))).collect()
}
