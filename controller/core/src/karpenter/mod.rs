//! Karpenter's own way of disrupting nodes, reproduced: what an audit is
//! compared with, and a differential oracle. (spec 30 §§4 and 9 to 17)
//!
//! The methods run in Karpenter's order, the first that finds a command acts,
//! and the command is carried out on paper before the next look: what its
//! waiting, its validation and its queue would add is left out, and so are
//! its limits of one minute and three.

mod apply;
mod decide;
mod drift;
mod emptiness;
mod multi;
mod pass;
mod price;
mod refusal;
mod simulation;
mod single;

pub(crate) use apply::{Launched, bought};
use std::borrow::Cow;
use std::cell::Cell;

use jiff::Timestamp;
use millwright_models::catalog::Catalog;
use millwright_models::lower;
use millwright_models::world::World;
use millwright_solver::instance::Micros;

use crate::candidates::Scene;
use crate::nodes::Memory;
pub use pass::{Command, Pass};
pub use refusal::Refusal;

/// What decides beside the world.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    pub lower: &'a lower::Settings,
    pub now: Timestamp,
    /// Nodes that no NodePool manages may go too, which is not Karpenter's way.
    pub unmanaged: bool,
}

/// How a command was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Pods that wait get nodes; no disruption, but it comes before any.
    Provisioning,
    Emptiness,
    Drift,
    /// Drift that removes the node before its successor comes.
    TerminateFirst,
    Multi,
    Single,
}

impl Method {
    /// As Karpenter calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provisioning => "Provisioning",
            Self::Emptiness => "Emptiness",
            Self::Drift => "Drift",
            Self::TerminateFirst => "DriftTerminateFirst",
            Self::Multi => "MultiNodeConsolidation",
            Self::Single => "SingleNodeConsolidation",
        }
    }
}

/// A node that a command buys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    pub name: String,
    pub pool: String,
    pub instance_type: String,
    pub zone: String,
    pub capacity_type: String,
    /// Of the cheapest offering that the claim allows: launches on the spot
    /// market often cost more.
    pub price: Micros,
}

/// A command that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub method: Method,
    /// Names, ascending.
    pub removed: Vec<String>,
    pub added: Vec<Added>,
    pub evictions: usize,
    /// What the cluster costs afterwards.
    pub cost: Micros,
}

/// Where the commands lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trajectory {
    /// What the cluster costs at first, nodes on their way out aside.
    pub start: Micros,
    pub steps: Vec<Step>,
    /// Nodes at the end.
    pub nodes: usize,
    /// Pods without a place at the end.
    pub unscheduled: usize,
    /// Nothing more was found; otherwise `stop` ended it.
    pub finished: bool,
}

impl Trajectory {
    /// What the cluster costs at the end.
    pub fn cost(&self) -> Micros {
        self.steps.last().map_or(self.start, |s| s.cost)
    }

    /// Pods evicted by all commands.
    pub fn evictions(&self) -> usize {
        self.steps.iter().map(|s| s.evictions).sum()
    }
}

/// Follows the commands until nothing more is found or `stop` says so, which
/// is asked throughout.
pub fn follow(world: &World, catalog: &Catalog, settings: Settings<'_>, stop: &dyn Fn() -> bool) -> Trajectory {
    let mut world = Cow::Borrowed(world);
    let mut out = Trajectory { start: 0, steps: Vec::new(), nodes: 0, unscheduled: 0, finished: true };
    // Stopped once is stopped for good, whatever a clock says later.
    let stopped = Cell::new(false);
    let stop = || {
        stopped.set(stopped.get() || stop());
        stopped.get()
    };
    loop {
        let scene = scene(&world, catalog, settings);
        let now = cost(&scene);
        match out.steps.last_mut() {
            Some(step) => step.cost = now,
            None => out.start = now,
        }
        let pass = Pass::new(&scene, settings.lower, &stop);
        let command = pass.next();
        if let Some(command) = command.filter(|_| !stop()) {
            let (next, step) = pass.apply(&command, out.steps.len() + 1);
            out.steps.push(step);
            world = Cow::Owned(next);
            continue;
        }
        out.finished = !stop();
        out.nodes = scene.nodes.iter().filter(|n| !n.is_marked(&scene.memory)).count();
        out.unscheduled = scene.world.pods.iter().filter(|p| p.is_pending()).count();
        return out;
    }
}

/// The world as the rules see it.
pub fn scene<'w>(world: &'w World, catalog: &'w Catalog, settings: Settings<'_>) -> Scene<'w> {
    let mut scene = Scene::new(world, catalog, settings.lower.gates, settings.now, Memory::default());
    scene.unmanaged = settings.unmanaged;
    scene
}

/// What the nodes cost that are not on their way out.
pub(crate) fn cost(scene: &Scene<'_>) -> Micros {
    let stay = (0..scene.nodes.len()).filter(|n| !scene.nodes[*n].is_marked(&scene.memory));
    stay.filter_map(|n| scene.price(n)).sum()
}
