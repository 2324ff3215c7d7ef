//! Binding what comes and fits.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::node::Node;
use millwright_models::kube::pod::{Phase, Pod};
use millwright_models::rules::{Refusal, State};

use super::Landing;
use super::berths::{Berth, is_leaving};
use super::matching::Taker;
use super::scene::state;
use crate::control::ask::{Ask, Target};
use crate::control::desk::{Desk, Part};
use crate::control::slots::{is_left, needs_scheduler};
use crate::control::view::View;

/// Waits after the kubelet refused a pod: doubling from the first to the
/// second.
pub(super) const BACKOFF: (SignedDuration, SignedDuration) =
    (SignedDuration::from_secs(30), SignedDuration::from_mins(10));
/// Where a pod did not fit it is not tried again before.
const UNFIT: SignedDuration = SignedDuration::from_mins(5);

impl Landing {
    /// What the rules judge by, bindings under way included.
    fn state(&self, view: &View<'_>, desk: &Desk) -> State {
        let mut bound: BTreeMap<String, String> =
            self.bound.iter().map(|(uid, (node, _))| (uid.clone(), node.clone())).collect();
        for sent in desk.under_way() {
            if let Ask::Bind { uid, node, .. } = &sent.ask {
                bound.insert(uid.clone(), node.clone());
            }
        }
        state(view.world, &bound)
    }

    /// Binds what comes and fits. Tells whether the node has to wait for more.
    pub(super) fn bind(
        &mut self,
        view: &View<'_>,
        desk: &mut Desk,
        berth: &Berth,
        takers: &[Taker],
        state: &mut Option<State>,
        more_elsewhere: bool,
    ) -> bool {
        // A pod that cannot be read takes room that nobody knows.
        let unread = view.world.unread.iter().any(|u| u.node_name.as_deref() == Some(berth.name.as_str()));
        let barred = unread || self.barred.get(&berth.name).is_some_and(|b| b.until > view.now);
        let mut left: Vec<usize> = Vec::new();
        let mut waits = false;
        for (slot, taker) in berth.slots.all.iter().zip(takers) {
            match taker {
                Taker::Coming(_) if slot.left || barred => {}
                Taker::Coming(p) => left.push(*p),
                Taker::Expected => waits = true,
                Taker::Elsewhere(p) => waits |= leaves(view, &view.world.pods[*p]),
                Taker::Here(_) | Taker::Nobody => {}
            }
        }
        left.retain(|p| {
            let pod = &view.world.pods[*p];
            !is_left(pod, &view.settings.placement_schedulers) && !needs_scheduler(view.world, pod)
        });
        if left.is_empty() {
            return waits;
        }
        let state = state.get_or_insert_with(|| self.state(view, desk));
        // The first in line are those that displace nobody by coming first.
        left.sort_by_key(|p| (-view.world.pods[*p].spec.priority.unwrap_or(0), *p));
        let leaving =
            view.world.pods.iter().any(|p| {
                p.deleted.is_some() && !p.is_terminal() && p.node_name.as_deref() == Some(berth.name.as_str())
            });
        loop {
            let before = left.len();
            left.retain(|p| {
                let pod = &view.world.pods[*p];
                if self.bound.contains_key(&pod.uid) || desk.is_busy(&Target::pod(&pod.namespace, &pod.name)) {
                    waits = true;
                    return false;
                }
                // Nominated, it counts as if it were there already.
                drop(state.evict(pod));
                if state.filter(pod, &berth.name).is_err() {
                    return true;
                }
                let target = Target::pod(&pod.namespace, &pod.name);
                desk.ask(Part::Landing, Ask::Bind { pod: target, uid: pod.uid.clone(), node: berth.name.clone() });
                // Whether the request was let in or waits for its turn, the
                // room is spoken for.
                drop(state.place(&Arc::new(pod.clone()), &berth.name));
                waits = true;
                false
            });
            if left.len() == before {
                break;
            }
        }
        for p in left {
            match state.filter(&view.world.pods[p], &berth.name) {
                Err(refusal) if refusal.may_pass() => waits |= more_elsewhere,
                Err(refusal) if leaving && is_short(&refusal) => waits = true,
                Err(_) => {
                    let until = view.now.saturating_add(UNFIT).unwrap_or(Timestamp::MAX);
                    self.unfit.insert((berth.name.clone(), view.world.pods[p].uid.clone()), until);
                }
                Ok(()) => {}
            }
        }
        waits
    }

    /// Counts what the kubelet has refused, and stays away for a while.
    pub(super) fn bar(&mut self, view: &View<'_>, desk: &mut Desk, node: &Node, takers: &[Taker]) {
        for taker in takers {
            let Taker::Here(p) = taker else { continue };
            let pod = &view.world.pods[*p];
            let barred = self.barred.get(&node.meta.name);
            let known = barred.is_some_and(|b| b.pods.contains(&pod.uid));
            if pod.phase != Phase::Failed || known {
                continue;
            }
            let barred = self.barred.entry(node.meta.name.clone()).or_default();
            let wait = BACKOFF.0.saturating_mul(1 << barred.times.min(10)).min(BACKOFF.1);
            barred.until = view.now.saturating_add(wait).unwrap_or(Timestamp::MAX);
            barred.times += 1;
            barred.pods.push(pod.uid.clone());
            desk.count("admission_failures_total", &[]);
        }
    }
}

/// Whether a pod that is to be moved will leave where it is: its node goes.
pub(super) fn leaves(view: &View<'_>, pod: &Pod) -> bool {
    let Some(name) = pod.node_name.as_deref() else { return false };
    pod.deleted.is_some() || view.nodes.iter().any(|n| n.node.is_some() && n.name() == name && is_leaving(n))
}

/// Room that something which ends may still give.
fn is_short(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Resource { .. }
            | Refusal::Pods { .. }
            | Refusal::Port { .. }
            | Refusal::VolumeCount { .. }
            | Refusal::AntiAffinity { .. }
            | Refusal::ExistingAntiAffinity { .. }
    )
}
