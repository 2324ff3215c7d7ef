//! The event loop.

mod looks;
mod outside;
mod requests;
mod rest;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::brain::Brain;
use millwright_core::control::settings::Settings;
use millwright_solver::engine::Method;

use crate::agenda::Agenda;
use crate::clients::{Client, Mirror};
use crate::control_plane::{ControlPlane, TICK};
use crate::dice::Dice;
use crate::faults::{Fault, Rates, schedule};
use crate::history::History;
use crate::invariants::Invariants;
use crate::json;
use crate::provider::{Offerings, Provider};
use crate::server::{Key, Kind, Server};
use crate::stage::{Happening, Stage};
use crate::violation::Violation;
use crate::worlds;

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600;
/// One seed of so many is played in a large cluster, one with exact answers.
const LARGE: u64 = 16;
const EXACT: u64 = 64;
/// A controller that looks more often in a second spins.
const MOST_LOOKS: u32 = 400;

/// Makes a brain with an empty memory.
pub type MakeBrain<'b> = &'b dyn Fn(&Settings) -> Brain;

/// What is run.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    /// From 0 (only workloads change) to 2 (everything goes wrong).
    pub hard: i64,
    /// A cluster of few workloads, which takes a tenth of the time.
    pub is_small: bool,
    /// While this lasts, things happen.
    pub active: SignedDuration,
    /// Afterwards, peace must come within this time.
    pub peace: SignedDuration,
    pub settings: Settings,
    /// Keeps every event for the report.
    pub verbose: bool,
}

impl Options {
    /// What a seed alone decides.
    pub fn of(seed: u64) -> Self {
        let poll = SignedDuration::from_secs(20);
        // Exact answers take most of a run's time; a few seeds ask for them.
        let method = if seed.is_multiple_of(EXACT) { Method::Auto } else { Method::Search };
        let settings = Settings { iterations: Some(2), method, seed, poll, ..Settings::default() };
        let hard = [0, 1, 2, 2][usize::try_from(seed % 4).unwrap_or(0)];
        let is_small = !seed.is_multiple_of(LARGE);
        let active = SignedDuration::from_mins(if is_small { 8 } else { 20 });
        let peace = SignedDuration::from_mins(80);
        Self { seed, hard, is_small, active, peace, settings, verbose: false }
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub seed: u64,
    pub events: u64,
    /// Equal for equal runs.
    pub digest: u64,
    pub writes: u64,
    pub looks: u64,
    pub machines: u64,
    /// Virtual time in all.
    pub lasted: SignedDuration,
    /// Pods that wait in the end.
    pub pending: usize,
}

/// A run.
pub struct Simulation<'b> {
    options: Options,
    make: MakeBrain<'b>,
    pub stage: Stage,
    plane: ControlPlane,
    clients: BTreeMap<u32, Client>,
    started: u32,
    net: Dice,
    fate: Dice,
    rates: Rates,
    faults: Vec<(SignedDuration, Fault)>,
    pub invariants: Invariants,
    pub history: History,
    verdict: Option<Violation>,
    /// Pods that wait and what the machines cost, when nothing was on its way.
    settled: Option<(usize, i64)>,
    /// Changes that clients and parts were told of.
    routed: usize,
    last_write: Timestamp,
    writes: u64,
    looks: u64,
}

/// Runs a seed to its end.
pub fn run(options: Options, make: MakeBrain<'_>) -> Result<Report, Box<Violation>> {
    Simulation::new(options, make).finish()
}

impl<'b> Simulation<'b> {
    pub fn new(options: Options, make: MakeBrain<'b>) -> Self {
        let start = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(START);
        let seed = options.seed;
        let opening = worlds::opening(seed, options.is_small);
        let provider = Provider::new(Arc::new(opening.catalog));
        let agenda = Agenda::new(start);
        let stage = Stage { agenda, server: Server::default(), provider, truth: Mirror::default(), noted: 0 };
        let rates =
            [Rates::calm(), Rates::rough(), Rates::wild()][usize::try_from(options.hard.clamp(0, 2)).unwrap_or(0)];
        let mut history = History::new(start);
        history.is_full = options.verbose;
        let mut simulation = Self {
            make,
            stage,
            plane: ControlPlane::new(seed),
            clients: BTreeMap::new(),
            started: 0,
            net: Dice::new(seed, "net"),
            fate: Dice::new(seed, "fate"),
            rates,
            faults: schedule(seed, options.hard, options.active),
            invariants: Invariants::new(start),
            history,
            verdict: None,
            settled: None,
            routed: 0,
            last_write: start,
            writes: 0,
            looks: 0,
            options,
        };
        for object in opening.objects {
            simulation.create(object);
        }
        let second = SignedDuration::from_secs(1);
        simulation.stage.agenda.after(second, Happening::Start);
        simulation.stage.agenda.after(second, Happening::Tick);
        for (i, (at, _)) in simulation.faults.clone().into_iter().enumerate() {
            simulation.stage.agenda.after(second + at, Happening::Fault(i));
        }
        simulation.settle();
        simulation
    }

    /// Creates an object of the opening, with the status it brings along.
    fn create(&mut self, object: serde_json::Value) {
        let now = self.stage.now();
        let status = object.get("status").cloned();
        match self.stage.server.create(object, now) {
            Ok(made) => {
                if let (Some(status), Some(key)) = (status, Key::of(&made)) {
                    drop(self.stage.server.patch(&key, true, &serde_json::json!({"status": status})));
                }
            }
            Err(denial) => self.fail("opening", denial.to_string()),
        }
    }

    /// Runs until peace, or until something is broken.
    pub fn finish(mut self) -> Result<Report, Box<Violation>> {
        let start = self.history.start;
        let quiet = start + self.options.active;
        self.advance(quiet)?;
        self.calm_down();
        let end = quiet + self.options.peace;
        loop {
            let at = (self.stage.now() + SignedDuration::from_secs(30)).min(end);
            self.advance(at)?;
            self.cost_holds();
            if self.is_at_rest() {
                break;
            }
            if self.stage.now() >= end {
                self.unrest();
                break;
            }
        }
        let pending = self.last_checks();
        if let Some(violation) = self.verdict {
            return Err(Box::new(violation));
        }
        Ok(Report {
            seed: self.options.seed,
            events: self.history.count(),
            digest: self.history.digest(),
            writes: self.writes,
            looks: self.looks,
            machines: self.stage.provider.sold(),
            lasted: self.stage.now().duration_since(start),
            pending,
        })
    }

    /// Runs up to `end`.
    pub fn advance(&mut self, end: Timestamp) -> Result<(), Box<Violation>> {
        while let Some(happening) = self.stage.agenda.next(end) {
            self.handle(happening);
            self.settle();
            if self.verdict.is_none()
                && let Some((rule, message)) = self.invariants.check(&mut self.stage)
            {
                self.fail(rule, message);
            }
            if let Some(violation) = self.verdict.take() {
                return Err(Box::new(violation));
            }
        }
        Ok(())
    }

    /// Something is broken; the first is what counts.
    fn fail(&mut self, rule: &'static str, message: String) {
        if self.verdict.is_none() {
            let (seed, at, history) = (self.options.seed, self.stage.now(), self.history.clone());
            self.verdict = Some(Violation { seed, at, rule, message, history });
        }
    }

    fn note(&mut self, what: String) {
        self.history.add(self.stage.now(), what);
    }

    fn handle(&mut self, happening: Happening) {
        match happening {
            Happening::Start => self.start(),
            Happening::Stop { client } => self.stop(client, "stopped"),
            Happening::List { client } => self.list(client),
            Happening::Told { client, change } => self.told(client, change),
            Happening::Look { client } => self.look(client),
            Happening::Arrive { client, request } => self.arrive(client, *request),
            Happening::Answer { client, ticket, reply } => self.answer(client, ticket, &reply),
            Happening::Found { client, work } => self.found(client, *work),
            Happening::Part(part) => self.plane.run(part, &mut self.stage),
            Happening::Bind { pod, uid, node } => self.plane.scheduler.bind(&pod, &uid, &node, &mut self.stage),
            Happening::Boot { machine } => self.plane.kubelets.boot(&machine, &mut self.stage),
            Happening::Ready { machine } => self.plane.kubelets.ready(&machine, &mut self.stage),
            Happening::Run { pod, uid } => self.plane.kubelets.start(&pod, &uid, &mut self.stage),
            Happening::Finish { pod, uid } => self.plane.kubelets.finish(&pod, &uid, &mut self.stage),
            Happening::Fault(i) => self.strike(self.faults[i].1.clone()),
            Happening::Uncordon { node } => self.uncordon(&node),
            Happening::Tick => {
                self.plane.tick(&mut self.stage);
                self.stage.agenda.after(TICK, Happening::Tick);
            }
        }
    }

    /// Tells everybody whom it concerns what has changed.
    fn settle(&mut self) {
        while self.routed < self.stage.server.changes().len() {
            let at = self.routed;
            self.routed += 1;
            let change = self.stage.server.changes()[at].clone();
            self.note(describe(&change));
            self.plane.notice(&change, &mut self.stage);
            self.invariants.notice(&change, self.stage.now());
            self.tell(at, &change);
        }
        self.stage.refresh();
    }

    /// Controllers that run.
    fn live(&self) -> usize {
        self.clients.len()
    }

    fn offerings(&self) -> Offerings {
        Offerings::new(self.stage.provider.catalog.clone())
    }
}

/// One line about a change.
fn describe(change: &crate::server::Change) -> String {
    let crate::server::Change { version, key, object, before, gone } = change;
    let what = match before {
        _ if *gone => "gone".to_owned(),
        None => "new".to_owned(),
        Some(_) if key.kind == Kind::Pod && json::is_deleting(object) => "ending".to_owned(),
        Some(_) if json::is_deleting(object) => "deleted".to_owned(),
        Some(_) => "changed".to_owned(),
    };
    let place = json::text(object, &["spec", "nodeName"]);
    let phase = json::text(object, &["status", "phase"]);
    let mut line = format!("{key} v{version} {what}");
    for detail in [place, phase].into_iter().filter(|d| !d.is_empty()) {
        line.push(' ');
        line.push_str(detail);
    }
    line
}
