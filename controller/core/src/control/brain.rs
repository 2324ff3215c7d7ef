//! The parts, put together.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use millwright_models::catalog::Catalog;
use millwright_models::world::World;

use super::ask::{Reply, Target, Ticket};
use super::desk::{Count, Desk, Outbox, Part, Request, Sent};
use super::garbage::Garbage;
use super::lifecycle::Lifecycle;
use super::pools::Pools;
use super::settings::Settings;
use super::termination::Termination;
use super::view::View;
use super::work::{Finding, Work};
use crate::nodes::Memory;

/// One part of the controller.
pub trait Piece {
    /// Compares what there is with what ought to be and asks for what is
    /// missing.
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk);

    /// What became of a request of this part.
    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk);
}

/// What parts know together; lost at a restart, so nothing may depend on it
/// for safety.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Nodes in a command, marked for deletion, promised to pods.
    pub memory: Memory,
    pub now: Timestamp,
    /// Claims whose nodes are to be cordoned as they register.
    pub holds: BTreeMap<String, Hold>,
    /// Pods (`namespace/name`) that were last planned onto a claim.
    pub planned: BTreeMap<String, Vec<String>>,
    /// Claims that registered, or failed to, since the pools last looked.
    pub outcomes: Vec<Outcome>,
}

/// A cordon of ours in the making: `millwright.dev/hold` and
/// `millwright.dev/hold-until`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    pub reason: String,
    pub until: Timestamp,
}

/// How the start of a claim went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The uid of the pool that owns the claim, empty if none does.
    pub pool: String,
    pub success: bool,
    /// Why it failed.
    pub reason: String,
    pub message: String,
}

/// What a look at the cluster came to.
#[derive(Debug, Default)]
pub struct Step {
    pub requests: Vec<Request>,
    pub counts: Vec<Count>,
    /// When to look again though nothing happens.
    pub wake: Option<Timestamp>,
    /// Something to be solved aside; at most one at a time.
    pub work: Option<Work>,
}

/// The controller.
pub struct Brain {
    settings: Settings,
    desk: Desk,
    shared: Shared,
    pieces: Vec<(Part, Box<dyn Piece + Send>)>,
}

impl Brain {
    /// A brain with no memory, as after a restart.
    pub fn new(settings: Settings) -> Self {
        let pieces: Vec<(Part, Box<dyn Piece + Send>)> = vec![
            (Part::Lifecycle, Box::new(Lifecycle::default())),
            (Part::Termination, Box::new(Termination::default())),
            (Part::Garbage, Box::new(Garbage::default())),
            (Part::Pools, Box::new(Pools::default())),
        ];
        Self { settings, desk: Desk::default(), shared: Shared::default(), pieces }
    }

    /// One look at the cluster. Nothing may be asked of a snapshot that does
    /// not hold the answers taken in so far.
    pub fn look(&mut self, world: &Arc<World>, catalog: &Arc<Catalog>, now: Timestamp) -> Step {
        let view = View::new(world, catalog, &self.settings, now);
        self.shared.now = now;
        self.desk.open(now);
        for (_, piece) in &mut self.pieces {
            piece.look(&view, &mut self.shared, &mut self.desk);
        }
        let Outbox { requests, wake, counts } = self.desk.close();
        Step { requests, counts, wake, work: None }
    }

    /// What became of a request.
    pub fn answer(&mut self, ticket: Ticket, reply: &Reply, now: Timestamp) {
        self.shared.now = now;
        let Some(sent) = self.desk.answer(ticket, reply, now) else { return };
        if let Some((_, piece)) = self.pieces.iter_mut().find(|(part, _)| *part == sent.part) {
            piece.answer(&sent, reply, &mut self.shared, &mut self.desk);
        }
    }

    /// A brain of other parts, for tests of whoever runs it.
    pub fn of(settings: Settings, pieces: Vec<(Part, Box<dyn Piece + Send>)>) -> Self {
        Self { settings, desk: Desk::default(), shared: Shared::default(), pieces }
    }

    /// A watch has brought a new version of an object, or its end.
    pub fn seen(&mut self, target: &Target) {
        self.desk.seen(target);
    }

    /// What the work aside came to.
    pub fn found(&mut self, _finding: Finding, now: Timestamp) {
        self.shared.now = now;
    }
}
