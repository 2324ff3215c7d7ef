//! What NodePools say of themselves, and pools of a fixed size. (spec 40 §§5,
//! 10, 11)

mod counter;
mod fleet;
mod hash;
mod health;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::world::World;

use super::ask::{Event, Kind, Reply, Target};
use super::brain::{Piece, Shared};
use super::conditions::{Conditions, Truth};
use super::desk::{Desk, Part, Sent};
use super::edit::Edit;
use super::keys::{CLASS_READY, VALIDATED, is_managed};
use super::view::View;

/// Counts of a pool are written this often at most.
const COUNTS_EVERY: SignedDuration = SignedDuration::from_secs(5);

/// The part that looks after pools.
#[derive(Debug, Default)]
pub struct Pools {
    health: health::Health,
    fleet: fleet::Fleet,
    /// When the counts of each pool were written last.
    counted: BTreeMap<String, Timestamp>,
}

impl Piece for Pools {
    fn look(&mut self, view: &View<'_>, shared: &mut Shared, desk: &mut Desk) {
        let outcomes = std::mem::take(&mut shared.outcomes);
        self.health.take_in(view, outcomes);
        self.counted.retain(|name, _| view.world.node_pool(name).is_some());
        let synced = view.world.node_claims.iter().all(|c| !c.provider_id.is_empty());
        for pool in &view.world.node_pools {
            if !is_managed(&pool.template.node_class) {
                continue;
            }
            self.pool(pool, synced, view, shared, desk);
            if view.settings.lower.gates.static_capacity {
                self.fleet.look(pool, view, shared, desk);
            }
        }
    }

    fn answer(&mut self, sent: &Sent, reply: &Reply, shared: &mut Shared, desk: &mut Desk) {
        self.fleet.answer(sent, reply, shared, desk);
    }
}

impl Pools {
    fn pool(&mut self, pool: &NodePool, synced: bool, view: &View<'_>, shared: &Shared, desk: &mut Desk) {
        let target = Target::new(Kind::NodePool, "", pool.name());
        let mut edit = Edit::new(target, &pool.meta);
        let moved = hash::claims(pool, view, desk);
        if moved {
            hash::pool(pool, &mut edit);
        }
        let mut conditions = Conditions::of_pool(pool, view.now);
        validate(pool, &mut conditions);
        judge_class(pool, view.world, &mut conditions);
        tell_barren(pool, view, &conditions, desk);
        self.health.look(pool, view.world, &mut conditions, &mut edit);
        edit.conditions(conditions.changed());
        let quiet = self.counted.get(pool.name()).map(|at| *at + COUNTS_EVERY).filter(|at| *at > view.now);
        let mut counts = false;
        match quiet {
            Some(at) if !edit.has_status() => desk.wake(at),
            _ if synced => counts = counter::count(pool, view, &shared.memory, &mut edit),
            _ => {}
        }
        let counts = counts && !edit.has_main();
        let Some(ask) = edit.ask() else { return };
        if desk.ask(Part::Pools, ask) && counts {
            self.counted.insert(pool.name().to_owned(), view.now);
        }
    }
}

fn validate(pool: &NodePool, conditions: &mut Conditions) {
    if pool.faults.is_empty() {
        return conditions.set_true(VALIDATED);
    }
    let faults: Vec<String> = pool.faults.iter().map(|(field, message)| format!("{field}: {message}")).collect();
    conditions.set(VALIDATED, Truth::False, "NodePoolValidationFailed", &faults.join("; "));
}

/// Tells that a pool in good order can buy nothing at all.
fn tell_barren(pool: &NodePool, view: &View<'_>, conditions: &Conditions, desk: &mut Desk) {
    if !conditions.is(VALIDATED, Truth::True) || !conditions.is(CLASS_READY, Truth::True) {
        return;
    }
    let message = match view.types.get(pool.name()) {
        Some(Ok(types)) if types.types.is_empty() => types.warnings.last().cloned().unwrap_or_default(),
        Some(Err(why)) => format!("NodePool {} can buy nothing: {why}", pool.name()),
        _ => return,
    };
    let (about, uid) = (Target::new(Kind::NodePool, "", pool.name()), pool.meta.uid.clone());
    let (warning, reason) = (true, "NoCompatibleInstanceTypes");
    desk.event(Part::Pools, Event { about, uid, warning, reason, message });
}

/// Whether the pool's node class can be used.
fn judge_class(pool: &NodePool, world: &World, conditions: &mut Conditions) {
    let Some(class) = world.node_class(&pool.template.node_class.name) else {
        let message = "NodeClass not found on cluster";
        return conditions.set(CLASS_READY, Truth::False, "NodeClassNotFound", message);
    };
    if class.meta.deletion_timestamp.is_some() {
        return conditions.set(CLASS_READY, Truth::False, "NodeClassTerminating", "NodeClass is Terminating");
    }
    match class.conditions.iter().find(|c| c.kind == "Ready") {
        Some(ready) if ready.status == "True" => conditions.set_true(CLASS_READY),
        Some(ready) if ready.status == "False" => {
            conditions.set(CLASS_READY, Truth::False, &ready.reason, &ready.message);
        }
        _ => {
            let message = "Node Class Readiness Unknown";
            conditions.set(CLASS_READY, Truth::False, "NodeClassReadinessUnknown", message);
        }
    }
}
