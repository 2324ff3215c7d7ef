//! Slots that other parts owe to nodes and claims, written down.

use crate::control::brain::{Owed, Shared};
use crate::control::desk::{Desk, Part};
use crate::control::settings::Placement;
use crate::control::slots::{LANDING, SLOTS, Slots};
use crate::control::view::View;
use crate::nodes::StateNode;

use super::berths::{held_until, is_closed, is_held, is_leaving, is_opened, is_tainted};
use super::patches;
use super::scene::missing_daemons;

/// What became of a debt.
enum State {
    /// It is written, or it can never be.
    Settled,
    /// Its write is under way or has to wait.
    Open,
}

/// Writes what is owed, or drops it where nothing can be written. `barred`
/// tells nodes that refused pods a moment ago, `unfit` pods (by uid) that did
/// not fit on a node.
pub fn settle(
    view: &View<'_>,
    shared: &mut Shared,
    desk: &mut Desk,
    barred: impl Fn(&str) -> bool,
    unfit: impl Fn(&str, &str) -> bool,
) {
    let mut owed = std::mem::take(&mut shared.owed);
    owed.retain(|name, owed| {
        if owed.until <= view.now {
            return false;
        }
        let Some(node) = view.nodes.iter().find(|n| is_named(n, name)) else {
            return view.world.node_claim(name).is_some();
        };
        if is_leaving(node) || barred(node.name()) {
            return false;
        }
        let before = owed.slots.all.len();
        owed.slots.all.retain(|s| s.moved || !s.uid().is_some_and(|uid| unfit(node.name(), uid)));
        if before > 0 && owed.slots.all.is_empty() {
            return false;
        }
        let state = if node.node.is_some() && node.is_registered() {
            on_node(view, node, owed, desk)
        } else {
            on_claim(node, owed, desk)
        };
        matches!(state, State::Open)
    });
    shared.owed.extend(owed);
}

/// A claim may have got its node since it was named.
fn is_named(node: &StateNode<'_>, name: &str) -> bool {
    node.name() == name || node.claim.is_some_and(|c| c.meta.name == name)
}

fn on_claim(node: &StateNode<'_>, owed: &Owed, desk: &mut Desk) -> State {
    let Some(claim) = node.claim else { return State::Settled };
    let have = claim.meta.annotations.get(SLOTS).and_then(|t| Slots::read(t)).unwrap_or_default();
    if have.holds(&owed.slots) {
        return State::Settled;
    }
    let all = Slots { since: None, ..have.with(&owed.slots) };
    desk.ask(Part::Landing, patches::plan(claim, &all));
    State::Open
}

fn on_node(view: &View<'_>, node: &StateNode<'_>, owed: &Owed, desk: &mut Desk) -> State {
    let Some(real) = node.node else { return State::Settled };
    match view.settings.placement {
        Placement::None => return State::Settled,
        Placement::Nominate => {
            nominate(view, &real.meta.name, owed, desk);
            return State::Settled;
        }
        Placement::Bind => {}
    }
    let held = is_held(real);
    // Somebody has closed the node, opened it, or drains it.
    if is_closed(real) || is_opened(real) || (!held && super::is_drained(view, node)) {
        return State::Settled;
    }
    let have = real.meta.annotations.get(LANDING).and_then(|t| Slots::read(t));
    let written = have.as_ref().and_then(|h| h.until);
    let reaches = held_until(real) >= owed.until && written >= Some(owed.until);
    if held && reaches && have.as_ref().is_some_and(|h| h.holds(&owed.slots)) {
        return State::Settled;
    }
    let wanted = Slots { until: Some(owed.until), ..owed.slots.clone() };
    let all = have.unwrap_or_default().with(&wanted);
    let until = if held { held_until(real).max(owed.until) } else { owed.until };
    // Only a cordon lets pods of DaemonSets in.
    let by_taint = match held {
        true => is_tainted(real),
        false => node.is_initialized() && missing_daemons(view.world, real).is_empty(),
    };
    if let Some(ask) = patches::hold(real, &owed.reason, until, &all, by_taint) {
        desk.ask(Part::Landing, ask);
    }
    State::Open
}

fn nominate(view: &View<'_>, node: &str, owed: &Owed, desk: &mut Desk) {
    for slot in owed.slots.all.iter().filter(|s| !s.left && !s.moved) {
        let Some((name, uid)) = &slot.pod else { continue };
        let Some(pod) = view.world.pod(&slot.namespace, name).filter(|p| p.uid == *uid && p.is_pending()) else {
            continue;
        };
        if pod.nominated_node.is_none() {
            desk.ask(Part::Landing, patches::nominate(&pod.namespace, &pod.name, &pod.uid, node));
        }
    }
}
