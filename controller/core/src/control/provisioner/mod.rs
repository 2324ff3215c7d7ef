//! Provisioning: what to buy for the pods that wait, and where they go.
//!
//! One pass at a time: the batch closes, the state is in sync, the plan is
//! worked out aside on a copy of the world; then claims are made, and the
//! slots of nodes that exist are handed to landing. Nothing new is planned
//! before every claim that was asked for shows.

pub mod buy;
pub mod pass;
mod tell;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use millwright_models::catalog::Catalog;
use millwright_models::world::World;
use millwright_solver::engine;

use super::ask::{Ask, Kind, Refusal, Reply, Target};
use super::brain::{Piece, Shared, Wish};
use super::desk::{Desk, Part, Sent};
use super::naming::Names;
use super::settings::Settings;
use super::view::View;
use super::work::{Answer, Finding, Question};
use crate::provision;
use crate::provision::batch::{Look, Window};
use crate::provision::events::Limiter;
use crate::provision::gate::{Gate, Sight};
use pass::Placed;

/// The same world is planned for again after this, though nothing came of it.
const UNCHANGED: SignedDuration = SignedDuration::from_mins(1);
/// What waits asks again after this.
const AGAIN: SignedDuration = SignedDuration::from_secs(10);
/// The controller stops searching this close to the bound.
pub const STOP_GAP: f64 = 0.01;

/// The part that provisions.
#[derive(Debug)]
pub struct Provisioner {
    window: Window,
    /// The window has heard something since its last pass.
    heard: bool,
    /// A batch has closed and its pass has not begun.
    due: bool,
    /// A pass is being worked out, with this catalogue.
    asked: Option<Arc<Catalog>>,
    /// What nothing could be done for.
    settled: Option<Settled>,
    /// Last time each pod or node asked for a pass, by uid.
    triggers: BTreeMap<String, Timestamp>,
    gate: Gate,
    finding: Option<Finding>,
    names: Names,
    /// Claims that are asked for, by name.
    buying: BTreeMap<String, buy::Purchase>,
    limiter: Limiter,
    /// Buffers that stand for pods, by uid.
    buffers: BTreeSet<String>,
}

/// A world for which a pass found nothing to do.
#[derive(Debug)]
struct Settled {
    world: Arc<World>,
    catalog: Arc<Catalog>,
    at: Timestamp,
}

impl Settled {
    /// Whether a pass for `world` would find nothing to do either.
    fn covers(&self, world: &World, view: &View<'_>) -> bool {
        view.now.duration_since(self.at) < UNCHANGED
            && Arc::ptr_eq(&self.catalog, view.catalog)
            && *self.world == *world
    }
}

impl Provisioner {
    pub fn new(settings: &Settings) -> Self {
        let mut window = Window::new(settings.batch_idle, settings.batch_max);
        window.listen(Duration::ZERO);
        Self {
            window,
            heard: false,
            due: false,
            asked: None,
            settled: None,
            triggers: BTreeMap::new(),
            gate: Gate::default(),
            finding: None,
            names: Names::default(),
            buying: BTreeMap::new(),
            limiter: Limiter::default(),
            buffers: BTreeSet::new(),
        }
    }

    /// Pods and nodes that want a pass say so, again every ten seconds.
    fn trigger(&mut self, view: &View<'_>, intake: &[usize], buffers: &BTreeSet<String>, desk: &mut Desk) {
        let mut present = buffers.clone();
        for p in intake {
            let pod = &view.world.pods[*p];
            let element = match &pod.node_name {
                // The node asks for its pods.
                Some(node) => node.clone(),
                None => pod.uid.clone(),
            };
            present.insert(element);
        }
        self.triggers.retain(|element, _| present.contains(element));
        for element in present {
            let last = self.triggers.get(&element);
            let next = last.map(|at| at.saturating_add(AGAIN).unwrap_or(Timestamp::MAX));
            match next.filter(|next| *next > view.now) {
                Some(next) => desk.wake(next),
                None => {
                    self.window.trigger(Some(&element), since_epoch(view.now));
                    self.heard = true;
                    self.triggers.insert(element, view.now);
                }
            }
        }
    }

    /// Begins a pass where one is due and nothing stands against it.
    fn begin(&mut self, view: &View<'_>, placed: &Placed, shared: &mut Shared) {
        if !self.due || !self.buying.is_empty() || !is_synced(&mut self.gate, view) {
            return;
        }
        let world = Arc::new(pass::world(view, placed));
        if self.settled.as_ref().is_some_and(|s| s.covers(&world, view)) {
            self.due = false;
            return self.listen(view.now);
        }
        if !shared.is_idle() {
            shared.is_urgent = true;
            return;
        }
        self.due = false;
        self.asked = Some(view.catalog.clone());
        let question = Question::Provision(Box::new(options(view.settings, view.now)));
        shared.wish = Some(Wish { part: Part::Provision, world, question, yields: false });
    }

    /// The loop is ready for the next batch.
    fn listen(&mut self, now: Timestamp) {
        self.asked = None;
        self.window.listen(since_epoch(now));
    }
}

/// Uids of buffers that stand for pods.
fn buffers(view: &View<'_>) -> BTreeSet<String> {
    if !view.settings.lower.gates.capacity_buffer {
        return BTreeSet::new();
    }
    let stands = |b: &&millwright_models::karpenter::buffer::CapacityBuffer| {
        let source = crate::buffers::source(b, view.world);
        b.meta.deletion_timestamp.is_none() && source.is_ok_and(|s| crate::buffers::replicas(b, &s) > 0)
    };
    view.world.buffers.iter().filter(stands).map(|b| b.meta.uid.clone()).collect()
}

/// How a plan is worked out.
pub fn options(settings: &Settings, now: Timestamp) -> provision::Options {
    provision::Options {
        lower: settings.lower.clone(),
        engine: search(settings, settings.provision_deadline),
        now: now.to_string(),
        baseline: false,
    }
}

/// How the engine searches: until `deadline`, or for so many rounds.
pub fn search(settings: &Settings, deadline: Duration) -> engine::Options {
    engine::Options {
        seed: settings.seed,
        deadline: settings.iterations.is_none().then_some(deadline),
        iterations: settings.iterations,
        stop_gap: STOP_GAP,
        method: settings.method,
        // Without a clock nothing is gained by a second one.
        threads: if settings.iterations.is_some() { 1 } else { 2 },
        ..engine::Options::default()
    }
}

/// Whether every claim is launched, so that what it will be is known. The
/// snapshot is all there is to see: nothing in it is untracked.
pub fn is_synced(gate: &mut Gate, view: &View<'_>) -> bool {
    // What cannot be read may be anything.
    if view.world.unread.iter().any(|u| matches!(u.kind, "Node" | "NodeClaim" | "NodePool")) {
        return false;
    }
    let leaving = |c: &&millwright_models::karpenter::nodeclaim::NodeClaim| c.meta.deletion_timestamp.is_none();
    let claims = view.world.node_claims.iter().filter(leaving);
    let claims = claims.map(|c| (c.meta.name.as_str(), c.provider_id.as_str())).collect();
    gate.look(&Sight { claims, ..Sight::default() }).is_ok()
}

/// The batch window's clock.
fn since_epoch(now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(now.as_millisecond()).unwrap_or(0))
}

impl Piece for Provisioner {
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        let (world, buying) = (view.world, &self.buying);
        shared.planned.retain(|claim, _| world.node_claim(claim).is_some() || buying.contains_key(claim));
        let placed = pass::placed(view, shared);
        if let Some(finding) = self.finding.take() {
            self.settled = self.carry_out(view, &finding, &placed, shared, desk);
            self.listen(view.now);
        }
        self.buy_again(view, desk);
        let intake = pass::intake(view, &placed);
        let buffers = buffers(view);
        let vanished = self.buffers.difference(&buffers).next().is_some();
        if vanished {
            // Its nodes are free at once.
            self.window.trigger(None, since_epoch(view.now));
            self.heard = true;
            shared.buffered.clear();
            shared.fits.retain(|uid, _| buffers.contains(uid));
        }
        self.buffers.clone_from(&buffers);
        let wanted = !intake.is_empty() || !buffers.is_empty();
        self.trigger(view, &intake, &buffers, desk);
        match self.window.look(since_epoch(view.now)) {
            Look::Pass => {
                self.heard = false;
                // What has found a place meanwhile needs no pass.
                self.due = wanted;
                if !self.due {
                    self.listen(view.now);
                }
            }
            Look::Wait(due) if self.heard && self.asked.is_none() && !self.due => {
                desk.wake(Timestamp::UNIX_EPOCH + SignedDuration::from_millis(due.as_millis() as i64));
            }
            Look::Wait(_) | Look::Nothing => {}
        }
        if self.due && !wanted {
            self.due = false;
            self.listen(view.now);
        }
        self.begin(view, &placed, shared);
        shared.planning =
            self.due || self.asked.is_some() || self.heard || !self.buying.is_empty() || self.finding.is_some();
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk) {
        let Ask::Create { target: Target { kind: Kind::NodeClaim, name, .. }, .. } = &sent.ask else { return };
        match reply {
            Reply::Refused(Refusal::Conflict) => self.name_is_taken(name),
            Reply::Refused(Refusal::Unavailable { .. }) => self.unsure(name),
            Reply::Refused(_) => {
                self.buying.remove(name);
                desk.count("nodeclaims_refused_total", &[]);
            }
            _ => self.bought(name, shared, desk),
        }
    }

    fn found(&mut self, finding: Finding) {
        if matches!(finding.answer, Answer::Provision(_)) {
            self.finding = Some(finding);
        }
    }
}
