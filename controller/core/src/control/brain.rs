//! The parts, put together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use millwright_models::catalog::Catalog;
use millwright_models::world::World;

use super::ask::{Reply, Target, Ticket};
use super::buffers::{Buffers, Fits};
use super::desk::{Count, Desk, Outbox, Part, Request, Sent};
use super::disruption::Disruption;
use super::garbage::Garbage;
use super::landing::{self, Landing};
use super::lifecycle::Lifecycle;
use super::pools::Pools;
use super::provisioner::Provisioner;
use super::settings::Settings;
use super::slots::Slots;
use super::termination::Termination;
use super::types::TypesCache;
use super::view::View;
use super::work::{Cancel, Finding, Question, Work};
use crate::nodes::Memory;

/// One part of the controller.
pub trait Piece {
    /// Compares what there is with what ought to be and asks for what is
    /// missing.
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk);

    /// What became of a request of this part.
    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk);

    /// What the work came to that this part asked for; it is acted on in the
    /// next look, by what there is then.
    fn found(&mut self, _finding: Finding) {}

    /// That work was given up, for what could not wait.
    fn given_up(&mut self) {}
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
    /// Slots that are to be written to nodes or claims, by their names.
    pub owed: BTreeMap<String, Owed>,
    /// Nodes and claims that wait for the pods of a command in flight.
    pub awaited: BTreeSet<String>,
    /// Pods of commands in flight, by uid, with the nodes or claims they go to.
    pub promised: BTreeMap<String, String>,
    /// Held nodes that nothing of the scheduler's is on its way to.
    pub settled: BTreeSet<String>,
    /// What became of virtual pods in the last pass.
    pub fits: Fits,
    /// Nodes (by name) whose free room virtual pods need.
    pub buffered: BTreeSet<String>,
    /// Pods wait that have not been planned for yet.
    pub planning: bool,
    /// Work that is being done.
    pub solving: Option<Solving>,
    /// Somebody cannot wait until that is done.
    pub is_urgent: bool,
    /// Work that a part wants done.
    pub wish: Option<Wish>,
}

/// A hold in the making: the annotations `millwright.dev/hold` and
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

/// Slots that are not written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    pub slots: Slots,
    pub reason: String,
    pub until: Timestamp,
}

/// A question with the world it is about.
#[derive(Clone, Debug)]
pub struct Wish {
    pub part: Part,
    pub world: Arc<World>,
    pub question: Question,
    /// It is given up where somebody cannot wait.
    pub yields: bool,
}

/// Work that is being done.
#[derive(Clone, Debug)]
pub struct Solving {
    /// Who waits for it.
    pub part: Part,
    pub yields: bool,
    cancel: Cancel,
}

impl Shared {
    /// Whether nobody has work done or wants some.
    pub fn is_idle(&self) -> bool {
        self.solving.is_none() && self.wish.is_none()
    }
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
    types: TypesCache,
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
            (Part::Buffers, Box::new(Buffers)),
            (Part::Provision, Box::new(Provisioner::new(&settings))),
            (Part::Landing, Box::new(Landing::default())),
            (Part::Disruption, Box::new(Disruption::default())),
        ];
        Self::of(settings, pieces)
    }

    /// A brain of exactly these parts, for tests of what surrounds it.
    pub fn of(settings: Settings, pieces: Vec<(Part, Box<dyn Piece + Send>)>) -> Self {
        Self { settings, desk: Desk::default(), shared: Shared::default(), types: TypesCache::default(), pieces }
    }

    /// One look at the cluster. Nothing may be asked of a snapshot that does
    /// not hold the answers taken in so far.
    pub fn look(&mut self, world: &Arc<World>, catalog: &Arc<Catalog>, now: Timestamp) -> Step {
        let types = self.types.of(world, catalog, &self.settings.lower.gates);
        let view = View::new(world, catalog, &self.settings, types, now);
        self.shared.now = now;
        self.shared.is_urgent = false;
        self.shared.holds = landing::holds(&view);
        self.desk.open(now);
        for (_, piece) in &mut self.pieces {
            piece.look(&view, &mut self.shared, &mut self.desk);
        }
        let Outbox { requests, wake, counts } = self.desk.close();
        let work = self.shared.wish.take().map(|wish| {
            let cancel = Cancel::default();
            self.shared.solving = Some(Solving { part: wish.part, yields: wish.yields, cancel: cancel.clone() });
            Work { world: wish.world, catalog: catalog.clone(), question: wish.question, asked: now, cancel }
        });
        if let Some(solving) = self.shared.solving.as_ref().filter(|s| s.yields && self.shared.is_urgent) {
            solving.cancel.set();
        }
        Step { requests, counts, wake, work }
    }

    /// What became of a request.
    pub fn answer(&mut self, ticket: Ticket, reply: &Reply, now: Timestamp) {
        self.shared.now = now;
        let Some(sent) = self.desk.answer(ticket, reply, now) else { return };
        if let Some((_, piece)) = self.pieces.iter_mut().find(|(part, _)| *part == sent.part) {
            piece.answer(&sent, reply, &mut self.shared, &mut self.desk);
        }
    }

    /// A watch has brought a new version of an object, or its end.
    pub fn seen(&mut self, target: &Target) {
        self.desk.seen(target);
    }

    /// What the work aside came to; nothing that counts if it was given up.
    pub fn found(&mut self, finding: Finding, now: Timestamp) {
        self.shared.now = now;
        let Some(solving) = self.shared.solving.take() else { return };
        let Some((_, piece)) = self.pieces.iter_mut().find(|(part, _)| *part == solving.part) else { return };
        if solving.cancel.is_set() { piece.given_up() } else { piece.found(finding) }
    }
}
