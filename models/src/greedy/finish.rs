//! From the pass to the plan (spec 20 §4.6, §4.7, §9).

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::bits::Bits;
use super::claim::Claim;
use super::pass::{Outcome, Pass};
use super::shape::Shape;
use super::template::{Template, fits};
use super::{GreedyClaim, GreedyPlan, MinValuesPolicy};
use crate::catalog::pool_types::CapacityType;
use crate::karpenter::labels::{CAPACITY_TYPE, INITIALIZED, REGISTERED, RESERVATION_ID, RESERVED};
use crate::requirements::{Requirement, Requirements};

/// Launchable offerings of a template under one requirement set.
#[derive(Debug)]
struct Prices {
    /// Types by their cheapest offering, then by name.
    order: Vec<u32>,
    /// Per type its cheapest offering: price and place.
    cheapest: Vec<Option<(i64, usize)>>,
    zones: Vec<Arc<str>>,
    /// Per type: zones by place in `zones`, capacity types by bit.
    offered: Vec<(Bits, u8)>,
}

const CAPACITY_TYPES: [CapacityType; 3] = [CapacityType::OnDemand, CapacityType::Spot, CapacityType::Reserved];

impl Prices {
    fn new(template: &Template<'_>, set: &Requirements) -> Self {
        let launchable = |t: usize| {
            let all = template.types[t].offerings.iter().enumerate();
            all.filter(|(_, o)| o.launchable() && fits(set, o))
        };
        let n = template.types.len();
        let cheapest: Vec<_> = (0..n).map(|t| launchable(t).map(|(i, o)| (o.price, i)).min()).collect();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|t| (cheapest[*t as usize].map_or(i64::MAX, |(p, _)| p), *t));
        let mut zones: Vec<Arc<str>> = (0..n).flat_map(|t| launchable(t).map(|(_, o)| o.zone.clone())).collect();
        zones.sort();
        zones.dedup();
        let offered = |t| {
            let mut kinds = 0;
            let in_zones = launchable(t).filter_map(|(_, o)| {
                kinds |= 1 << CAPACITY_TYPES.iter().position(|c| *c == o.capacity_type).unwrap_or(0);
                zones.binary_search(&o.zone).ok()
            });
            let in_zones: Bits = in_zones.collect();
            (in_zones, kinds)
        };
        let offered = (0..n).map(offered).collect();
        Self { order, cheapest, zones, offered }
    }
}

/// Writes the plan.
pub(super) fn finish(mut pass: Pass<'_>, shapes: &[Shape], stopped: bool) -> GreedyPlan {
    let mut plan = GreedyPlan { stopped, ..GreedyPlan::default() };
    let mut reasons: FxHashMap<(usize, bool), Vec<String>> = FxHashMap::default();
    for (pod, shape, outcome) in std::mem::take(&mut pass.left) {
        let waits = outcome == Outcome::Deferred;
        let why = reasons.entry((shape, waits)).or_insert_with(|| pass.reasons(&shapes[shape], waits));
        plan.unscheduled.push((pod, why.clone()));
        if waits {
            plan.deferred.push(pod);
        }
    }
    let claims = std::mem::take(&mut pass.claims);
    let mut prices: FxHashMap<(usize, Requirements), Rc<Prices>> = FxHashMap::default();
    for claim in claims {
        let set = final_set(&pass, &claim);
        let template = &pass.templates[claim.template];
        let priced = prices.entry((claim.template, set)).or_insert_with_key(|(_, s)| Rc::new(Prices::new(template, s)));
        let priced = priced.clone();
        let types: Vec<u32> = priced.order.iter().copied().filter(|t| claim.types.get(*t as usize)).collect();
        let kept = &types[..types.len().min(pass.options.max_types)];
        match dropped(&mut pass, &claim, kept) {
            Some(reason) => plan.unscheduled.extend(claim.pods.iter().map(|p| (*p, vec![reason.clone()]))),
            None => plan.claims.push(listed(&pass, &claim, &priced, kept)),
        }
    }
    for (node, name) in pass.nodes.iter_mut().zip(&pass.names).filter(|(n, _)| !n.placed.is_empty()) {
        plan.existing.push((name.clone(), std::mem::take(&mut node.placed)));
    }
    plan.unscheduled.sort_unstable_by_key(|(pod, _)| *pod);
    plan.cost = plan.claims.iter().map(|c| c.price).fold(0, i64::saturating_add);
    plan
}

/// Why truncation makes the claim impossible, if it does.
fn dropped(pass: &mut Pass<'_>, claim: &Claim, kept: &[u32]) -> Option<String> {
    if kept.len() == claim.types.count() || pass.options.min_values_policy == MinValuesPolicy::BestEffort {
        return None;
    }
    let template = &mut pass.templates[claim.template];
    let class = template.class(&pass.book, claim.req);
    let kept: Bits = kept.iter().map(|t| *t as usize).collect();
    let unmet = class.min_values.iter().find(|m| !m.is_met(&kept))?;
    let pool = template.pool.name();
    Some(format!("NodePool {pool:?} could not meet minValues {} of {} with its cheapest types", unmet.need, unmet.key))
}

/// The claim's requirements as they are written, reservations included.
fn final_set(pass: &Pass<'_>, claim: &Claim) -> Requirements {
    let mut set = pass.book.set(claim.req).clone();
    if !claim.held.is_empty() {
        set.remove(CAPACITY_TYPE);
        set.add(Requirement::is(CAPACITY_TYPE, RESERVED));
        let names = claim.held.iter().map(|id| pass.reservations.name(*id).to_owned());
        set.add(Requirement { values: names.collect(), ..Requirement::is(RESERVATION_ID, "") });
    }
    set
}

fn listed(pass: &Pass<'_>, claim: &Claim, prices: &Prices, kept: &[u32]) -> GreedyClaim {
    let template = &pass.templates[claim.template];
    let (mut zones, mut kinds) = (Bits::default(), 0);
    for t in kept {
        let (z, k) = &prices.offered[*t as usize];
        zones.or(z);
        kinds |= k;
    }
    let capacity_types: Vec<CapacityType> = (0..3).filter(|i| kinds >> i & 1 == 1).map(|i| CAPACITY_TYPES[i]).collect();
    let mut requirements = final_set(pass, claim);
    requirements.remove(REGISTERED);
    requirements.remove(INITIALIZED);
    if !capacity_types.is_empty() {
        let values = capacity_types.iter().map(|c| c.as_str().to_owned()).collect();
        requirements.add(Requirement { values, ..Requirement::is(CAPACITY_TYPE, "") });
    }
    let cheapest = kept.first().and_then(|t| Some((*t, prices.cheapest[*t as usize]?)));
    let offering = |(t, (_, o)): (u32, (i64, usize))| {
        let offering = &template.types[t as usize].offerings[o];
        (t, offering.zone.clone(), offering.capacity_type)
    };
    GreedyClaim {
        pool: template.pool.name().to_owned(),
        types: kept.to_vec(),
        zones: zones.iter().map(|z| prices.zones[z].clone()).collect(),
        capacity_types,
        requirements,
        pods: claim.pods.clone(),
        price: cheapest.map_or(0, |(_, (price, _))| price),
        cheapest: cheapest.map(offering),
        min_values_relaxed: claim.min_values_relaxed,
    }
}
