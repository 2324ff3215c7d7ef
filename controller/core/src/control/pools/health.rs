//! Whether the nodes of a pool come up. Informational: nothing is held back
//! by it. (spec 40 §5)

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use millwright_models::karpenter::nodepool::NodePool;
use millwright_models::world::World;
use serde_json::json;

use crate::control::brain::Outcome;
use crate::control::conditions::{Conditions, Truth};
use crate::control::edit::Edit;
use crate::control::keys::HEALTHY;
use crate::control::view::View;

/// Outcomes that are remembered of each pool.
const RING: usize = 4;
/// So many failures among them make a pool unhealthy.
const FAILURES: usize = 2;

/// The last outcomes of each pool, by its uid.
#[derive(Debug, Default)]
pub(super) struct Health {
    pools: BTreeMap<String, Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    outcomes: VecDeque<bool>,
    /// What the condition is to say.
    want: Option<(Truth, String, String)>,
}

impl Ring {
    fn is_healthy(&self) -> bool {
        self.outcomes.iter().filter(|ok| !**ok).count() < FAILURES
    }

    fn push(&mut self, success: bool) {
        self.outcomes.push_back(success);
        if self.outcomes.len() > RING {
            self.outcomes.pop_front();
        }
    }

    fn take_in(&mut self, outcome: &Outcome, status: &str) {
        self.push(outcome.success);
        let says_false = self.want.as_ref().map_or(status == "False", |(truth, ..)| *truth == Truth::False);
        match (outcome.success, self.is_healthy()) {
            (true, true) => self.want = Some((Truth::True, HEALTHY.to_owned(), String::new())),
            (false, false) if !says_false => {
                self.want = Some((Truth::False, outcome.reason.clone(), outcome.message.clone()));
            }
            _ => {}
        }
    }
}

impl Health {
    /// Takes in how claims fared since the last look.
    pub fn take_in(&mut self, view: &View<'_>, outcomes: Vec<Outcome>) {
        let world = view.world;
        let live: BTreeSet<&str> = world.node_pools.iter().map(|p| p.meta.uid.as_str()).collect();
        self.pools.retain(|uid, _| live.contains(uid.as_str()));
        for outcome in outcomes {
            let pool = world.node_pools.iter().find(|p| !outcome.pool.is_empty() && p.meta.uid == outcome.pool);
            let Some(pool) = pool else { continue };
            let status = status(pool).to_owned();
            self.ring(pool).take_in(&outcome, &status);
        }
    }

    /// The pool's ring; after a restart as the condition remembers it.
    fn ring(&mut self, pool: &NodePool) -> &mut Ring {
        self.pools.entry(pool.meta.uid.clone()).or_insert_with(|| {
            let outcomes = match status(pool) {
                "True" => vec![true],
                "False" => vec![false; FAILURES],
                _ => Vec::new(),
            };
            Ring { outcomes: outcomes.into(), want: None }
        })
    }

    /// Brings the condition up to date. What was learned of another template
    /// or node class does not count.
    pub fn look(&mut self, pool: &NodePool, world: &World, conditions: &mut Conditions, edit: &mut Edit) {
        let Some(class) = world.node_class(&pool.template.node_class.name) else { return };
        let held = pool.conditions.iter().find(|c| c.kind == HEALTHY);
        let seen = pool.status.node_class_generation;
        let outdated = held.is_none_or(|c| c.observed_generation != Some(pool.meta.generation))
            || seen != Some(class.meta.generation);
        if seen != Some(class.meta.generation) {
            edit.status("nodeClassObservedGeneration", json!(class.meta.generation));
        }
        let ring = self.ring(pool);
        // A first outcome may come before the condition is written.
        let fresh = held.is_none() && ring.want.is_some();
        if outdated && !fresh {
            *ring = Ring::default();
            conditions.set(HEALTHY, Truth::Unknown, "AwaitingReconciliation", "object is awaiting reconciliation");
            return;
        }
        let Some((truth, reason, message)) = &ring.want else { return };
        if held.is_some_and(|c| c.status == truth.as_str()) {
            ring.want = None;
        } else {
            conditions.set(HEALTHY, *truth, reason, message);
        }
    }
}

fn status(pool: &NodePool) -> &str {
    pool.conditions.iter().find(|c| c.kind == HEALTHY).map(|c| c.status.as_str()).unwrap_or_default()
}
