//! Disruption: nodes that are empty, drifted, or dearer than need be.
//! (spec 30)
//!
//! A loop looks for something to do, by Karpenter's methods in their order.
//! What it finds becomes commands; those that only save money wait for fifteen
//! seconds and are judged again by what there is then. Commands live in
//! memory: after a restart their marks are taken away, and the search begins
//! anew.

mod command;
mod conditions;
mod explain;
mod marks;
mod queue;
mod scene;
mod simple;
mod tell;
mod validate;
mod waves;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_models::world::World;

use super::ask::{Reply, Target};
use super::brain::{Piece, Shared, Wish};
use super::desk::{Desk, Part, Sent};
use super::keys::DISRUPTION_REASON;
use super::naming::Names;
use super::provisioner::{self, is_synced, pass, search};
use super::settings::Settings;
use super::view::View;
use super::work::{Answer, Finding, Question};
use crate::budgets::Reason;
use crate::candidates::Scene;
use crate::consolidate;
use crate::nodes::StateNode;
use crate::provision::gate::Gate;
pub use command::{Candidate, Command, Method, Replacement, Stage};
use explain::Explanations;
use queue::Outcome;
pub use queue::deadline;
use validate::Allowances;

/// Proposals that only save money wait for so long.
const WAIT: SignedDuration = SignedDuration::from_secs(15);
/// A search is given up so often at most for pods that wait.
const PATIENCE: u32 = 3;
/// The same world is searched again after this.
const AGAIN: SignedDuration = SignedDuration::from_mins(5);

/// The part that disrupts.
#[derive(Debug, Default)]
pub struct Disruption {
    queue: Vec<Command>,
    proposal: Option<Proposal>,
    /// Not before this, unless something was found.
    next: Option<Timestamp>,
    /// What is being worked out.
    asked: Option<Asked>,
    finding: Option<Finding>,
    /// How often the search was given up since it last came to its end.
    given_up: u32,
    /// Drifted nodes (by claim uid) whose pods had no place, and since when.
    stuck: BTreeMap<String, Timestamp>,
    /// The world in which nothing was found, and when.
    quiet: Option<(Arc<World>, Timestamp)>,
    /// What the commands in the queue were found for.
    searched: Option<Arc<World>>,
    explained: Explanations,
    gate: Gate,
    names: Names,
    /// Ids in `Shared::memory` that are ours.
    marked: BTreeSet<String>,
}

/// Commands that wait to be judged again.
#[derive(Debug)]
struct Proposal {
    commands: Vec<Command>,
    due: Timestamp,
    /// What the search was about.
    world: Option<Arc<World>>,
}

/// A question under way.
#[derive(Debug)]
enum Asked {
    Drift { candidate: Box<Candidate>, price: i64 },
    Consolidation { world: Arc<World> },
}

impl Piece for Disruption {
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        self.advance(view, shared, desk);
        clean(view, shared, desk);
        conditions::set(view, desk);
        self.take_finding(view, shared, desk);
        self.judge(view, shared, desk);
        self.poll(view, shared, desk);
        self.remember(view, shared);
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk) {
        let Some(target) = sent.ask.key() else { return };
        for command in self.queue.iter_mut().filter(|c| concerns(c, &target)) {
            queue::answer(command, &sent.ask, reply, shared.now, desk);
        }
    }

    fn found(&mut self, finding: Finding) {
        self.finding = Some(finding);
    }

    fn given_up(&mut self) {
        (self.asked, self.next) = (None, None);
        self.given_up += 1;
    }
}

fn concerns(command: &Command, target: &Target) -> bool {
    command.candidates.iter().any(|c| c.node == target.name || c.claim == target.name)
        || command.replacements.iter().any(|r| r.name == target.name)
}

/// Marks without a command are of a time before a restart, or of a command
/// that came to nothing. (spec 30 §3.3)
fn clean(view: &View<'_>, shared: &Shared, desk: &mut Desk) {
    let stale = |n: &&StateNode<'_>| {
        n.is_managed()
            && n.is_initialized()
            && !n.is_rebooting()
            && !n.is_queued(&shared.memory)
            && !n.is_marked(&shared.memory)
    };
    for node in view.nodes.iter().filter(stale) {
        let tainted = node.node.filter(|n| n.meta.deletion_timestamp.is_none() && marks::is_tainted(n));
        if let Some(ask) = tainted.and_then(marks::untaint) {
            desk.ask(Part::Disruption, ask);
        }
        if let Some(ask) = node.claim.and_then(|c| marks::conditions(c, &[(DISRUPTION_REASON, None)], view.now)) {
            desk.ask(Part::Disruption, ask);
        }
    }
}

impl Disruption {
    /// Every command, one step on.
    fn advance(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        let entries = self.queue.iter().map(|c| c.candidates.len()).sum();
        let mut queue = std::mem::take(&mut self.queue);
        queue.retain_mut(|command| match queue::step(command, view, shared, desk, &mut self.names, entries) {
            Outcome::Going => {
                let end = command.began.saturating_add(deadline(entries)).unwrap_or(Timestamp::MAX);
                desk.wake(end + SignedDuration::from_millis(1));
                true
            }
            Outcome::Done => {
                self.next = None;
                false
            }
            Outcome::Failed => {
                let unready = command.replacements.iter().filter(|r| r.state != command::Built::Ready).count();
                tell::failed(command, unready, desk);
                let next = view.now.saturating_add(view.settings.poll).unwrap_or(Timestamp::MAX);
                self.next = Some(next);
                // If nothing comes of it, the same is not tried again at once.
                self.quiet = self.searched.take().map(|world| (world, view.now));
                for name in command.receivers.keys() {
                    shared.owed.remove(name);
                }
                false
            }
        });
        self.queue = queue;
        self.remember(view, shared);
    }

    /// What the others have to know of the commands.
    fn remember(&mut self, view: &View<'_>, shared: &mut Shared) {
        for id in std::mem::take(&mut self.marked) {
            shared.memory.queued.remove(&id);
            shared.memory.marked.remove(&id);
        }
        shared.awaited.clear();
        shared.promised.clear();
        for command in &self.queue {
            for candidate in &command.candidates {
                shared.memory.queued.insert(candidate.id.clone());
                // Until what replaces it has been asked for, it is only about
                // to go.
                if !matches!(command.stage, Stage::Tainting | Stage::Launching) {
                    shared.memory.marked.insert(candidate.id.clone());
                }
                self.marked.insert(candidate.id.clone());
            }
            for replacement in command.replacements.iter().filter(|r| !r.name.is_empty()) {
                shared.awaited.insert(replacement.name.clone());
            }
            shared.awaited.extend(command.receivers.keys().cloned());
            for (uid, place) in &command.moves {
                let place = place.clone().or_else(|| {
                    let has = |r: &&Replacement| r.slots.all.iter().any(|s| s.uid() == Some(uid));
                    command.replacements.iter().find(has).map(|r| r.name.clone())
                });
                if let Some(place) = place.filter(|p| !p.is_empty()) {
                    shared.promised.insert(uid.clone(), place);
                }
            }
        }
        shared.memory.nominated.retain(|_, at| view.now.duration_since(*at) < SignedDuration::from_mins(1));
    }

    fn start(&mut self, commands: Vec<Command>, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        for mut command in commands {
            command.began = view.now;
            tell::begun(&command, desk);
            for (name, slots) in &command.receivers {
                let Some(node) = view.nodes.iter().find(|n| n.name() == name) else { continue };
                shared.memory.nominated.insert(node.id().to_owned(), view.now);
                tell::nominated(node, slots, desk);
            }
            self.queue.push(command);
            self.next = None;
            self.quiet = None;
        }
        self.advance(view, shared, desk);
    }

    /// Judges what has waited.
    fn judge(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        match &self.proposal {
            Some(proposal) if proposal.due > view.now => return desk.wake(proposal.due),
            None => return,
            Some(_) => {}
        }
        if !is_synced(&mut self.gate, view) {
            return;
        }
        let Some(proposal) = self.proposal.take() else { return };
        let scene = scene::scene(view, shared, &BTreeSet::new());
        let mut allowances = Allowances::new(&scene);
        let mut commands = Vec::new();
        for mut command in proposal.commands {
            let judged = validate::proposal(view, &scene, &mut command, &mut allowances);
            match judged.and_then(|()| validate::limits(view, &command, desk)) {
                Ok(()) => commands.push(command),
                Err(why) => tell::rejected(view, &command, &why.to_string(), desk),
            }
        }
        self.next = Some(view.now.saturating_add(view.settings.poll).unwrap_or(Timestamp::MAX));
        // The same search would come to the same.
        if commands.is_empty() {
            if let Some(world) = proposal.world {
                self.quiet = Some((world, view.now));
            }
            return;
        }
        self.start(commands, view, shared, desk);
        self.searched = proposal.world;
    }

    fn propose(&mut self, commands: Vec<Command>, world: Option<Arc<World>>, view: &View<'_>, desk: &mut Desk) {
        let due = view.now.saturating_add(WAIT).unwrap_or(Timestamp::MAX);
        desk.wake(due);
        self.proposal = Some(Proposal { commands, due, world });
    }

    /// Acts on what was worked out.
    fn take_finding(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        let Some(finding) = self.finding.take() else { return };
        match (self.asked.take(), finding.answer) {
            (Some(Asked::Drift { candidate, price }), Answer::Provision(decision)) => {
                let decision = match *decision {
                    Ok(decision) => decision,
                    Err(error) => return self.is_stuck(view, &candidate, &error.to_string(), desk),
                };
                match waves::drift(view, (*candidate).clone(), price, &finding.world, &decision, finding.asked) {
                    Ok(command) => {
                        if let Err(why) = validate::limits(view, &command, desk) {
                            return self.is_stuck(view, &candidate, &why.to_string(), desk);
                        }
                        let scene = scene::scene(view, shared, &BTreeSet::new());
                        let still = scene.nodes.iter().position(|n| n.id() == candidate.id);
                        let still =
                            still.is_some_and(|n| scene.candidate(n, crate::candidates::Class::Eventual).is_ok());
                        // Others may have drawn from the budget meanwhile.
                        let mut left = simple::remaining(&scene, Reason::Drifted);
                        if still && simple::draw(&mut left, &candidate.pool) {
                            self.start(vec![command], view, shared, desk);
                        }
                    }
                    Err(why) => self.is_stuck(view, &candidate, &why, desk),
                }
            }
            (Some(Asked::Consolidation { world }), Answer::Consolidate(audit)) => {
                self.given_up = 0;
                let scene = scene::scene(view, shared, &BTreeSet::new());
                let commands = match audit.as_ref() {
                    Ok(audit) => {
                        let parts = waves::consolidation(view, &scene, &world, audit, finding.asked, &shared.buffered);
                        waves::joined(view, parts)
                    }
                    Err(_) => {
                        desk.count("consolidation_errors_total", &[]);
                        Vec::new()
                    }
                };
                if commands.is_empty() {
                    self.quiet = Some((world, view.now));
                    self.next = Some(view.now.saturating_add(view.settings.poll).unwrap_or(Timestamp::MAX));
                } else {
                    self.propose(commands, Some(world), view, desk);
                }
            }
            _ => {}
        }
    }

    /// The next drifted node has its turn.
    fn is_stuck(&mut self, view: &View<'_>, candidate: &Candidate, why: &str, desk: &mut Desk) {
        self.stuck.insert(candidate.claim_uid.clone(), view.now);
        if let Some(node) = view.nodes.iter().find(|n| n.id() == candidate.id) {
            tell::blocked(node, why, desk);
        }
    }

    /// Looks for something to do.
    fn poll(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        if let Some(next) = self.next.filter(|next| *next > view.now) {
            return desk.wake(next);
        }
        let busy =
            self.proposal.is_some() || self.asked.is_some() || self.queue.iter().any(|c| c.stage == Stage::Tainting);
        if busy || shared.planning || !shared.is_idle() || !is_synced(&mut self.gate, view) {
            return desk.wake(view.now.saturating_add(SignedDuration::from_secs(1)).unwrap_or(Timestamp::MAX));
        }
        let scene = scene::scene(view, shared, &BTreeSet::new());
        self.explained.tell(view, &scene, &shared.buffered, desk);
        if let Some(command) = simple::emptiness(view, &scene, &shared.buffered) {
            return self.propose(vec![command], None, view, desk);
        }
        let statics = simple::static_drift(view, &scene, desk);
        if !statics.is_empty() {
            return self.start(statics, view, shared, desk);
        }
        self.stuck.retain(|_, at| view.now.duration_since(*at) < AGAIN);
        let placed = pass::placed(view, shared);
        if self.ask_drift(view, &scene, shared, &placed, desk) || self.ask_consolidation(view, shared, &placed) {
            return;
        }
        let next = view.now.saturating_add(view.settings.poll).unwrap_or(Timestamp::MAX);
        self.next = Some(next);
        desk.wake(next);
    }

    fn ask_drift(
        &mut self,
        view: &View<'_>,
        scene: &Scene<'_>,
        shared: &mut Shared,
        placed: &pass::Placed,
        desk: &mut Desk,
    ) -> bool {
        let drifted = simple::drifted_nodes(view, scene, desk);
        let claim = |n: usize| scene.nodes[n].claim.map_or("", |c| c.meta.uid.as_str());
        let Some(judged) = drifted.iter().find(|j| !self.stuck.contains_key(claim(j.node))) else { return false };
        let Some(candidate) = Candidate::of(scene, judged) else { return false };
        let world = Arc::new(scene::without(scene::world(view, shared, placed), &candidate.node));
        let question = Question::Provision(Box::new(provisioner::options(view.settings, view.now)));
        self.asked = Some(Asked::Drift { candidate: Box::new(candidate), price: judged.price });
        shared.wish = Some(Wish { part: Part::Disruption, world, question, yields: false });
        true
    }

    fn ask_consolidation(&mut self, view: &View<'_>, shared: &mut Shared, placed: &pass::Placed) -> bool {
        let world = scene::world(view, shared, placed);
        let fresh =
            self.quiet.as_ref().is_some_and(|(seen, at)| view.now.duration_since(*at) < AGAIN && **seen == world);
        if fresh || world.nodes.is_empty() {
            return false;
        }
        let world = Arc::new(world);
        let question = Question::Consolidate(Box::new(options(view.settings, view.now)));
        self.asked = Some(Asked::Consolidation { world: world.clone() });
        let yields = self.given_up < PATIENCE;
        shared.wish = Some(Wish { part: Part::Disruption, world, question, yields });
        true
    }
}

/// How a consolidation is worked out.
fn options(settings: &Settings, now: Timestamp) -> consolidate::Options {
    consolidate::Options {
        lower: settings.lower.clone(),
        engine: search(settings, settings.consolidate_deadline),
        now,
        disruption_price: settings.disruption_price,
        drifted: consolidate::Drifted::May,
        limits: consolidate::Limits::default(),
        include_unmanaged: false,
        all_waves: false,
        frontier: false,
        reasons: false,
    }
}
