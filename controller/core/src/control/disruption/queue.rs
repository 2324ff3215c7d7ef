//! A command carried out, one step in each look: taint, launch, wait, hold,
//! delete. (spec 30 §16)
//!
//! Nothing is deleted before every replacement is ready and every pod has a
//! place. A command that cannot be finished is dropped; the marks of its nodes
//! are then taken away like those of any node without a command.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use millwright_models::karpenter::nodeclaim::NodeClaim;
use serde_json::json;

use super::command::{Built, Command, Stage};
use super::{marks, scene, tell, validate};
use crate::control::ask::{Ask, Kind, Refusal, Reply, Target};
use crate::control::brain::{Owed, Shared};
use crate::control::desk::{Desk, Part};
use crate::control::keys::DISRUPTION_REASON;
use crate::control::landing;
use crate::control::naming::Names;
use crate::control::provisioner::buy;
use crate::control::settings::Placement;
use crate::control::slots::Slots;
use crate::control::view::View;

/// Names of replacements are drawn apart from those of other claims.
const SALT: u64 = 0x7265_706c;
/// Per queued node.
const EACH: SignedDuration = SignedDuration::from_millis(80);
const DEADLINE: (SignedDuration, SignedDuration) = (SignedDuration::from_mins(10), SignedDuration::from_hours(1));
/// A claim that was made shows by then.
const SHOWS: SignedDuration = SignedDuration::from_secs(30);
/// A wave is over so long after the longest grace period of its pods.
const AFTER_GRACE: SignedDuration = SignedDuration::from_secs(60);
/// Grace of a pod that does not say.
const USUAL_GRACE: i64 = 30;
/// Nodes held beside the receivers of one wave, at most.
const MOST_OTHERS: usize = 50;
/// What a cordon of a wave is for.
const WAVE: &str = "room for pods that move";

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Going,
    Done,
    Failed,
}

/// How long a command may take while so many nodes are in the queue.
pub fn deadline(entries: usize) -> SignedDuration {
    let entries = i32::try_from(entries).unwrap_or(i32::MAX);
    EACH.saturating_mul(entries).clamp(DEADLINE.0, DEADLINE.1)
}

/// One step.
pub fn step(
    command: &mut Command,
    view: &View<'_>,
    shared: &mut Shared,
    desk: &mut Desk,
    names: &mut Names,
    entries: usize,
) -> Outcome {
    let outcome = advance(command, view, shared, desk, names);
    let late = view.now.duration_since(command.began) > deadline(entries);
    match outcome {
        // Once its nodes are being deleted it only has to go on.
        Outcome::Going if late && command.stage != Stage::Deleting => Outcome::Failed,
        other => other,
    }
}

fn advance(command: &mut Command, view: &View<'_>, shared: &mut Shared, desk: &mut Desk, names: &mut Names) -> Outcome {
    loop {
        let before = command.stage;
        let outcome = match command.stage {
            Stage::Tainting => taint(command, view, desk),
            Stage::Launching => launch(command, view, desk, names),
            Stage::Waiting => wait(command, view, shared, desk),
            Stage::Holding => hold(command, view, shared, desk),
            Stage::Deleting => delete(command, view, desk),
        };
        if outcome != Outcome::Going || command.stage == before {
            return outcome;
        }
    }
}

fn claim_of<'v>(view: &View<'v>, name: &str, uid: &str) -> Option<&'v NodeClaim> {
    view.world.node_claim(name).filter(|c| c.meta.uid == uid)
}

fn taint(command: &mut Command, view: &View<'_>, desk: &mut Desk) -> Outcome {
    let mut all = true;
    let reason = command.reason.as_str();
    let failed = command.candidates.iter().any(|c| c.failed);
    if failed && !command.replacements.is_empty() {
        return Outcome::Failed;
    }
    command.candidates.retain(|c| !c.failed);
    for candidate in &command.candidates {
        let (Some(node), Some(claim)) =
            (view.world.node(&candidate.node), claim_of(view, &candidate.claim, &candidate.claim_uid))
        else {
            // Gone by itself: it needs no marks.
            continue;
        };
        if let Some(ask) = marks::taint(node).filter(|_| !marks::is_tainted(node)) {
            desk.ask(Part::Disruption, ask);
            all = false;
        } else if let Some(ask) = marks::conditions(claim, &[(DISRUPTION_REASON, Some((reason, reason)))], view.now) {
            desk.ask(Part::Disruption, ask);
            all = false;
        }
    }
    if command.candidates.is_empty() {
        return Outcome::Failed;
    }
    if all {
        command.stage = Stage::Launching;
    }
    Outcome::Going
}

fn launch(command: &mut Command, view: &View<'_>, desk: &mut Desk, names: &mut Names) -> Outcome {
    if !command.replacements.is_empty()
        && command.replacements.iter().all(|r| r.state == Built::New && r.name.is_empty())
        && let Err(why) = validate::purchase(view, command).and_then(|()| validate::limits(view, command, desk))
    {
        tell::rejected(view, command, &why.to_string(), desk);
        return Outcome::Failed;
    }
    let mut taken: BTreeSet<String> = command.replacements.iter().map(|r| r.name.clone()).collect();
    for replacement in &mut command.replacements {
        if replacement.state == Built::Unsure && view.world.node_claim(&replacement.name).is_some() {
            replacement.state = Built::Seen;
        }
        if !matches!(replacement.state, Built::New | Built::Unsure) {
            continue;
        }
        if replacement.state == Built::New {
            let name = names
                .next(view.settings.seed ^ SALT ^ view.salt(), &replacement.pool, view.world, |n| taken.contains(n));
            taken.insert(name.clone());
            replacement.object = buy::claim(&replacement.object, &name, &replacement.slots);
            replacement.name = name;
        }
        let target = Target::claim(&replacement.name);
        let object = replacement.object.clone();
        if desk.ask(Part::Disruption, Ask::Create { target, object }) && replacement.state == Built::New {
            replacement.state = Built::Asked;
        }
    }
    let made = |s: Built| matches!(s, Built::Made(_) | Built::Seen | Built::Ready);
    if command.replacements.iter().all(|r| made(r.state)) {
        command.stage = Stage::Waiting;
    }
    Outcome::Going
}

fn wait(command: &mut Command, view: &View<'_>, shared: &Shared, desk: &mut Desk) -> Outcome {
    let reason = command.reason.as_str();
    for replacement in &mut command.replacements {
        let claim = view.world.node_claim(&replacement.name);
        replacement.state = match (claim, replacement.state) {
            (_, Built::Ready) => Built::Ready,
            (Some(claim), _) if claim.meta.deletion_timestamp.is_some() => return Outcome::Failed,
            (Some(claim), _) if claim.is("Initialized") => Built::Ready,
            (Some(_), _) => Built::Seen,
            // It was made, and the watch has not told yet.
            (None, Built::Made(at)) if view.now.duration_since(at) < SHOWS => Built::Made(at),
            (None, _) => return Outcome::Failed,
        };
        if replacement.state == Built::Seen {
            tell::waiting(view, &replacement.name, reason, desk);
        }
    }
    if command.replacements.iter().any(|r| r.state != Built::Ready) {
        return Outcome::Going;
    }
    if !still_holds(command, view, shared, desk) {
        return Outcome::Failed;
    }
    command.stage = match view.settings.placement {
        Placement::Bind if !command.moves.is_empty() => Stage::Holding,
        _ => Stage::Deleting,
    };
    Outcome::Going
}

/// Judges the command a last time; tells why where it no longer holds.
fn still_holds(command: &Command, view: &View<'_>, shared: &Shared, desk: &mut Desk) -> bool {
    let own: BTreeSet<&str> = command.candidates.iter().map(|c| c.id.as_str()).collect();
    let scene = scene::scene(view, shared, &own);
    let judged = validate::last(view, &scene, command);
    if let Err(why) = &judged {
        tell::rejected(view, command, &why.to_string(), desk);
    }
    judged.is_ok()
}

/// The longest that a pod of the command may take to end.
fn grace(command: &Command, view: &View<'_>) -> SignedDuration {
    let moving = view.world.pods.iter().filter(|p| command.moves.contains_key(&p.uid));
    let longest = moving.map(|p| p.spec.termination_grace_period_seconds.unwrap_or(USUAL_GRACE)).max();
    SignedDuration::from_secs(longest.unwrap_or(USUAL_GRACE).clamp(0, 3600))
}

fn hold(command: &mut Command, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) -> Outcome {
    let bound = grace(command, view).saturating_add(AFTER_GRACE);
    let until = view.now.saturating_add(bound).unwrap_or(Timestamp::MAX);
    let mut ready = true;
    let replaced: Vec<String> = command.replacements.iter().map(|r| r.name.clone()).collect();
    let existing = command.receivers.iter().map(|(name, slots)| (name.clone(), slots.clone()));
    let needed: BTreeMap<String, Slots> = existing.chain(replaced.into_iter().map(|n| (n, Slots::default()))).collect();
    for (name, slots) in needed {
        let named = |n: &&crate::nodes::StateNode<'_>| n.name() == name || n.claim.is_some_and(|c| c.meta.name == name);
        let Some(node) = view.nodes.iter().find(named).filter(|n| !landing::is_leaving(n)) else {
            return Outcome::Failed;
        };
        let Some(real) = node.node.filter(|_| node.is_initialized()) else {
            ready = false;
            continue;
        };
        let held = landing::is_held(real);
        // Somebody's cordon keeps the pods out.
        if landing::is_closed(real) {
            return Outcome::Failed;
        }
        let wanted = slots.all.iter().any(|s| !s.left);
        if !held && !wanted {
            continue;
        }
        let far = landing::slots_on(real)
            .and_then(|have| have.until)
            .is_some_and(|end| end.duration_since(view.now) >= bound - SignedDuration::from_secs(20));
        let has = landing::slots_on(real).is_some_and(|have| have.holds(&slots));
        if held && far && has && shared.settled.contains(&real.meta.name) {
            continue;
        }
        ready = false;
        if !(held && far && has) {
            let empty = || Owed { slots: Slots::default(), reason: WAVE.to_owned(), until };
            let owed = shared.owed.entry(real.meta.name.clone()).or_insert_with(empty);
            owed.slots = owed.slots.with(&slots);
            owed.until = owed.until.max(until);
        }
    }
    if !ready {
        return Outcome::Going;
    }
    for name in validate::others(view, command, MOST_OTHERS) {
        let held = view.world.node(&name).is_some_and(landing::is_held);
        if !held {
            let owed = Owed { slots: Slots::default(), reason: WAVE.to_owned(), until };
            shared.owed.entry(name).or_insert(owed);
            ready = false;
        }
    }
    if !ready {
        return Outcome::Going;
    }
    if !still_holds(command, view, shared, desk) {
        return Outcome::Failed;
    }
    command.stage = Stage::Deleting;
    Outcome::Going
}

fn delete(command: &mut Command, view: &View<'_>, desk: &mut Desk) -> Outcome {
    let mut all = true;
    let told = command.clone();
    for candidate in &mut command.candidates {
        let claim = claim_of(view, &candidate.claim, &candidate.claim_uid);
        let gone = claim.is_none_or(|c| c.meta.deletion_timestamp.is_some());
        if gone {
            if !candidate.counted {
                candidate.counted = true;
                tell::deleted(view, &told, candidate, desk);
            }
            continue;
        }
        all = false;
        let target = Target::claim(&candidate.claim);
        desk.ask(Part::Disruption, Ask::Delete { target, uid: candidate.claim_uid.clone(), grace_seconds: None });
    }
    if all { Outcome::Done } else { Outcome::Going }
}

/// What became of a request of a command.
pub fn answer(command: &mut Command, ask: &Ask, reply: &Reply, now: Timestamp, desk: &mut Desk) {
    match ask {
        Ask::Create { target, .. } => {
            let (label, pool) = (command.label(), target);
            let Some(replacement) = command.replacements.iter_mut().find(|r| r.name == pool.name) else { return };
            replacement.state = match (reply, replacement.state) {
                (Reply::Refused(Refusal::Conflict), Built::Unsure) => Built::Made(now),
                // The name is taken: the next look draws another.
                (Reply::Refused(Refusal::Conflict), _) => Built::New,
                (Reply::Refused(Refusal::Unavailable { .. }), _) => Built::Unsure,
                (Reply::Refused(_), _) => {
                    command.candidates.clear();
                    command.stage = Stage::Tainting;
                    return;
                }
                _ => {
                    let labels =
                        [("reason", label), ("nodepool", replacement.pool.as_str()), ("min_values_relaxed", "false")];
                    desk.count("nodeclaims_created_total", &labels);
                    Built::Made(now)
                }
            };
            if replacement.state == Built::New
                && let Some(metadata) = replacement.object["metadata"].as_object_mut()
            {
                metadata.insert("name".to_owned(), json!(""));
            }
        }
        Ask::Patch { target, .. } if command.stage == Stage::Tainting => {
            let refused =
                matches!(reply, Reply::Refused(why) if *why != Refusal::Conflict && *why != Refusal::NotFound);
            let mine = |c: &&mut super::command::Candidate| match target.kind {
                Kind::Node => c.node == target.name,
                _ => c.claim == target.name,
            };
            if let Some(candidate) = command.candidates.iter_mut().find(mine).filter(|_| refused) {
                candidate.failed = true;
            }
        }
        _ => {}
    }
}
