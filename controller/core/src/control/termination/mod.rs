//! Claims and nodes on their way out: drain, volumes, machine, finalizers.
//! (spec 40 §6)

mod claim;
mod drain;
mod node;
mod queue;
mod volumes;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use millwright_models::karpenter::nodeclaim::NodeClaim;
use rustc_hash::FxHashMap;

pub use queue::{Bound, Kind as BoundKind, Queue};

use super::ask::{Ask, Refusal, Reply};
use super::brain::{Piece, Shared};
use super::conditions::{Conditions, Truth};
use super::desk::{Desk, Part, Sent};
use super::keys::{INSTANCE_TERMINATING, TERMINATION, is_managed, is_managed_node};
use super::view::View;
use crate::control::ask::{Event, Target};
use crate::control::edit::Edit;
use crate::control::lifecycle::by_provider;

/// A machine that is ending is asked after this often.
const POLL: SignedDuration = SignedDuration::from_secs(5);
/// What a provider said about a machine is believed for so long.
const BELIEF: SignedDuration = SignedDuration::from_secs(10);

/// The part that takes claims and nodes down.
#[derive(Debug, Default)]
pub struct Termination {
    queue: Queue,
    machines: Machines,
}

/// What the provider said last of machines, by its id.
#[derive(Debug, Default)]
struct Machines {
    /// Told to end, at this time.
    ending: BTreeMap<String, Timestamp>,
    gone: BTreeSet<String>,
    /// Asked about: whether there is one.
    known: BTreeMap<String, (bool, Timestamp)>,
}

/// A claim while what it says of its end is brought up to date.
struct Ending<'a> {
    claim: &'a NodeClaim,
    conditions: Conditions,
}

impl<'a> Ending<'a> {
    fn new(claim: &'a NodeClaim, now: Timestamp) -> Self {
        Self { claim, conditions: Conditions::of_claim(claim, now) }
    }

    /// Writes what is new; tells whether there was anything.
    fn write(self, desk: &mut Desk) -> bool {
        let mut edit = Edit::new(Target::claim(&self.claim.meta.name), &self.claim.meta);
        edit.conditions(self.conditions.changed());
        edit.ask().map(|ask| desk.ask(Part::Termination, ask)).is_some()
    }
}

impl Piece for Termination {
    fn look(&mut self, view: &View<'_>, _shared: &mut Shared, desk: &mut Desk) {
        let world = view.world;
        self.queue.begin(view);
        self.machines.forget(view);
        self.queue.tell(view, desk);
        let of_claims = world.node_claims.iter().map(|c| &c.meta);
        if !of_claims.chain(world.nodes.iter().map(|n| &n.meta)).any(|m| m.deletion_timestamp.is_some()) {
            return;
        }
        let nodes = by_provider(world);
        let mut claims: FxHashMap<&str, Vec<&NodeClaim>> = FxHashMap::default();
        for claim in world.node_claims.iter().filter(|c| !c.provider_id.is_empty()) {
            claims.entry(&claim.provider_id).or_default().push(claim);
        }
        for claim in &world.node_claims {
            let ours = claim.meta.finalizers.iter().any(|f| f == TERMINATION);
            if claim.meta.deletion_timestamp.is_some() && ours && is_managed(&claim.node_class) {
                let own = nodes.get(claim.provider_id.as_str()).map(Vec::as_slice).unwrap_or_default();
                self.claim(claim, own, view, desk);
            }
        }
        for (place, state) in view.nodes.iter().enumerate() {
            let Some(node) = state.node else { continue };
            let ours = node.meta.finalizers.iter().any(|f| f == TERMINATION);
            if node.meta.deletion_timestamp.is_some() && ours && is_managed_node(node) {
                let own = claims.get(node.provider_id.as_str()).map(Vec::as_slice).unwrap_or_default();
                let claim = match own {
                    [claim] => Some(*claim),
                    _ => None,
                };
                self.node(node, claim, place, view, desk);
            }
        }
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk) {
        match &sent.ask {
            Ask::Terminate { provider_id, .. } => self.machines.terminated(provider_id, reply, shared.now),
            Ask::Describe { provider_id, .. } => {
                let there = match reply {
                    Reply::Instances(list) => !list.is_empty(),
                    Reply::Refused(Refusal::NotFound) => false,
                    _ => return,
                };
                self.machines.known.insert(provider_id.clone(), (there, shared.now));
            }
            Ask::Evict { pod, uid } => self.queue.evicted(pod, uid, reply, desk),
            _ => {}
        }
    }
}

impl Machines {
    fn forget(&mut self, view: &View<'_>) {
        if self.ending.is_empty() && self.gone.is_empty() && self.known.is_empty() {
            return;
        }
        let world = view.world;
        let of_claims = world.node_claims.iter().map(|c| c.provider_id.as_str());
        let live: BTreeSet<&str> = of_claims.chain(world.nodes.iter().map(|n| n.provider_id.as_str())).collect();
        self.ending.retain(|id, _| live.contains(id.as_str()));
        self.gone.retain(|id| live.contains(id.as_str()));
        self.known.retain(|_, (_, at)| view.now.duration_since(*at) < BELIEF);
    }

    fn terminated(&mut self, provider_id: &str, reply: &Reply, now: Timestamp) {
        match reply {
            Reply::Done => {
                self.ending.insert(provider_id.to_owned(), now);
            }
            Reply::Refused(Refusal::NotFound) => {
                self.gone.insert(provider_id.to_owned());
            }
            _ => {}
        }
    }

    /// Has the claim's machine ended; true once it is gone. The condition is
    /// set when the provider has agreed to it.
    fn end(&self, ending: &mut Ending<'_>, view: &View<'_>, desk: &mut Desk) -> bool {
        let claim = ending.claim;
        let id = &claim.provider_id;
        if self.gone.contains(id) {
            return true;
        }
        let told = self.ending.get(id);
        if told.is_some() && !ending.conditions.is(INSTANCE_TERMINATING, Truth::True) {
            ending.conditions.set_true(INSTANCE_TERMINATING);
            return false;
        }
        match told.map(|at| *at + POLL) {
            Some(again) if again > view.now => desk.wake(again),
            _ => {
                let ask = Ask::Terminate { claim: claim.meta.name.clone(), provider_id: id.clone() };
                desk.ask(Part::Termination, ask);
            }
        }
        false
    }
}

/// Tells of a deadline that stands.
fn expiring(desk: &mut Desk, about: Target, uid: &str, deadline: Timestamp) {
    let message = format!("All pods will be deleted by {deadline}");
    let (warning, reason) = (true, "TerminationGracePeriodExpiring");
    desk.event(Part::Termination, Event { about, uid: uid.to_owned(), warning, reason, message });
}
