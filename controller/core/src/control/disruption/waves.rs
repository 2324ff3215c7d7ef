//! What a search came to, as commands: one for each part of a wave that only
//! works together.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use millwright_models::kube::pod::Pod;
use millwright_models::world::World;

use super::command::{Built, Candidate, Command, Method, Replacement, Stage};
use super::validate;
use crate::budgets::Reason;
use crate::candidates::{Candidate as Judged, Class, Scene};
use crate::consolidate::{Audit, Wave};
use crate::control::provisioner::buy;
use crate::control::slots::Slots;
use crate::control::view::View;
use crate::provision::Decision;

/// The first wave of an audit of `world`. Parts that save nothing are left
/// out, and so are nodes that are no candidates any more, with all that goes
/// with them, and `buffered` ones whose room would have to be bought again.
pub fn consolidation(
    view: &View<'_>,
    scene: &Scene<'_>,
    world: &World,
    audit: &Audit,
    asked: Timestamp,
    buffered: &BTreeSet<String>,
) -> Vec<Command> {
    let Some(wave) = audit.waves.first() else { return Vec::new() };
    let mut empty: Option<Command> = None;
    let mut commands = Vec::new();
    let parts = parts(wave);
    // What is bought for nobody that moves is bought for virtual pods: their
    // room would be taken away first and paid for again afterwards.
    let bought: usize = parts.iter().map(|p| p.added.len()).sum();
    let keeps = |part: &Part<'_>| bought == wave.nodes.len() || !part.removed.iter().any(|n| buffered.contains(*n));
    for part in parts.into_iter().filter(keeps) {
        let Some(command) = command(view, scene, world, audit, wave, &part, asked) else { continue };
        if command.savings <= 0 {
            continue;
        }
        // Empty nodes need no company; one command takes them all.
        match (&mut empty, command.reason == Reason::Empty) {
            (Some(all), true) => {
                all.candidates.extend(command.candidates);
                all.savings += command.savings;
            }
            (None, true) => empty = Some(command),
            (_, false) => commands.push(command),
        }
    }
    empty.into_iter().chain(commands).collect()
}

/// Commands that each land alone. Parts that only land together, since a rule
/// counts the nodes that the others remove, become one command; what does not
/// land at all is left out.
pub fn joined(view: &View<'_>, commands: Vec<Command>) -> Vec<Command> {
    let (mut alone, bound): (Vec<_>, Vec<_>) = commands.into_iter().partition(|c| validate::lands(view, c).is_ok());
    let Some(some) = together(bound) else { return alone };
    if validate::lands(view, &some).is_ok() {
        alone.push(some);
        return alone;
    }
    let all = together(alone.iter().cloned().chain([some]).collect());
    match all.filter(|c| validate::lands(view, c).is_ok()) {
        Some(all) => vec![all],
        None => alone,
    }
}

fn together(commands: Vec<Command>) -> Option<Command> {
    commands.into_iter().reduce(|mut all, one| {
        all.join(one);
        all
    })
}

/// Nodes that go with the positions of those that come for their pods.
#[derive(Debug, Default)]
struct Part<'a> {
    removed: BTreeSet<&'a str>,
    added: BTreeSet<usize>,
}

/// Nodes hang together through new ones only: a node that exists has room for
/// each part alone.
fn parts(wave: &Wave) -> Vec<Part<'_>> {
    let new: BTreeMap<&str, usize> = wave.names.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let mut parts: Vec<Part<'_>> = Vec::new();
    for name in &wave.removed {
        let to = wave.moves.iter().filter(|m| m.from == *name);
        let added: BTreeSet<usize> = to.filter_map(|m| new.get(m.to.as_str()).copied()).collect();
        let mut whole = Part { removed: BTreeSet::from([name.as_str()]), added };
        let mut apart = Vec::new();
        for part in parts {
            if part.added.is_disjoint(&whole.added) {
                apart.push(part);
            } else {
                whole.removed.extend(part.removed);
                whole.added.extend(part.added);
            }
        }
        apart.push(whole);
        parts = apart;
    }
    parts
}

fn command(
    view: &View<'_>,
    scene: &Scene<'_>,
    world: &World,
    audit: &Audit,
    wave: &Wave,
    part: &Part<'_>,
    asked: Timestamp,
) -> Option<Command> {
    let mut judged: Vec<Judged<'_>> = Vec::new();
    for name in &part.removed {
        let at = scene.nodes.iter().position(|n| n.name() == *name && n.node.is_some())?;
        judged.push(scene.candidate(at, Class::Graceful).ok()?);
    }
    let candidates: Vec<Candidate> = judged.iter().filter_map(|j| Candidate::of(scene, j)).collect();
    if candidates.len() < judged.len() {
        return None;
    }
    let mut command = Command {
        method: Method::Consolidation,
        reason: reason(scene, &judged),
        candidates,
        replacements: Vec::new(),
        receivers: BTreeMap::new(),
        moves: BTreeMap::new(),
        savings: judged.iter().map(|j| j.price).sum(),
        began: view.now,
        stage: Stage::Tainting,
    };
    let of_part = |m: &&crate::consolidate::Move| part.removed.contains(m.from.as_str());
    let mut to_new: BTreeMap<usize, Vec<&Pod>> = BTreeMap::new();
    let mut to_old: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for moved in wave.moves.iter().filter(of_part) {
        let pod = buy::pod(world, &moved.pod)?;
        match wave.names.iter().position(|n| *n == moved.to) {
            Some(i) => {
                to_new.entry(i).or_default().push(pod);
                command.moves.insert(pod.uid.clone(), None);
            }
            None => {
                to_old.entry(&moved.to).or_default().push(pod);
                command.moves.insert(pod.uid.clone(), Some(moved.to.clone()));
            }
        }
    }
    for &i in &part.added {
        let node = &wave.nodes[i];
        let pods = to_new.remove(&i).unwrap_or_default();
        command.savings -= node.price;
        command.replacements.push(Replacement {
            name: String::new(),
            pool: node.pool.clone(),
            object: audit.claims.get(i)?.clone(),
            slots: buy::slots(view, &pods, asked, &node.pool),
            price: node.price,
            state: Built::New,
        });
    }
    for (name, pods) in to_old {
        command.receivers.insert(name.to_owned(), receiver(view, name, &pods, asked));
    }
    Some(command)
}

fn receiver(view: &View<'_>, name: &str, pods: &[&Pod], asked: Timestamp) -> Slots {
    let node = view.nodes.iter().find(|n| n.name() == name);
    buy::slots(view, pods, asked, node.and_then(|n| n.pool()).unwrap_or_default())
}

/// Under which reason a part goes.
fn reason(scene: &Scene<'_>, judged: &[Judged<'_>]) -> Reason {
    if judged.iter().all(Judged::is_empty) {
        return Reason::Empty;
    }
    let quiet =
        |j: &Judged<'_>| if j.is_empty() { scene.emptiable(j).is_ok() } else { scene.consolidatable(j).is_ok() };
    if judged.iter().all(quiet) { Reason::Underutilized } else { Reason::Drifted }
}

/// The replacement of a drifted node, from a plan for its pods. None if some
/// have no place: the reasons then.
pub fn drift(
    view: &View<'_>,
    candidate: Candidate,
    price: i64,
    world: &World,
    decision: &Decision,
    asked: Timestamp,
) -> Result<Command, String> {
    let homeless =
        decision.unscheduled.iter().map(|(p, why)| format!("{}: {}", world.pods[*p].full_name(), why.join("; ")));
    let homeless: Vec<String> = homeless.collect();
    if !homeless.is_empty() {
        return Err(homeless.join(". "));
    }
    let mut command = Command {
        method: Method::Drift,
        reason: Reason::Drifted,
        candidates: vec![candidate],
        replacements: Vec::new(),
        receivers: BTreeMap::new(),
        moves: BTreeMap::new(),
        savings: price - decision.cost,
        began: view.now,
        stage: Stage::Tainting,
    };
    for (node, object) in decision.nodes.iter().zip(&decision.claims) {
        let pods: Vec<&Pod> = node.pods.iter().map(|p| &world.pods[*p]).collect();
        command.moves.extend(pods.iter().map(|p| (p.uid.clone(), None)));
        command.replacements.push(Replacement {
            name: String::new(),
            pool: node.pool.clone(),
            object: object.clone(),
            slots: buy::slots(view, &pods, asked, &node.pool),
            price: node.price,
            state: Built::New,
        });
    }
    for (name, pods) in &decision.existing {
        let pods: Vec<&Pod> = pods.iter().map(|p| &world.pods[*p]).collect();
        command.moves.extend(pods.iter().map(|p| (p.uid.clone(), Some(name.clone()))));
        command.receivers.insert(name.clone(), receiver(view, name, &pods, asked));
    }
    Ok(command)
}
