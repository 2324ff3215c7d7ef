//! Scheduler, kubelets and the controllers of kube-controller-manager.
//!
//! Each part is level-triggered: it is woken by changes, waits for its lag,
//! and compares what there is with what ought to be.

mod budgets;
mod cloud;
mod daemons;
mod garbage;
mod kubelets;
mod node_state;
mod pods;
mod replicas;
mod scheduler;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::dice::Dice;
use crate::server::{Change, Kind};
use crate::stage::{Happening, Stage};

pub use kubelets::Kubelets;
pub use scheduler::Scheduler;

/// A part that can be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Replicas,
    Daemons,
    Budgets,
    Garbage,
    NodeState,
    PodGarbage,
    Cloud,
    Scheduler,
    Kubelets,
}

impl Part {
    /// Milliseconds from a change until it is acted on.
    fn lag(self) -> (i64, i64) {
        match self {
            Self::Replicas | Self::Daemons => (20, 250),
            Self::Budgets => (10, 150),
            Self::Garbage => (200, 1500),
            Self::NodeState => (50, 400),
            Self::PodGarbage | Self::Cloud => (200, 3000),
            Self::Scheduler => (5, 60),
            Self::Kubelets => (10, 100),
        }
    }
}

/// All parts.
pub struct ControlPlane {
    dice: Dice,
    due: BTreeSet<Part>,
    pub kubelets: Kubelets,
    pub scheduler: Scheduler,
    node_state: node_state::NodeState,
    orphans: pods::Orphans,
}

impl ControlPlane {
    pub fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed, "control plane"),
            due: BTreeSet::new(),
            kubelets: Kubelets::new(seed),
            scheduler: Scheduler::new(seed),
            node_state: node_state::NodeState::default(),
            orphans: pods::Orphans::default(),
        }
    }

    /// Wakes a part.
    pub fn wake(&mut self, part: Part, stage: &mut Stage) {
        if self.due.insert(part) {
            let (low, high) = part.lag();
            stage.agenda.after(self.dice.millis(low, high), Happening::Part(part));
        }
    }

    /// Wakes the parts that a change concerns.
    pub fn notice(&mut self, change: &Change, stage: &mut Stage) {
        let parts: &[Part] = match change.key.kind {
            Kind::Pod => &[Part::Replicas, Part::Daemons, Part::Budgets, Part::Scheduler, Part::Kubelets],
            Kind::Node => &[Part::Daemons, Part::NodeState, Part::Scheduler],
            Kind::ReplicaSet | Kind::StatefulSet => &[Part::Replicas, Part::Budgets],
            Kind::DaemonSet => &[Part::Daemons],
            Kind::Budget => &[Part::Budgets],
            _ => &[],
        };
        for part in parts {
            self.wake(*part, stage);
        }
        let owned = crate::json::get(&change.object, &["metadata", "ownerReferences"]).is_some();
        if change.gone || (owned && change.before.is_none()) {
            self.wake(Part::Garbage, stage);
        }
    }

    /// What comes without a change.
    pub fn tick(&mut self, stage: &mut Stage) {
        for part in [Part::PodGarbage, Part::Cloud, Part::NodeState, Part::Scheduler, Part::Kubelets, Part::Daemons] {
            self.wake(part, stage);
        }
    }

    /// A part does its work.
    pub fn run(&mut self, part: Part, stage: &mut Stage) {
        self.due.remove(&part);
        match part {
            Part::Replicas => replicas::run(stage),
            Part::Daemons => daemons::run(stage),
            Part::Budgets => budgets::run(stage),
            Part::Garbage => garbage::run(stage),
            Part::NodeState => self.node_state.run(stage),
            Part::PodGarbage => self.orphans.run(stage),
            Part::Cloud => cloud::run(stage),
            Part::Scheduler => self.scheduler.run(stage),
            Part::Kubelets => self.kubelets.run(stage),
        }
    }
}

/// Between two ticks.
pub const TICK: SignedDuration = SignedDuration::from_secs(5);
