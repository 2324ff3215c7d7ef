//! The methods that need no search: emptiness and static drift.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use millwright_models::karpenter::labels::NODEPOOL;
use millwright_models::karpenter::written;

use super::command::{Built, Candidate, Command, Method, Replacement, Stage};
use super::conditions::drifted;
use super::tell;
use crate::budgets::{Reason, allowances};
use crate::candidates::{Candidate as Judged, Class, Scene};
use crate::control::ask::{Ask, Kind};
use crate::control::desk::Desk;
use crate::control::ledger;
use crate::control::slots::Slots;
use crate::control::view::View;

/// What each pool lets go for a reason now.
pub fn remaining(scene: &Scene<'_>, reason: Reason) -> BTreeMap<String, i64> {
    let (all, _) = allowances(&scene.world.node_pools, scene.census(), reason, scene.now);
    all.into_iter().map(|(pool, a)| (pool, a.remaining)).collect()
}

/// Draws one from the pool's allowance.
pub fn draw(left: &mut BTreeMap<String, i64>, pool: &str) -> bool {
    match left.get_mut(pool) {
        Some(n) if *n > 0 => {
            *n -= 1;
            true
        }
        _ => false,
    }
}

/// Every empty node that may go, as one command. `buffered`: nodes whose room
/// virtual pods need.
pub fn emptiness(view: &View<'_>, scene: &Scene<'_>, buffered: &BTreeSet<String>) -> Option<Command> {
    let empty = |n: usize| {
        let judged = scene.candidate(n, Class::Graceful).ok()?;
        let free = judged.is_empty() && judged.pool.is_some() && scene.emptiable(&judged).is_ok();
        (free && !buffered.contains(scene.nodes[n].name())).then_some(judged)
    };
    let mut all: Vec<Judged<'_>> = (0..scene.nodes.len()).filter_map(empty).collect();
    let key = |c: &Judged<'_>| scene.nodes[c.node].name();
    all.sort_by(|a, b| b.savings_ratio().total_cmp(&a.savings_ratio()).then_with(|| key(a).cmp(key(b))));
    let mut left = remaining(scene, Reason::Empty);
    let taken: Vec<&Judged<'_>> = all.iter().filter(|c| c.pool.is_some_and(|p| draw(&mut left, p.name()))).collect();
    let savings = taken.iter().map(|c| c.price).sum();
    let candidates: Vec<Candidate> = taken.into_iter().filter_map(|c| Candidate::of(scene, c)).collect();
    let method = Method::Emptiness;
    (!candidates.is_empty()).then(|| delete(method, Reason::Empty, candidates, savings, view.now))
}

fn delete(method: Method, reason: Reason, candidates: Vec<Candidate>, savings: i64, began: Timestamp) -> Command {
    Command {
        method,
        reason,
        candidates,
        replacements: Vec::new(),
        receivers: BTreeMap::new(),
        moves: BTreeMap::new(),
        savings,
        began,
        stage: Stage::Tainting,
    }
}

/// Drifted nodes of dynamic pools: empty ones first, then those that drifted
/// first. Others are told why they stay.
pub fn drifted_nodes<'w>(view: &View<'w>, scene: &Scene<'w>, desk: &mut Desk) -> Vec<Judged<'w>> {
    let mut all = candidates(view, scene, desk);
    all.retain(|c| c.pool.is_some_and(|p| p.replicas.is_none()));
    let since = |c: &Judged<'_>| scene.nodes[c.node].condition("Drifted").and_then(|d| d.last_transition_time);
    all.sort_by_key(|c| (!c.pods.is_empty(), since(c), scene.nodes[c.node].name()));
    let mut left = remaining(scene, Reason::Drifted);
    all.retain(|c| c.pool.is_some_and(|p| draw(&mut left, p.name())));
    all
}

fn candidates<'w>(view: &View<'w>, scene: &Scene<'w>, desk: &mut Desk) -> Vec<Judged<'w>> {
    let mut all = Vec::new();
    for (n, node) in view.nodes.iter().enumerate() {
        if drifted(view, node).is_none() {
            continue;
        }
        match scene.candidate(n, Class::Eventual) {
            Ok(judged) => all.push(judged),
            Err(why) if why.has_event() => tell::blocked(node, &why.to_string(), desk),
            Err(_) => {}
        }
    }
    all
}

/// Drifted nodes of static pools, each with a replacement from the template.
pub fn static_drift(view: &View<'_>, scene: &Scene<'_>, desk: &mut Desk) -> Vec<Command> {
    let mut of_pool: BTreeMap<&str, Vec<Judged<'_>>> = BTreeMap::new();
    for judged in candidates(view, scene, desk) {
        if let Some(pool) = judged.pool.filter(|p| p.replicas.is_some()) {
            of_pool.entry(pool.name()).or_default().push(judged);
        }
    }
    let left = remaining(scene, Reason::Drifted);
    let mut commands = Vec::new();
    for (name, judged) in of_pool {
        let Some(pool) = view.world.node_pool(name) else { continue };
        let size = size(view, scene, name, desk);
        let replicas = pool.replicas.and_then(|r| u64::try_from(r).ok()).unwrap_or(0);
        let budget = usize::try_from(left.get(name).copied().unwrap_or(0)).unwrap_or(0);
        if budget == 0 || size.active + size.pending > replicas {
            continue;
        }
        let room = pool.node_limit.map_or(usize::MAX, |limit| {
            let used = size.active + size.pending + size.deleting + size.asked;
            usize::try_from(u64::try_from(limit).unwrap_or(0).saturating_sub(used)).unwrap_or(usize::MAX)
        });
        let want = budget.min(judged.len());
        for (i, judged) in judged.iter().take(want).enumerate() {
            if i >= room {
                let why = format!("NodePool {name} is at its node limit");
                tell::blocked(&view.nodes[judged.node], &why, desk);
                continue;
            }
            let Some(candidate) = Candidate::of(scene, judged) else { continue };
            let mut command = delete(Method::StaticDrift, Reason::Drifted, vec![candidate], 0, view.now);
            command.replacements.push(Replacement {
                name: String::new(),
                pool: name.to_owned(),
                object: written::of_template(pool, ""),
                slots: Slots::default(),
                price: 0,
                state: Built::New,
            });
            commands.push(command);
        }
    }
    commands
}

/// Claims of a static pool.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    active: u64,
    pending: u64,
    deleting: u64,
    /// Being asked for.
    asked: u64,
}

fn size(view: &View<'_>, scene: &Scene<'_>, pool: &str, desk: &Desk) -> Size {
    let mut size = Size::default();
    let mine =
        view.nodes.iter().filter(|n| n.claim.is_some_and(|c| c.meta.labels.get(NODEPOOL).is_some_and(|p| p == pool)));
    for node in mine {
        let deleting = node.claim.is_some_and(|c| c.meta.deletion_timestamp.is_some());
        match () {
            () if deleting => size.deleting += 1,
            () if scene.memory.queued.contains(node.id()) => size.pending += 1,
            () => size.active += 1,
        }
    }
    let known: BTreeSet<&str> = view.world.node_claims.iter().map(|c| c.meta.name.as_str()).collect();
    let asked = |ask: &Ask| match ask {
        Ask::Create { target, object } => {
            target.kind == Kind::NodeClaim
                && !known.contains(target.name.as_str())
                && ledger::pool_of(object) == Some(pool)
        }
        _ => false,
    };
    size.asked = desk.under_way().filter(|s| asked(&s.ask)).count() as u64;
    size
}
