//! A plan made real: claims to buy, slots for nodes that exist.

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::pod::Pod;
use millwright_models::world::World;
use serde_json::{Value, json};

use super::pass::{self, Placed};
use super::{Provisioner, Settled, tell};
use crate::buffers;
use crate::control::ask::{Ask, Target};
use crate::control::brain::{Owed, Shared};
use crate::control::desk::{Desk, Part};
use crate::control::keys::TERMINATION;
use crate::control::landing;
use crate::control::ledger::Ledger;
use crate::control::settings::Settings;
use crate::control::slots::{SLOTS, Slot, Slots, is_left, is_opted_out};
use crate::control::view::View;
use crate::control::work::{Answer, Finding};
use crate::provision::Decision;

/// Slots of nodes that exist are written by then, or not at all.
const SETTLED: SignedDuration = SignedDuration::from_secs(60);
/// What a cordon on a node that exists is for.
const ROOM: &str = "room for pods that wait";

/// A claim that is asked for.
#[derive(Clone, Debug)]
pub struct Purchase {
    pub object: Value,
    pub pool: String,
    /// For the events: namespace, name and uid.
    pub pods: Vec<(String, String, String)>,
    pub state: State,
}

/// How far a purchase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// To be asked for.
    New,
    Asked,
    /// The name was taken: another has to be drawn.
    Taken,
    /// No answer: it may have been made.
    Unsure,
}

impl Provisioner {
    /// Acts on a plan, by what there is now; told is a world for which there was
    /// nothing to do.
    pub(super) fn carry_out(
        &mut self,
        view: &View<'_>,
        finding: &Finding,
        placed: &Placed,
        shared: &mut Shared,
        desk: &mut Desk,
    ) -> Option<Settled> {
        let Answer::Provision(decision) = &finding.answer else { return None };
        let decision = match decision.as_ref() {
            Ok(decision) => decision,
            Err(_) => {
                desk.count("scheduling_errors_total", &[]);
                return None;
            }
        };
        tell::figures(decision, desk);
        let stuck = pass::Stuck::new(view);
        let open = |p: &usize| is_open(view, placed, &stuck, &finding.world.pods[*p]);
        let is_virtual = |p: &&usize| buffers::is_virtual(&finding.world.pods[**p]);
        let mut ledger = Ledger::new(view, desk);
        for (node, object) in decision.nodes.iter().zip(&decision.claims) {
            let pods: Vec<&Pod> = node.pods.iter().filter(|p| open(p)).map(|p| &finding.world.pods[*p]).collect();
            if pods.is_empty() && !node.pods.iter().any(|p| is_virtual(&p)) {
                continue;
            }
            if let Err(over) = ledger.enter(object) {
                tell::over_limit(&pods, &over, desk);
                continue;
            }
            let slots = slots(view, &pods, finding.asked, &node.pool);
            let name = self
                .names
                .next(view.settings.seed ^ view.salt(), &node.pool, view.world, |n| self.buying.contains_key(n));
            let object = claim(object, &name, &slots);
            let pods = pods.iter().map(|p| (p.namespace.clone(), p.name.clone(), p.uid.clone())).collect();
            self.buying.insert(name, Purchase { object, pool: node.pool.clone(), pods, state: State::New });
        }
        remember(finding, decision, shared);
        let filled = self.fill_existing(view, finding, decision, open, shared, desk);
        tell::failures(&mut self.limiter, view, &finding.world, decision, desk);
        let catalog = self.asked.clone().filter(|_| !filled && self.buying.is_empty())?;
        Some(Settled { world: finding.world.clone(), catalog, at: view.now })
    }

    /// Hands slots of nodes that exist to landing; tells whether there are any.
    fn fill_existing(
        &mut self,
        view: &View<'_>,
        finding: &Finding,
        decision: &Decision,
        open: impl Fn(&usize) -> bool,
        shared: &mut Shared,
        desk: &mut Desk,
    ) -> bool {
        let mut filled = false;
        for (name, pods) in &decision.existing {
            let pods: Vec<&Pod> = pods.iter().filter(|p| open(p)).map(|p| &finding.world.pods[*p]).collect();
            let named = |n: &&crate::nodes::StateNode<'_>| n.name() == name;
            let Some(node) = view.nodes.iter().find(named).filter(|_| !pods.is_empty()) else { continue };
            filled = true;
            shared.memory.nominated.insert(node.id().to_owned(), view.now);
            let pool = node.pool().unwrap_or_default();
            let slots = slots(view, &pods, finding.asked, pool);
            let until = view.now.saturating_add(SETTLED).unwrap_or(Timestamp::MAX);
            let owed = Owed { slots, reason: ROOM.to_owned(), until };
            // Nothing has to be held for pods that are left to the scheduler.
            if owed.slots.all.iter().any(|s| !s.left) {
                let debt =
                    shared.owed.entry(name.clone()).or_insert_with(|| Owed { slots: Slots::default(), ..owed.clone() });
                debt.slots = debt.slots.with(&owed.slots);
                debt.until = debt.until.max(until);
            }
            for pod in pods {
                let target = (pod.namespace.as_str(), pod.name.as_str(), pod.uid.as_str());
                tell::nominated(&mut self.limiter, target, node, view.now, desk);
            }
        }
        filled
    }

    /// Asks for claims that are not asked for yet, or again.
    pub(super) fn buy_again(&mut self, view: &View<'_>, desk: &mut Desk) {
        let names: Vec<String> = self.buying.keys().cloned().collect();
        for name in names {
            let Some(mut purchase) = self.buying.remove(&name) else { continue };
            let mut name = name;
            match purchase.state {
                // It was made after all.
                State::Unsure if view.world.node_claim(&name).is_some() => continue,
                State::Taken => {
                    let taken = |n: &str| self.buying.contains_key(n);
                    name = self.names.next(view.settings.seed, &purchase.pool, view.world, taken);
                    purchase.object["metadata"]["name"] = json!(name);
                    purchase.state = State::New;
                }
                State::New | State::Asked | State::Unsure => {}
            }
            if purchase.state != State::Asked {
                let target = Target::claim(&name);
                let unsure = purchase.state == State::Unsure;
                if desk.ask(Part::Provision, Ask::Create { target, object: purchase.object.clone() }) && !unsure {
                    purchase.state = State::Asked;
                }
            }
            self.buying.insert(name, purchase);
        }
    }

    pub(super) fn name_is_taken(&mut self, name: &str) {
        let Some(purchase) = self.buying.get_mut(name) else { return };
        // An earlier request of ours may have taken it.
        if purchase.state == State::Unsure {
            self.buying.remove(name);
        } else {
            purchase.state = State::Taken;
        }
    }

    pub(super) fn unsure(&mut self, name: &str) {
        if let Some(purchase) = self.buying.get_mut(name) {
            purchase.state = State::Unsure;
        }
    }

    pub(super) fn bought(&mut self, name: &str, shared: &mut Shared, desk: &mut Desk) {
        let Some(purchase) = self.buying.remove(name) else { return };
        let relaxed = purchase.object["metadata"]["annotations"]["karpenter.sh/nodeclaim-min-values-relaxed"] == "true";
        let relaxed = if relaxed { "true" } else { "false" };
        let labels = [("reason", "provisioned"), ("nodepool", purchase.pool.as_str()), ("min_values_relaxed", relaxed)];
        desk.count("nodeclaims_created_total", &labels);
        let pods = purchase.pods.iter().map(|(namespace, pod, _)| format!("{namespace}/{pod}"));
        shared.planned.insert(name.to_owned(), pods.collect());
        for (namespace, pod, uid) in &purchase.pods {
            let message = format!("Pod should schedule on: nodeclaim/{name}");
            tell::nomination(&mut self.limiter, (namespace, pod, uid), message, shared.now, desk);
        }
    }
}

/// What became of virtual pods, and whose room they need.
fn remember(finding: &Finding, decision: &Decision, shared: &mut Shared) {
    let of_buffer = |p: &usize| {
        let pod = &finding.world.pods[*p];
        buffers::is_virtual(pod).then(|| pod.uid.rsplit_once('-').map_or("", |(uid, _)| uid).to_owned())
    };
    shared.fits.clear();
    shared.buffered.clear();
    for (name, pods) in &decision.existing {
        for uid in pods.iter().filter_map(of_buffer) {
            shared.fits.entry(uid).or_default().existing += 1;
            shared.buffered.insert(name.clone());
        }
    }
    let elsewhere = decision.nodes.iter().flat_map(|n| &n.pods).chain(decision.unscheduled.iter().map(|(p, _)| p));
    for uid in elsewhere.filter_map(of_buffer) {
        shared.fits.entry(uid).or_default().new += 1;
    }
}

/// Whether a pod of the plan still needs what was planned for it.
fn is_open(view: &View<'_>, placed: &Placed, stuck: &pass::Stuck<'_>, pod: &Pod) -> bool {
    let at = view.world.pods.binary_search_by(|p| (&*p.namespace, &*p.name).cmp(&(&pod.namespace, &pod.name)));
    let Ok(at) = at else { return false };
    let now = &view.world.pods[at];
    let same = now.uid == pod.uid && now.node_name == pod.node_name;
    let leaves = |name: &str| view.nodes.iter().any(|n| n.name() == name && landing::is_leaving(n));
    let wanted = match &now.node_name {
        Some(node) => now.is_reschedulable() && leaves(node) && !stuck.holds(at),
        None => pass::waits(view, now),
    };
    same && wanted && !placed.pods.contains_key(&at)
}

/// The slots of pods that are planned for one node.
pub fn slots(view: &View<'_>, pods: &[&Pod], since: Timestamp, pool: &str) -> Slots {
    let out = view.world.node_pool(pool).is_some_and(is_opted_out);
    let left = |pod: &Pod, settings: &Settings| out || is_left(pod, &settings.placement_schedulers);
    let all = pods.iter().map(|p| Slot::of(p, left(p, view.settings))).collect();
    // Times in the API are whole seconds.
    let since = Timestamp::from_second(since.as_second()).ok();
    Slots { since, until: None, all }
}

/// A claim as it is to be made: with its name, the finalizer, and what it is
/// for.
pub fn claim(object: &Value, name: &str, slots: &Slots) -> Value {
    let mut object = object.clone();
    let metadata = &mut object["metadata"];
    if let Some(fields) = metadata.as_object_mut() {
        fields.remove("generateName");
    }
    metadata["name"] = json!(name);
    metadata["finalizers"] = json!([TERMINATION]);
    if !slots.all.is_empty() {
        metadata["annotations"][SLOTS] = json!(Slots { since: None, until: None, all: slots.all.clone() }.write());
    }
    object
}

/// Pods of a finding's world by name, for those that look them up.
pub fn pod<'w>(world: &'w World, full_name: &str) -> Option<&'w Pod> {
    let (namespace, name) = full_name.split_once('/')?;
    world.pod(namespace, name)
}
