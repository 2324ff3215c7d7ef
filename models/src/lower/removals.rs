//! Nodes that may be removed: on which terms, and who would need a new place.

use std::collections::BTreeMap;

use millwright_solver::instance::{Budget, Micros, Removal};

use super::LowerError;
use super::classes::refusals;
use super::nodes::{Place, Places};
use super::offers::Offers;
use crate::catalog::{Catalog, price_in_pool, price_of};
use crate::kube::pod::Pod;
use crate::world::World;

/// Which nodes may be removed, and what limits their removal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Removals {
    /// By name of the node, or of the claim while there is no node.
    pub nodes: BTreeMap<String, RemovalTerms>,
    pub budgets: Vec<RemovalBudget>,
}

/// Terms of removing one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RemovalTerms {
    /// Price on the disruption of the node itself.
    pub charge: Micros,
    /// Price on the eviction of each pod that would need a new place.
    pub pod_charge: Micros,
    /// Pods (positions in `World::pods`) whose eviction has another price.
    pub pod_charges: BTreeMap<usize, Micros>,
    /// What it draws from budgets: (index into [`Removals::budgets`], amount).
    pub budgets: Vec<(usize, i64)>,
    /// It must go.
    pub forced: bool,
}

/// A limit on what is drawn by all nodes that are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovalBudget {
    /// In words, unique.
    pub name: String,
    pub max: i64,
}

/// The removals of a world by place.
#[derive(Default)]
pub(super) struct Leavers<'r> {
    pub terms: Vec<Option<&'r RemovalTerms>>,
    /// Price on removing each, its residents' evictions included.
    charges: Vec<Micros>,
    /// Price of each place; 0 where it is unknown.
    pub prices: Vec<Micros>,
    /// Residents: pods (positions in `World::pods`) with their place.
    pub homes: BTreeMap<usize, usize>,
    /// Places that stay whatever the terms say, and why.
    pub stuck: Vec<(usize, String)>,
    pub warnings: Vec<String>,
}

impl<'r> Leavers<'r> {
    pub fn new(
        world: &World,
        catalog: &Catalog,
        offers: &Offers<'_>,
        places: &Places<'_>,
        removals: &'r Removals,
    ) -> Result<Self, LowerError> {
        let mut out =
            Leavers { terms: vec![None; places.0.len()], charges: vec![0; places.0.len()], ..Leavers::default() };
        let known = |name: &str| places.0.iter().any(|p| p.name == name);
        if let Some(name) = removals.nodes.keys().find(|name| !known(name)) {
            return Err(LowerError::NoSuchNode { name: name.clone() });
        }
        for (n, place) in places.0.iter().enumerate() {
            let price = if place.leaving { Some(0) } else { price(catalog, offers, place) };
            out.prices.push(price.unwrap_or(0));
            let Some(terms) = removals.nodes.get(place.name) else { continue };
            match obstacle(world, place, price, terms) {
                Some(why) => {
                    out.warnings.push(format!("node {} cannot be removed: {why}", place.name));
                    out.stuck.push((n, why));
                }
                None => {
                    out.terms[n] = Some(terms);
                    let residents = place.running.iter().filter(|&&p| is_resident(&world.pods[p]));
                    for &p in residents {
                        out.homes.insert(p, n);
                        out.charges[n] += terms.pod_charges.get(&p).copied().unwrap_or(terms.pod_charge);
                    }
                    out.charges[n] += terms.charge;
                }
            }
        }
        Ok(out)
    }

    /// What the solver is told of a place.
    pub fn removal(&self, place: usize) -> Option<Removal> {
        let terms = self.terms[place]?;
        let mut budgets = terms.budgets.clone();
        budgets.sort_unstable();
        Some(Removal { charge: self.charges[place], budgets, forced: terms.forced })
    }
}

/// Limits as the solver wants them.
pub(super) fn budgets(removals: &Removals) -> Vec<Budget> {
    removals.budgets.iter().map(|b| Budget { max: b.max }).collect()
}

/// Whether a bound pod needs a new place when its node goes. DaemonSet and
/// static pods go with it; those that end already need none, unless their
/// StatefulSet makes them again.
pub fn is_resident(pod: &Pod) -> bool {
    let stateful = pod.owner.as_ref().is_some_and(|o| o.kind == "StatefulSet");
    !pod.is_terminal() && (pod.deleted.is_none() || stateful) && !pod.is_daemon() && !pod.is_static
}

fn price(catalog: &Catalog, offers: &Offers<'_>, place: &Place<'_>) -> Option<Micros> {
    let pool = place.pool().and_then(|name| offers.pools.iter().find(|p| p.pool.name() == name));
    pool.and_then(|p| price_in_pool(&p.types.types, &place.labels)).or_else(|| price_of(catalog, &place.labels))
}

/// Why a node stays whatever the terms say.
fn obstacle(world: &World, place: &Place<'_>, price: Option<Micros>, terms: &RemovalTerms) -> Option<String> {
    if place.leaving {
        return Some("it is on its way out already".to_owned());
    }
    if terms.forced {
        return None;
    }
    if price.is_none() {
        return Some("its price is unknown".to_owned());
    }
    place.running.iter().map(|&p| &world.pods[p]).filter(|p| is_resident(p)).find_map(|p| {
        let why = refusals(p, world);
        (!why.is_empty()).then(|| format!("pod {} could not be placed again: {}", p.full_name(), why.join("; ")))
    })
}
