//! A provider like EC2: it sells machines, is sometimes out of them, and
//! takes some back.

mod launch;
mod machine;
mod offerings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Refusal, Reply};
use millwright_models::catalog::Catalog;

pub use launch::{Temper, candidates};
pub use machine::{Machine, State, amounts as machine_amounts};
pub use offerings::Offerings;

/// Type, zone and capacity type.
pub type Sale = (String, String, String);

/// All machines that were ever sold, and what is out of stock.
#[derive(Debug)]
pub struct Provider {
    pub catalog: Arc<Catalog>,
    pub image: String,
    machines: BTreeMap<String, Machine>,
    /// Machines by client token.
    tokens: BTreeMap<String, String>,
    /// Not to be had before this time.
    stock_outs: BTreeMap<Sale, Timestamp>,
    sold: u64,
}

impl Provider {
    pub fn new(catalog: Arc<Catalog>) -> Self {
        let (machines, tokens, stock_outs) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { catalog, image: "ami-1".to_owned(), machines, tokens, stock_outs, sold: 0 }
    }

    /// By provider id.
    pub fn machine(&self, id: &str) -> Option<&Machine> {
        self.machines.get(id)
    }

    pub fn machine_mut(&mut self, id: &str) -> Option<&mut Machine> {
        self.machines.get_mut(id)
    }

    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.machines.values()
    }

    /// Machines sold so far.
    pub fn sold(&self) -> u64 {
        self.sold
    }

    /// Nobody gets this before `until`.
    pub fn stock_out(&mut self, sale: Sale, until: Timestamp) {
        self.stock_outs.insert(sale, until);
    }

    pub fn is_out_of_stock(&self, sale: &Sale, now: Timestamp) -> bool {
        self.stock_outs.get(sale).is_some_and(|until| *until > now)
    }

    /// Whether anything is out of stock.
    pub fn has_stock_outs(&self, now: Timestamp) -> bool {
        self.stock_outs.values().any(|until| *until > now)
    }

    /// Begins to end a machine; it is gone after `takes`.
    pub fn terminate(&mut self, id: &str, takes: SignedDuration, now: Timestamp) -> Reply {
        match self.machines.get_mut(id) {
            Some(machine) if machine.is_up() => {
                machine.state = State::Ending { until: now + takes };
                Reply::Done
            }
            Some(Machine { state: State::Ending { until }, .. }) if *until > now => Reply::Done,
            _ => Reply::Refused(Refusal::NotFound),
        }
    }

    pub fn describe(&self, id: &str, now: Timestamp) -> Reply {
        match self.machines.get(id) {
            Some(machine) if !machine.is_gone(now) => Reply::Instances(vec![machine.instance(now)]),
            _ => Reply::Refused(Refusal::NotFound),
        }
    }

    /// All machines that are not gone. The newest are missing for a moment,
    /// as lists are consistent only in the end.
    pub fn list(&self, now: Timestamp) -> Reply {
        let settled = |m: &&Machine| !m.is_gone(now) && now.duration_since(m.created) >= SignedDuration::from_secs(2);
        Reply::Instances(self.machines.values().filter(settled).map(|m| m.instance(now)).collect())
    }
}
