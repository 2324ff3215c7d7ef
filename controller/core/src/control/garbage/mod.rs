//! Claims without a machine, and machines without a claim. (spec 40 §§7.1–7.2)

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use millwright_models::kube::node::Node;
use rustc_hash::FxHashSet;

use super::ask::{Ask, Instance, Reply, Target};
use super::brain::{Piece, Shared};
use super::counts;
use super::desk::{Desk, Part, Sent};
use super::keys::{REGISTERED, is_managed};
use super::lifecycle::is_ready;
use super::view::View;

/// Between two looks at all machines: at first, and from then on.
const EARLY: SignedDuration = SignedDuration::from_secs(10);
const LATE: SignedDuration = SignedDuration::from_mins(2);
/// So many looks are early ones.
const EARLY_RUNS: u32 = 20;
/// Claims are judged this often.
const CLAIMS_EVERY: SignedDuration = SignedDuration::from_mins(2);
/// A machine may be without a claim for so long.
const GRACE: SignedDuration = SignedDuration::from_secs(30);

/// The part that removes what belongs to nothing.
#[derive(Debug, Default)]
pub struct Garbage {
    /// The next look at all machines.
    next: Option<Timestamp>,
    runs: u32,
    claims_judged: Option<Timestamp>,
    /// Claims (uid, provider id) as they were when the list was asked for.
    asked: Vec<(String, String)>,
    waiting: bool,
    /// Claims without a machine, by uid.
    orphans: BTreeSet<String>,
    /// Machines of the last list that are not ending.
    machines: Vec<Instance>,
    /// Machines that do not say when they were made.
    seen: BTreeMap<String, Timestamp>,
    counted: BTreeSet<String>,
}

impl Piece for Garbage {
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        self.claims(view, desk);
        self.machines(view, desk);
        let now = shared.now;
        if !self.waiting && self.next.is_none_or(|next| next <= now) {
            self.asked = view
                .world
                .node_claims
                .iter()
                .filter(|c| is_managed(&c.node_class) && c.is(REGISTERED) && c.meta.deletion_timestamp.is_none())
                .map(|c| (c.meta.uid.clone(), c.provider_id.clone()))
                .collect();
            self.waiting = desk.ask(Part::Garbage, Ask::Instances);
        } else if let Some(next) = self.next.filter(|_| !self.waiting) {
            desk.wake(next);
        }
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk) {
        if sent.ask != Ask::Instances {
            return;
        }
        self.waiting = false;
        let period = if self.runs < EARLY_RUNS { EARLY } else { LATE };
        // Claims are judged in time, whatever the period.
        let judge = self.claims_judged.map(|at| at + CLAIMS_EVERY).filter(|at| *at > shared.now);
        self.next = Some((shared.now + period).min(judge.unwrap_or(Timestamp::MAX)));
        let asked = std::mem::take(&mut self.asked);
        let Reply::Instances(list) = reply else {
            let labels = [("method", "List"), ("nodepool", ""), ("error", "unknown")];
            return desk.count("cloudprovider_errors_total", &labels);
        };
        self.runs = self.runs.saturating_add(1);
        self.machines = list.iter().filter(|i| !i.terminating).cloned().collect();
        if self.claims_judged.is_some_and(|at| shared.now.duration_since(at) < CLAIMS_EVERY) {
            return;
        }
        self.claims_judged = Some(shared.now);
        self.next = Some(shared.now + period.min(CLAIMS_EVERY));
        let there: FxHashSet<&str> = self.machines.iter().map(|i| i.provider_id.as_str()).collect();
        self.orphans = asked.into_iter().filter(|(_, id)| !there.contains(id.as_str())).map(|(uid, _)| uid).collect();
    }
}

impl Garbage {
    /// Deletes registered claims whose machine is gone, unless a kubelet is
    /// alive there.
    fn claims(&mut self, view: &View<'_>, desk: &mut Desk) {
        if self.orphans.is_empty() {
            return;
        }
        let world = view.world;
        let mut left = BTreeSet::new();
        for claim in world.node_claims.iter().filter(|c| self.orphans.contains(&c.meta.uid)) {
            let alive = |node: &&Node| node.provider_id == claim.provider_id && is_ready(node);
            if claim.meta.deletion_timestamp.is_some() || world.nodes.iter().any(|n| alive(&n)) {
                continue;
            }
            let (target, uid) = (Target::claim(&claim.meta.name), claim.meta.uid.clone());
            let asked = desk.ask(Part::Garbage, Ask::Delete { target, uid: uid.clone(), grace_seconds: None });
            if asked && self.counted.insert(uid.clone()) {
                counts::disrupted(desk, claim, "garbage_collected");
            }
            left.insert(uid);
        }
        self.orphans = left;
        self.counted.retain(|uid| self.orphans.contains(uid));
    }

    /// Ends machines that no claim knows, and deletes their nodes.
    fn machines(&mut self, view: &View<'_>, desk: &mut Desk) {
        // A claim that cannot be read may own any of them.
        if self.machines.is_empty() || view.world.unread.iter().any(|u| u.kind == "NodeClaim") {
            return;
        }
        let known: FxHashSet<&str> = view.world.node_claims.iter().map(|c| c.provider_id.as_str()).collect();
        let unlaunched = |name: &str| view.world.node_claim(name).is_some_and(|c| c.provider_id.is_empty());
        let machines = std::mem::take(&mut self.machines);
        let mut left = Vec::new();
        for machine in machines {
            let id = machine.provider_id.as_str();
            // A launch that is repeated finds the machine of its claim again.
            if known.contains(id) || unlaunched(&machine.claim) {
                continue;
            }
            let born = machine.created.unwrap_or_else(|| *self.seen.entry(id.to_owned()).or_insert(view.now));
            if view.now.duration_since(born) <= GRACE {
                continue;
            }
            let key = if machine.claim.is_empty() { id } else { &machine.claim };
            let ask = Ask::Terminate { claim: key.to_owned(), provider_id: id.to_owned() };
            if !desk.ask(Part::Garbage, ask) {
                left.push(machine);
                continue;
            }
            for node in view.world.nodes.iter().filter(|n| n.provider_id == id) {
                let (target, uid) = (Target::node(&node.meta.name), node.meta.uid.clone());
                desk.ask(Part::Garbage, Ask::Delete { target, uid, grace_seconds: None });
            }
        }
        let seen: BTreeSet<String> = left.iter().map(|m: &Instance| m.provider_id.clone()).collect();
        self.seen.retain(|id, at| seen.contains(id) || view.now.duration_since(*at) < LATE.saturating_mul(2));
        self.machines = left;
    }
}
