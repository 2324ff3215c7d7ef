//! Which nodes may go in one wave, at what price, and what limits them.
//! (spec 30 §§5 to 9 and 14)

use std::collections::{BTreeMap, BTreeSet};

use millwright_models::lower::{RemovalBudget, RemovalTerms, Removals, is_resident};
use millwright_solver::instance::Micros;

use super::{Limits, forced};
use crate::balanced::{Totals, threshold};
use crate::budgets::{Allowance, BudgetError, Reason, UNLIMITED, allowances};
use crate::candidates::{Candidate, Class, Scene};
use crate::cost;
use crate::drift::{Drift, drift};

/// A node that may go.
#[derive(Clone, Debug)]
pub struct Leaver<'w> {
    pub candidate: Candidate<'w>,
    pub reason: Reason,
}

/// What becomes of drifted nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drifted {
    /// They may go, as any other.
    #[default]
    May,
    /// They go as far as budgets and their pods allow, at whatever price.
    Must,
}

/// The terms of one wave.
#[derive(Debug, Default)]
pub struct Terms<'w> {
    pub removals: Removals,
    /// By node name.
    pub leavers: BTreeMap<&'w str, Leaver<'w>>,
    /// Why other nodes stay, by name.
    pub kept: BTreeMap<&'w str, String>,
    /// Totals of pools with candidates, for scores.
    pub totals: BTreeMap<&'w str, Totals>,
    /// How nodes drifted.
    pub drifted: BTreeMap<&'w str, Drift>,
    /// Budgets that cannot be evaluated: their pools let nothing go.
    pub faults: Vec<(String, BudgetError)>,
}

/// Judges every node. `held` are kept for the reason that stands with them.
pub fn terms<'w>(
    scene: &Scene<'w>,
    price: Micros,
    limits: &Limits,
    held: &BTreeMap<String, String>,
    drift: Drifted,
) -> Terms<'w> {
    let mut out = Terms::default();
    let allowed = Allowed::new(scene, &mut out.faults);
    let mandated = if drift == Drifted::Must { forced::mandated(scene, &allowed) } else { Vec::new() };
    let order: Vec<&str> = mandated.iter().map(|c| scene.nodes[c.node].name()).collect();
    for candidate in mandated.into_iter().filter(|c| !held.contains_key(scene.nodes[c.node].name())) {
        out.leavers.insert(scene.nodes[candidate.node].name(), Leaver { candidate, reason: Reason::Drifted });
    }
    let mut pools_with_candidates: BTreeSet<&str> = BTreeSet::new();
    for n in 0..scene.nodes.len() {
        let name = scene.nodes[n].name();
        if let Some(d) = drifted(scene, n) {
            out.drifted.insert(name, d);
        }
        if let Some(leaver) = out.leavers.get(name) {
            pools_with_candidates.extend(leaver.candidate.pool.map(|p| p.name()));
            continue;
        }
        let candidate = match scene.candidate(n, Class::Graceful) {
            Ok(c) => c,
            Err(why) => {
                out.kept.insert(name, why.to_string());
                continue;
            }
        };
        pools_with_candidates.extend(candidate.pool.map(|p| p.name()));
        match reason(scene, &candidate, out.drifted.contains_key(name), &allowed) {
            _ if held.contains_key(name) => {
                out.kept.insert(name, held[name].clone());
            }
            Err(why) => {
                out.kept.insert(name, why);
            }
            Ok(reason) => {
                out.leavers.insert(name, Leaver { candidate, reason });
            }
        }
    }
    for pool in pools_with_candidates {
        out.totals.insert(pool, totals(scene, pool));
    }
    let mut budgets = Budgets::default();
    let names: Vec<&str> = out.leavers.keys().copied().collect();
    for name in names {
        let leaver = &out.leavers[name];
        let mut terms = charges(scene, leaver, price, &out.totals);
        match budgets.draw(scene, leaver, &allowed, limits) {
            Ok(drawn) => {
                terms.budgets = drawn;
                out.removals.nodes.insert(name.to_owned(), terms);
            }
            Err(why) => {
                out.kept.insert(name, why);
                out.leavers.remove(name);
            }
        }
    }
    out.removals.budgets = budgets.all;
    forced::force(&mut out.removals, &order);
    drop_idle(&mut out.removals);
    out
}

/// Leaves out budgets that all nodes together could not exceed.
fn drop_idle(removals: &mut Removals) {
    let mut most = vec![0; removals.budgets.len()];
    for &(b, amount) in removals.nodes.values().flat_map(|t| &t.budgets) {
        most[b] += amount;
    }
    let mut place = vec![None; most.len()];
    let mut kept = Vec::new();
    for (b, budget) in removals.budgets.drain(..).enumerate() {
        if most[b] > budget.max {
            place[b] = Some(kept.len());
            kept.push(budget);
        }
    }
    removals.budgets = kept;
    for terms in removals.nodes.values_mut() {
        terms.budgets = terms.budgets.iter().filter_map(|&(b, amount)| Some((place[b]?, amount))).collect();
    }
}

/// How node `n` drifted.
pub(crate) fn drifted(scene: &Scene<'_>, n: usize) -> Option<Drift> {
    let node = &scene.nodes[n];
    let (claim, pool) = (node.claim?, node.pool().and_then(|p| scene.world.node_pool(p))?);
    let class = scene.world.node_class(&pool.template.node_class.name);
    drift(claim, pool, class, scene.catalog, scene.now)
}

/// Under which reason a candidate may go: of those that apply the one that
/// the pool allows the most of.
fn reason(scene: &Scene<'_>, c: &Candidate<'_>, drifted: bool, allowed: &Allowed) -> Result<Reason, String> {
    let usual = if c.is_empty() { scene.emptiable(c) } else { scene.consolidatable(c) };
    let usual_reason = if c.is_empty() { Reason::Empty } else { Reason::Underutilized };
    let drift = (drifted && c.pool.is_some_and(|p| p.replicas.is_none())).then_some(Reason::Drifted);
    let Some(pool) = c.pool.map(|p| p.name()) else { return usual.map(|()| usual_reason).map_err(|e| e.to_string()) };
    let choices = usual.as_ref().ok().map(|()| usual_reason).into_iter().chain(drift);
    let best = choices.max_by_key(|r| (allowed.remaining(pool, *r), *r == usual_reason));
    best.ok_or_else(|| usual.map_or_else(|e| e.to_string(), |()| String::new()))
}

/// The price on each disruption. Under Balanced a move must be worth its
/// share of the pool, which is a price too: the dearer of both counts. It is
/// a hair below the threshold, since a score of exactly that is approved.
fn charges(scene: &Scene<'_>, leaver: &Leaver<'_>, price: Micros, totals: &BTreeMap<&str, Totals>) -> RemovalTerms {
    let c = &leaver.candidate;
    let mut terms = RemovalTerms { charge: price, pod_charge: price, ..RemovalTerms::default() };
    let mut whole = price;
    for &p in &c.pods {
        let weight = cost::of_eviction(&scene.world.pods[p], &scene.gates).max(0.0);
        let charge = (price as f64 * weight).round() as Micros;
        whole += charge;
        if charge != price {
            terms.pod_charges.insert(p, charge);
        }
    }
    let balanced = c.pool.filter(|p| p.disruption.policy == "Balanced" && leaver.reason == Reason::Underutilized);
    if let Some(totals) = balanced.and_then(|p| totals.get(p.name())) {
        let worth = (threshold(*totals) * c.rescheduling).ceil() as Micros - 1;
        terms.charge += (worth - whole).max(0);
    }
    terms
}

/// What a pool costs, and what moving all of its pods would count for.
pub(crate) fn totals(scene: &Scene<'_>, pool: &str) -> Totals {
    let mut totals = Totals::default();
    for (n, node) in scene.nodes.iter().enumerate().filter(|(_, n)| n.pool() == Some(pool)) {
        totals.cost += scene.price(n).unwrap_or(0) as f64;
        if node.node.is_some() {
            totals.disruption += scene.rescheduling(n);
        }
    }
    totals
}

/// What the pools' budgets let go, per reason.
pub(super) struct Allowed(BTreeMap<Reason, BTreeMap<String, Allowance>>);

impl Allowed {
    fn new(scene: &Scene<'_>, faults: &mut Vec<(String, BudgetError)>) -> Self {
        let mut all = BTreeMap::new();
        for reason in [Reason::Empty, Reason::Drifted, Reason::Underutilized] {
            let (of_pools, bad) = allowances(&scene.world.node_pools, scene.census(), reason, scene.now);
            for fault in bad {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
            all.insert(reason, of_pools);
        }
        Self(all)
    }

    pub fn remaining(&self, pool: &str, reason: Reason) -> i64 {
        self.0.get(&reason).and_then(|of| of.get(pool)).map_or(0, |a| a.remaining)
    }

    fn of(&self, pool: &str, reason: Reason) -> Option<&Allowance> {
        self.0.get(&reason).and_then(|of| of.get(pool))
    }

    /// The different limits of a pool, ascending.
    fn levels(&self, pool: &str) -> BTreeSet<i64> {
        let limited = self.0.values().filter_map(|of| of.get(pool)).filter(|a| a.allowed < UNLIMITED);
        limited.map(|a| a.remaining).collect()
    }

    /// Reasons with this limit, and the pool's size.
    fn at(&self, pool: &str, level: i64) -> (Vec<&'static str>, u64) {
        let with = self.0.iter().filter_map(|(r, of)| Some((r, of.get(pool)?)));
        let with: Vec<_> = with.filter(|(_, a)| a.remaining == level && a.allowed < UNLIMITED).collect();
        (with.iter().map(|(r, _)| r.as_str()).collect(), with.first().map_or(0, |(_, a)| a.tally.total))
    }
}

/// Budgets in the making.
#[derive(Default)]
struct Budgets {
    all: Vec<RemovalBudget>,
    index: BTreeMap<String, usize>,
}

impl Budgets {
    fn budget(&mut self, name: String, max: i64) -> usize {
        *self.index.entry(name.clone()).or_insert_with(|| {
            self.all.push(RemovalBudget { name, max });
            self.all.len() - 1
        })
    }

    /// What a node draws, or why it cannot go at all.
    fn draw(
        &mut self,
        scene: &Scene<'_>,
        leaver: &Leaver<'_>,
        allowed: &Allowed,
        limits: &Limits,
    ) -> Result<Vec<(usize, i64)>, String> {
        let mut drawn: Vec<(usize, i64)> = Vec::new();
        let c = &leaver.candidate;
        if let Some(pool) = c.pool.map(|p| p.name()) {
            let own = allowed.of(pool, leaver.reason).map_or(0, |a| a.remaining);
            if let Some(a) = allowed.of(pool, leaver.reason).filter(|a| a.remaining == 0) {
                return Err(exhausted(pool, leaver.reason, a));
            }
            // Carried out in the order of their allowances, a removal counts
            // against every reason that allows as much or more.
            for level in allowed.levels(pool).into_iter().filter(|l| *l >= own) {
                let (reasons, total) = allowed.at(pool, level);
                let name = format!(
                    "the disruption budget of NodePool {pool} ({}): {level} of {total} nodes at once",
                    reasons.join(", ")
                );
                drawn.push((self.budget(name, level), 1));
            }
        }
        let mut of_pdb: BTreeMap<usize, i64> = BTreeMap::new();
        // Pods that hold a drifted node are waited for, up to its grace period.
        let counted = if c.has_blockers { &[][..] } else { &scene.nodes[c.node].pods };
        for &p in counted {
            if let Some(b) = scene.pdbs.charged(p, scene.now) {
                *of_pdb.entry(b).or_default() += 1;
            }
        }
        for (b, pods) in of_pdb {
            let (key, max) = (scene.pdbs.key(b), scene.pdbs.allowed(b));
            if pods > max {
                return Err(format!(
                    "PodDisruptionBudget {key} allows {max} evictions, the node runs {pods} such pods"
                ));
            }
            drawn.push((self.budget(format!("PodDisruptionBudget {key}: {max} evictions at once"), max), pods));
        }
        let evicted = scene.nodes[c.node].pods.iter().filter(|p| is_resident(&scene.world.pods[**p])).count() as i64;
        if let Some(most) = limits.evictions {
            if evicted > most {
                return Err(format!("it runs {evicted} pods, more than the {most} evictions asked for"));
            }
            if evicted > 0 {
                drawn.push((self.budget(format!("the {most} evictions asked for"), most), evicted));
            }
        }
        if let Some(most) = limits.removed {
            if most == 0 {
                return Err("no node is to be removed, as asked for".to_owned());
            }
            drawn.push((self.budget(format!("the {most} removed nodes asked for"), most), 1));
        }
        drawn.sort_unstable();
        Ok(drawn)
    }
}

fn exhausted(pool: &str, reason: Reason, a: &Allowance) -> String {
    let reason = reason.as_str();
    if a.allowed == 0 {
        return format!("the disruption budget of NodePool {pool} allows no node to go now ({reason})");
    }
    format!(
        "the disruption budget of NodePool {pool} is used up: {} of {} nodes may be disrupted ({reason}), {} are",
        a.allowed, a.tally.total, a.tally.disrupting
    )
}
