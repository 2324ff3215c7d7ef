//! One look at the cluster.

use std::collections::{BTreeMap, BTreeSet};

use millwright_models::catalog::PoolType;
use millwright_models::greedy::{GreedyOptions, GreedyPlan};
use millwright_models::lower::{self, Participants, participating};
use millwright_solver::instance::Micros;

use super::Method;
use crate::balanced::Totals;
use crate::budgets::{Reason, allowances};
use crate::candidates::{Candidate, Class, Scene};
use crate::consolidate::totals;

/// What one look decides.
#[derive(Clone, Debug)]
pub struct Command {
    pub method: Method,
    /// Nodes that go: positions in [`Scene::nodes`], ascending.
    pub nodes: Vec<usize>,
    /// Where pods go; its claims are the replacements.
    pub plan: GreedyPlan,
    /// As Karpenter estimates them: what goes at its price, what comes at the
    /// best price of its cheapest type.
    pub savings: Micros,
}

/// The cluster, what may be bought, and who may go.
pub struct Pass<'s, 'w> {
    pub(super) scene: &'s Scene<'w>,
    pub(super) pools: Participants<'w>,
    pub(super) greedy: GreedyOptions,
    pub(super) totals: BTreeMap<&'w str, Totals>,
    pub(super) stop: &'s dyn Fn() -> bool,
    candidates: Vec<Candidate<'w>>,
}

impl<'s, 'w> Pass<'s, 'w> {
    pub fn new(scene: &'s Scene<'w>, settings: &lower::Settings, stop: &'s dyn Fn() -> bool) -> Self {
        let (pools, _) = participating(scene.world, scene.catalog, settings);
        let greedy = GreedyOptions {
            preference_policy: settings.preferences,
            min_values_policy: settings.min_values,
            strict_reservations: false,
            ..GreedyOptions::new(settings.gates)
        };
        let candidates: Vec<_> =
            (0..scene.nodes.len()).filter_map(|n| scene.candidate(n, Class::Graceful).ok()).collect();
        let names = candidates.iter().filter_map(|c| c.pool.map(|p| p.name()));
        let names: BTreeSet<&str> = names.collect();
        let totals = names.into_iter().map(|name| (name, totals(scene, name))).collect();
        Self { scene, pools, greedy, totals, stop, candidates }
    }

    /// The first command in the order of the methods.
    pub fn next(&self) -> Option<Command> {
        let methods = [Self::provision, Self::empty, Self::drift, Self::multi, Self::single];
        methods.into_iter().find_map(|method| method(self))
    }

    /// The command of one method.
    pub fn by(&self, method: Method) -> Option<Command> {
        match method {
            Method::Provisioning => self.provision(),
            Method::Emptiness => self.empty(),
            Method::Drift | Method::TerminateFirst => self.drift(),
            Method::Multi => self.multi(),
            Method::Single => self.single(),
        }
    }

    /// Candidates of consolidation that are not empty, most saved per
    /// disruption first, equal ones by name.
    pub(super) fn consolidatable(&self) -> Vec<&Candidate<'w>> {
        let fit = |c: &&Candidate<'w>| !c.is_empty() && self.scene.consolidatable(c).is_ok();
        self.sorted(self.candidates.iter().filter(fit).collect())
    }

    /// Empty candidates in the same order.
    pub(super) fn emptiable(&self) -> Vec<&Candidate<'w>> {
        let fit = |c: &&Candidate<'w>| c.is_empty() && self.scene.emptiable(c).is_ok();
        self.sorted(self.candidates.iter().filter(fit).collect())
    }

    fn sorted<'c>(&self, mut all: Vec<&'c Candidate<'w>>) -> Vec<&'c Candidate<'w>> {
        all.sort_by(|a, b| b.savings_ratio().total_cmp(&a.savings_ratio()).then(a.node.cmp(&b.node)));
        all
    }

    /// What the budgets leave for `reason`.
    pub(super) fn remaining(&self, reason: Reason) -> Remaining {
        let (all, _) = allowances(&self.scene.world.node_pools, self.scene.census(), reason, self.scene.now);
        Remaining(all.into_iter().map(|(pool, a)| (pool, a.remaining)).collect())
    }

    /// What a pool that takes part may buy.
    pub(super) fn types(&self, pool: &str) -> &[PoolType] {
        self.pools.iter().find(|(p, _)| p.name() == pool).map_or(&[], |(_, t)| &t.types)
    }
}

/// Nodes that may still go, per pool.
pub(super) struct Remaining(BTreeMap<String, i64>);

impl Remaining {
    /// Whether the candidate's pool lets one more go.
    pub fn allows(&self, c: &Candidate<'_>) -> bool {
        c.pool.is_none_or(|p| self.0.get(p.name()).is_some_and(|left| *left > 0))
    }

    /// Takes one node of the candidate's pool off, if there is one to take.
    pub fn take(&mut self, c: &Candidate<'_>) -> bool {
        let Some(pool) = c.pool else { return true };
        match self.0.get_mut(pool.name()).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                true
            }
            None => false,
        }
    }
}
