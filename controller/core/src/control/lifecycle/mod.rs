//! NodeClaims from their creation to the day they are to go: launch,
//! registration, initialization, and what ends them early. (spec 40 §§2–5,
//! 7.4, 7.5, 8, 9)

mod calm;
mod consistency;
mod hooks;
mod initialization;
mod launch;
mod liveness;
mod observer;
mod pod_events;
mod registration;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use millwright_models::karpenter::labels;
use millwright_models::karpenter::nodeclaim::NodeClaim;
use millwright_models::karpenter::written;
use millwright_models::kube::meta::Labels;
use millwright_models::kube::node::Node;
use millwright_models::world::World;
use rustc_hash::{FxHashMap, FxHashSet};

pub use hooks::{Hook, Verdict};
pub(in crate::control) use initialization::is_ready;

use super::ask::{Ask, Event, Reply, Target};
use super::brain::{Outcome, Piece, Shared};
use super::conditions::{Conditions, Truth};
use super::counts;
use super::desk::{Desk, Part, Sent};
use super::edit::Edit;
use super::keys::{LAUNCHED, READY, REGISTERED, TERMINATION, is_managed};
use super::view::View;
use crate::expire;

/// The part that brings claims up.
#[derive(Default)]
pub struct Lifecycle {
    launches: launch::Launches,
    pod_events: pod_events::PodEvents,
    scans: consistency::Scans,
    calm: calm::Calm,
    observer: observer::Observer,
    hooks: Vec<Box<dyn Hook + Send>>,
    /// Claims that are to be deleted, by uid, with the reason.
    doomed: BTreeMap<String, &'static str>,
    /// What was counted already, by uid.
    told: BTreeSet<(String, &'static str)>,
}

/// A claim while it is looked at.
struct Case<'a> {
    claim: &'a NodeClaim,
    /// Nodes of its machine.
    nodes: &'a [&'a Node],
    conditions: Conditions,
    edit: Edit,
    node_edit: Option<Edit>,
    /// Labels that hooks gave the claim.
    labels: Labels,
}

impl Case<'_> {
    /// The one node of the machine.
    fn node(&self) -> Option<&Node> {
        match self.nodes {
            [node] => Some(node),
            _ => None,
        }
    }

    fn warn(&self, desk: &mut Desk, reason: &'static str, message: String) {
        let about = Target::claim(&self.claim.meta.name);
        let uid = self.claim.meta.uid.clone();
        desk.event(Part::Lifecycle, Event { about, uid, warning: true, reason, message });
    }
}

/// Nodes by the provider's id.
pub(super) fn by_provider(world: &World) -> FxHashMap<&str, Vec<&Node>> {
    let mut all: FxHashMap<&str, Vec<&Node>> = FxHashMap::default();
    for node in world.nodes.iter().filter(|n| !n.provider_id.is_empty()) {
        all.entry(&node.provider_id).or_default().push(node);
    }
    all
}

impl Piece for Lifecycle {
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        self.forget(view);
        self.observer.look(view, desk);
        self.launches.tell(view, shared, desk);
        self.pod_events.look(view);
        let nodes = by_provider(view.world);
        for claim in &view.world.node_claims {
            if !is_managed(&claim.node_class) || claim.meta.deletion_timestamp.is_some() {
                continue;
            }
            let own = nodes.get(claim.provider_id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let calm = self.calm.until(claim, own, view.now);
            match calm.filter(|_| !self.pod_events.is_due(&claim.meta.name)) {
                Some(until) => desk.wake(until),
                None => self.claim(claim, own, view, shared, desk),
            }
        }
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk) {
        let Ask::Launch { claim, uid, object } = &sent.ask else { return };
        if let Some(reason) = self.launches.answer(claim, uid, reply, shared.now) {
            let pool = object["metadata"]["labels"][labels::NODEPOOL].as_str().unwrap_or_default();
            desk.count("cloudprovider_errors_total", &[("method", "Create"), ("nodepool", pool), ("error", reason)]);
        }
        if let Some(reason) = self.launches.verdict(uid) {
            self.doomed.insert(uid.clone(), reason);
        }
    }
}

impl Lifecycle {
    /// A part that asks these before it lets a node in.
    pub fn with_hooks(hooks: Vec<Box<dyn Hook + Send>>) -> Self {
        Self { hooks, ..Self::default() }
    }

    fn forget(&mut self, view: &View<'_>) {
        let live: FxHashSet<&str> = view.world.node_claims.iter().map(|c| c.meta.uid.as_str()).collect();
        self.doomed.retain(|uid, _| live.contains(uid.as_str()));
        self.told.retain(|(uid, _)| live.contains(uid.as_str()));
        self.launches.forget(&live, view.now);
        self.scans.forget(&live);
        self.calm.forget(&live);
    }

    fn claim(&mut self, claim: &NodeClaim, nodes: &[&Node], view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        let target = Target::claim(&claim.meta.name);
        let mut edit = Edit::new(target.clone(), &claim.meta);
        let class = Labels::from([(labels::EC2_NODE_CLASS.to_owned(), claim.node_class.name.clone())]);
        if !claim.meta.labels.contains_key(labels::EC2_NODE_CLASS) {
            edit.labels(&claim.meta.labels, &class);
        }
        let finalizer = claim.meta.finalizers.iter().any(|f| f == TERMINATION);
        if !finalizer {
            edit.finalizer(&claim.meta, TERMINATION);
            if let Some(ask) = edit.ask() {
                desk.ask(Part::Lifecycle, ask);
            }
            return;
        }
        let conditions = Conditions::of_claim(claim, view.now);
        let mut case = Case { claim, nodes, conditions, edit, node_edit: None, labels: Labels::new() };
        if let [node] = nodes
            && node.meta.deletion_timestamp.is_none()
        {
            let mut node_edit = Edit::new(Target::node(&node.meta.name), &node.meta);
            if !node.meta.labels.contains_key(labels::EC2_NODE_CLASS) {
                node_edit.labels(&node.meta.labels, &class);
            }
            case.node_edit = Some(node_edit);
        }
        let buys = self.launches.look(&mut case, view, desk);
        registration::look(&mut case, &mut self.hooks, view, shared, desk);
        initialization::look(&mut case, view);
        self.scans.look(&mut case, view, desk);
        self.pod_events.write(&mut case);
        self.end(&case, view, shared, desk);
        let wants = self.write(case, buys, shared, desk);
        if let ([node], false, true) = (nodes, wants, claim.is(READY)) {
            let next = [expire::expiry(claim), self.scans.next(claim)].into_iter().flatten().min();
            self.calm.note(claim, node, next.unwrap_or(Timestamp::MAX));
        }
    }

    /// Finds out whether the claim has to go.
    fn end(&mut self, case: &Case<'_>, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        let claim = case.claim;
        let uid = &claim.meta.uid;
        match liveness::look(&case.conditions, view) {
            liveness::Life::Lives(Some(until)) => desk.wake(until),
            liveness::Life::Lives(None) => {}
            liveness::Life::Over(reason) => {
                self.doomed.entry(uid.clone()).or_insert(reason);
                if self.told.insert((uid.clone(), reason)) {
                    shared.outcomes.push(outcome(case));
                }
            }
        }
        match expire::expiry(claim) {
            Some(end) if end <= view.now => {
                self.doomed.entry(uid.clone()).or_insert("expired");
            }
            Some(end) => desk.wake(end),
            None => {}
        }
    }

    /// At most one request for the claim, and one for its node. Tells whether
    /// there was anything to ask for.
    fn write(&mut self, case: Case<'_>, buys: bool, shared: &mut Shared, desk: &mut Desk) -> bool {
        let claim = case.claim;
        let (target, uid) = (Target::claim(&claim.meta.name), claim.meta.uid.clone());
        if let Some(reason) = self.doomed.get(&uid).copied() {
            if desk.ask(Part::Lifecycle, Ask::Delete { target, uid: uid.clone(), grace_seconds: None })
                && self.told.insert((uid, "deleted"))
            {
                counts::disrupted(desk, claim, reason);
            }
            return true;
        }
        let of_node = case.node_edit.and_then(Edit::ask);
        let for_node = of_node.is_some();
        if let Some(ask) = of_node {
            desk.ask(Part::Lifecycle, ask);
        }
        let registered = case.conditions.is(REGISTERED, Truth::True) && !claim.is(REGISTERED);
        let mut edit = case.edit;
        edit.conditions(case.conditions.changed());
        let metadata_first = edit.has_main();
        if buys && !metadata_first {
            let object = written::claim(claim);
            let launch = Ask::Launch { claim: claim.meta.name.clone(), uid, object };
            desk.ask(Part::Lifecycle, launch);
            return true;
        }
        let Some(ask) = edit.ask() else { return for_node };
        if desk.ask(Part::Lifecycle, ask) && registered && !metadata_first && self.told.insert((uid, "registered")) {
            let (pool, zone) = (counts::label(claim, labels::NODEPOOL), counts::label(claim, labels::ZONE));
            desk.count("nodes_created_total", &[("nodepool", pool), ("zone", zone)]);
            shared.outcomes.push(Outcome { pool: owner(claim), success: true, ..Outcome::default() });
        }
        true
    }
}

/// A claim that did not make it.
fn outcome(case: &Case<'_>) -> Outcome {
    let launched = case.conditions.get(LAUNCHED);
    let (reason, message) = match launched {
        Some(c) if c.status != "True" => (c.reason.clone(), c.message.clone()),
        _ => ("RegistrationFailed".to_owned(), "Failed to register node".to_owned()),
    };
    Outcome { pool: owner(case.claim), success: false, reason, message }
}

/// The uid of the pool that owns the claim.
fn owner(claim: &NodeClaim) -> String {
    let pool = claim.meta.owner_references.iter().find(|o| o.kind == "NodePool");
    pool.map(|o| o.uid.clone()).unwrap_or_default()
}
