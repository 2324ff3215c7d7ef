//! Landing: planned pods come to the nodes that were planned for them.
//! (DESIGN §5)
//!
//! A node that is to receive pods is held, so that nobody races for its room:
//! by a cordon while pods of DaemonSets are still to come, which tolerate that
//! and nothing else, later by a taint of ours, which leaves the cordon to
//! people. While it is held the pods planned for it are bound, each re-checked
//! by the scheduler's rules against what is there now; then the hold falls, at
//! the latest by its timer. Everything is worked out from
//! the annotations of claims and nodes: what is remembered here only saves
//! repeated requests.

mod berths;
mod binding;
mod debts;
mod fresh;
mod matching;
mod patches;
mod scene;
mod tally;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::node::Node;
use millwright_models::kube::pod::Pod;
use millwright_models::rules::State;

pub use berths::{Berth, berths, held_until, is_closed, is_held, is_leaving, slots_on};
pub use matching::{Matching, Taker, matched};
pub use scene::{missing_daemons, state};

use super::ask::{Ask, Kind, Refusal, Reply};
use super::brain::{Hold, Piece, Shared};
use super::desk::{Desk, Part, Sent};
use super::settings::Placement;
use super::slots::{Slot, is_left, is_opted_out, needs_scheduler};
use super::view::View;
use crate::nodes::StateNode;
use berths::{first_until, initialized_at};
use binding::leaves;
use fresh::Fresh;
use tally::Fate;

/// What a hold on a new node is for.
pub const NEW: &str = "landing";
/// A binding that is done shows by then.
const SHOWS: SignedDuration = SignedDuration::from_secs(30);
/// A pod that the API server refuses to bind is left alone for so long.
const LEFT_ALONE: SignedDuration = SignedDuration::from_mins(1);
/// Who uncordons a node that we hold wants it open for so long at least.
const SPARED: SignedDuration = SignedDuration::from_mins(5);
const EVICTED: &str = "EvictionByEvictionAPI";

/// Claims whose nodes are to be cordoned as they register: those with pods to
/// bind. Known before any part looks, also in the first look after a restart.
pub fn holds(view: &View<'_>) -> BTreeMap<String, Hold> {
    if view.settings.placement != Placement::Bind {
        return BTreeMap::new();
    }
    let coming = view.nodes.iter().filter(|n| n.claim.is_some() && (n.node.is_none() || !n.is_registered()));
    let hold = |node: &StateNode<'_>| {
        let (slots, _) = berths::slots_of(view, node)?;
        let open = node.pool().and_then(|p| view.world.node_pool(p)).is_some_and(is_opted_out);
        let wanted = !open && slots.all.iter().any(|s| !s.left);
        let claim = node.claim.filter(|_| wanted)?;
        Some((claim.meta.name.clone(), Hold { reason: NEW.to_owned(), until: first_until(view) }))
    };
    coming.filter_map(hold).collect()
}

/// Somebody evicts pods from the node. What ends otherwise, ends by itself.
fn is_drained(view: &View<'_>, node: &StateNode<'_>) -> bool {
    node.pods.iter().map(|p| &view.world.pods[*p]).any(|pod| {
        let evicted = |p: &Pod| p.conditions.iter().any(|c| c.kind == "DisruptionTarget" && c.reason == EVICTED);
        pod.deleted.is_some() && !pod.is_daemon() && evicted(pod)
    })
}

/// The part that lands pods.
#[derive(Clone, Debug, Default)]
pub struct Landing {
    /// Bindings that are done and do not show: node and time, by uid.
    bound: BTreeMap<String, (String, Timestamp)>,
    /// Pods that no binding was to be had for, by uid.
    refused: BTreeMap<String, Timestamp>,
    /// Nodes whose kubelet refused pods: until when, how often, and whose uids.
    barred: BTreeMap<String, Barred>,
    /// Nodes that a person has uncordoned, until we may hold them again.
    spared: BTreeMap<String, Timestamp>,
    /// Pods that did not fit where they were planned, by node and uid: not
    /// tried there again for a while.
    unfit: BTreeMap<(String, String), Timestamp>,
    /// Held nodes that were open before, and how much is known of them.
    fresh: BTreeMap<String, Fresh>,
    /// Fates to tell once the end of a hold is answered.
    ending: BTreeMap<String, BTreeMap<Fate, u64>>,
}

#[derive(Clone, Debug, Default)]
struct Barred {
    until: Timestamp,
    times: u32,
    pods: Vec<String>,
}

impl Piece for Landing {
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        self.forget(view);
        let barred =
            |node: &str| self.spared.contains_key(node) || self.barred.get(node).is_some_and(|b| b.until > view.now);
        debts::settle(view, shared, desk, barred, |node, uid| {
            self.unfit.contains_key(&(node.to_owned(), uid.to_owned()))
        });
        let all = berths(view);
        let matching = self.matching(view, &all);
        match view.settings.placement {
            Placement::Bind => self.land(view, shared, desk, &all, &matching),
            Placement::Nominate => nominate(view, desk, &all, &matching),
            Placement::None => {}
        }
        // Holds of another time, when pods were still bound.
        if view.settings.placement != Placement::Bind {
            for node in view.nodes.iter().filter(|n| !is_leaving(n)).filter_map(|n| n.node).filter(|n| is_held(n)) {
                desk.ask(Part::Landing, patches::end(node, true));
            }
        }
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk) {
        match (&sent.ask, reply) {
            (Ask::Bind { uid, node, .. }, Reply::Done | Reply::Object(_)) => {
                self.bound.insert(uid.clone(), (node.clone(), shared.now));
                desk.count("bindings_total", &[("code", "201")]);
            }
            (Ask::Bind { uid, .. }, Reply::Refused(refusal)) => {
                let code = match refusal {
                    // Somebody was faster, or the pod is another by now: the
                    // snapshot will tell, and the slot is free.
                    Refusal::Conflict => "409",
                    Refusal::NotFound => "404",
                    Refusal::Unavailable { .. } => "500",
                    _ => {
                        self.refused.insert(uid.clone(), shared.now);
                        "422"
                    }
                };
                desk.count("bindings_total", &[("code", code)]);
            }
            (Ask::Refresh { node }, reply) => {
                let ready = matches!(reply, Reply::Done);
                if let Some(fresh) = self.fresh.get_mut(node) {
                    *fresh = if ready { Fresh::Listed } else { Fresh::Failed(shared.now) };
                }
            }
            (Ask::Patch { target, .. }, reply) if target.kind == Kind::Node => {
                if let Some(fates) = self.ending.remove(&target.name)
                    && matches!(reply, Reply::Object(_) | Reply::Done)
                {
                    tally::tell(&fates, desk);
                }
            }
            _ => {}
        }
    }
}

impl Landing {
    /// Drops what the snapshot tells by itself, and what is over.
    fn forget(&mut self, view: &View<'_>) {
        let (now, world) = (view.now, view.world);
        if !self.bound.is_empty() {
            let waits: std::collections::BTreeSet<&str> =
                world.pods.iter().filter(|p| p.node_name.is_none()).map(|p| p.uid.as_str()).collect();
            self.bound.retain(|uid, (_, at)| waits.contains(uid.as_str()) && now.duration_since(*at) < SHOWS);
        }
        self.refused.retain(|_, at| now.duration_since(*at) < LEFT_ALONE);
        self.barred.retain(|name, b| world.node(name).is_some() && now.duration_since(b.until) < binding::BACKOFF.1);
        self.unfit.retain(|_, until| *until > now);
        self.spared.retain(|_, until| *until > now);
        self.fresh.retain(|name, _| world.node(name).is_some_and(is_held));
        self.ending.retain(|name, _| world.node(name).is_some());
    }

    fn matching(&self, view: &View<'_>, all: &[Berth]) -> Matching {
        matched(view.world, all, |pod| self.refused.contains_key(&pod.uid))
    }

    /// Every held node, one step on.
    fn land(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk, all: &[Berth], matching: &Matching) {
        let mut state: Option<State> = None;
        let coming = |b: usize| matching.takers[b].iter().filter(|t| matches!(t, Taker::Coming(_))).count();
        let everywhere: usize = (0..all.len()).map(coming).sum();
        let moving = is_moving(view, all, matching);
        shared.settled.clear();
        for (at, node) in view.nodes.iter().enumerate() {
            let Some(real) = node.node.filter(|n| is_held(n)) else { continue };
            let berth = all.iter().position(|b| b.at == at);
            let takers = berth.map(|b| matching.takers[b].as_slice()).unwrap_or_default();
            if is_leaving(node) {
                // Its drain is another part's; the cordon goes with the node.
                // Only a taint that comes to nothing could leave it behind.
                let goes = node.claim.is_some_and(|c| c.meta.deletion_timestamp.is_some())
                    || real.meta.deletion_timestamp.is_some();
                if !goes && view.now >= held_until(real) {
                    self.end(view, desk, real, None, takers, true);
                }
                continue;
            }
            let berth = berth.map(|b| &all[b]);
            // Who wants the node closed gets it so, at once.
            if is_closed(real) {
                desk.count("holds_ended_total", &[("cause", "cordon")]);
                self.end(view, desk, real, berth, takers, false);
                continue;
            }
            if berths::is_opened(real) {
                let until = view.now.saturating_add(SPARED).unwrap_or(Timestamp::MAX);
                self.spared.insert(real.meta.name.clone(), until);
                self.end(view, desk, real, berth, takers, false);
                continue;
            }
            if is_drained(view, node) {
                desk.count("holds_ended_total", &[("cause", "drain")]);
                self.end(view, desk, real, berth, takers, false);
                continue;
            }
            let awaited = shared.awaited.contains(node.name())
                || node.claim.is_some_and(|c| shared.awaited.contains(&c.meta.name));
            self.timer(view, desk, node, real, awaited);
            if view.now >= limit(node, real, view.settings.hold, awaited) {
                desk.count("holds_ended_total", &[("cause", "timer")]);
                self.end(view, desk, real, berth, takers, true);
                continue;
            }
            if !node.is_initialized() {
                continue;
            }
            let is_new = berth.is_some_and(|b| b.is_new);
            if !is_new && !self.settled(view, desk, &real.meta.name) {
                continue;
            }
            shared.settled.insert(real.meta.name.clone());
            // Held for nobody: for as long as it is said, no longer.
            let Some(berth) = berth else { continue };
            self.bar(view, desk, real, takers);
            let more_elsewhere = everywhere > takers.iter().filter(|t| matches!(t, Taker::Coming(_))).count();
            let waits = self.bind(view, desk, berth, takers, &mut state, more_elsewhere);
            let daemons = is_new && !missing_daemons(view.world, real).is_empty();
            let kept = moving && berth.slots.all.is_empty();
            let stays = awaited || waits || daemons || kept || in_flight(desk, real);
            if !stays && nominated(view, desk, berth, takers, &real.meta.name) {
                self.end(view, desk, real, Some(berth), takers, true);
            }
        }
    }

    /// Whether nothing of the scheduler's can be on its way to a node that was
    /// open before, and its pods were listed since.
    fn settled(&mut self, view: &View<'_>, desk: &mut Desk, name: &str) -> bool {
        let fresh = self.fresh.entry(name.to_owned()).or_insert(Fresh::Seen(view.now));
        fresh.step(view.now, name, desk)
    }

    /// Looks again when the timer of a hold ends; puts it off while a command
    /// waits, and writes down the end that a new node's readiness sets.
    fn timer(&self, view: &View<'_>, desk: &mut Desk, node: &StateNode<'_>, real: &Node, awaited: bool) {
        let until = held_until(real);
        let third = SignedDuration::from_secs_f64(view.settings.hold.as_secs_f64() / 3.0);
        let hold = view.now.saturating_add(view.settings.hold).unwrap_or(Timestamp::MAX);
        if awaited && node.is_initialized() {
            if until.duration_since(view.now) < third {
                desk.ask(Part::Landing, patches::prolong(real, hold));
            }
            desk.wake(view.now.saturating_add(third).unwrap_or(Timestamp::MAX));
            return;
        }
        let limit = limit(node, real, view.settings.hold, awaited);
        if node.is_initialized() && limit < until && limit > view.now {
            desk.ask(Part::Landing, patches::prolong(real, limit));
        }
        if limit > view.now {
            desk.wake(limit);
        }
    }

    fn end(
        &mut self,
        view: &View<'_>,
        desk: &mut Desk,
        node: &Node,
        berth: Option<&Berth>,
        takers: &[Taker],
        uncordon: bool,
    ) {
        if desk.ask(Part::Landing, patches::end(node, uncordon))
            && let Some(berth) = berth
        {
            self.ending.insert(node.meta.name.clone(), tally::fates(view, berth, takers));
        }
    }
}

/// When a hold is over: as annotated at the latest; on a new node so long
/// after it became ready, and where pods of others come as long as is said for
/// them.
fn limit(node: &StateNode<'_>, real: &Node, hold: SignedDuration, awaited: bool) -> Timestamp {
    if awaited {
        return Timestamp::MAX;
    }
    let ready = initialized_at(node).and_then(|at| at.checked_add(hold).ok());
    let others = slots_on(real).and_then(|slots| slots.until);
    let until = held_until(real);
    ready.max(others).filter(|_| node.is_initialized()).map_or(until, |end| end.min(until))
}

/// Whether pods are being moved: nodes without a slot of their own are held as
/// long, so that the pods find no other room.
fn is_moving(view: &View<'_>, all: &[Berth], matching: &Matching) -> bool {
    let open = |slot: &Slot, taker: &Taker| match taker {
        Taker::Elsewhere(p) => leaves(view, &view.world.pods[*p]),
        Taker::Expected | Taker::Coming(_) => slot.moved,
        Taker::Here(_) | Taker::Nobody => false,
    };
    let mut each = all.iter().zip(&matching.takers).flat_map(|(b, takers)| b.slots.all.iter().zip(takers));
    each.any(|(slot, taker)| open(slot, taker))
}

/// A binding to the node is not answered.
fn in_flight(desk: &Desk, real: &Node) -> bool {
    desk.under_way().any(|s| matches!(&s.ask, Ask::Bind { node, .. } if *node == real.meta.name))
}

/// Nominates what only the scheduler can place, just before the cordon falls.
/// Tells whether that is done.
fn nominated(view: &View<'_>, desk: &mut Desk, berth: &Berth, takers: &[Taker], node: &str) -> bool {
    let mut done = true;
    for (slot, taker) in berth.slots.all.iter().zip(takers) {
        let Taker::Coming(p) = taker else { continue };
        let pod = &view.world.pods[*p];
        let ours = !slot.left && !is_left(pod, &view.settings.placement_schedulers);
        if ours && needs_scheduler(view.world, pod) && pod.nominated_node.as_deref() != Some(node) {
            desk.ask(Part::Landing, patches::nominate(&pod.namespace, &pod.name, &pod.uid, node));
            done = false;
        }
    }
    done
}

/// Without holds: pods are nominated as soon as their node has registered, and
/// again where a failed attempt has wiped it.
fn nominate(view: &View<'_>, desk: &mut Desk, all: &[Berth], matching: &Matching) {
    for (berth, takers) in all.iter().zip(&matching.takers) {
        let node = &view.nodes[berth.at];
        if node.node.is_none() || !node.is_registered() {
            continue;
        }
        for (slot, taker) in berth.slots.all.iter().zip(takers) {
            let Taker::Coming(p) = taker else { continue };
            let pod = &view.world.pods[*p];
            let ours = !slot.left && !is_left(pod, &view.settings.placement_schedulers);
            if ours && pod.nominated_node.as_deref() != Some(berth.name.as_str()) {
                desk.ask(Part::Landing, patches::nominate(&pod.namespace, &pod.name, &pod.uid, &berth.name));
            }
        }
        desk.wake(view.now + SignedDuration::from_secs(1));
    }
}
