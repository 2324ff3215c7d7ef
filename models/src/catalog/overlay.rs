//! NodeOverlays: prices and extended resources that users add.
//!
//! Semantics: `spec/20-scheduling.md` §13.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::money::Decimal;
use super::pool_types::{Candidate, PoolOffering};
use crate::karpenter::labels;
use crate::karpenter::nodepool::NodePool;
use crate::karpenter::overlay::NodeOverlay;
use crate::kube::selector::{Expression, Operator};
use crate::resources::{MEMORY, Resources};

/// Resources whose amount the provider knows: an overlay may not state them.
const KNOWN_RESOURCES: [&str; 9] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "pods",
    "vpc.amazonaws.com/pod-eni",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "habana.ai/gaudi",
    "vpc.amazonaws.com/efa",
];

/// A pool with its types.
pub(super) struct Pool<'a> {
    pub pool: &'a NodePool,
    pub candidates: Vec<Candidate>,
    pub warnings: Vec<String>,
}

/// A change of price.
#[derive(Clone, Copy, Debug)]
enum Change {
    Set(i64),
    Add(Decimal),
    Percent(Decimal),
}

impl Change {
    /// The change an overlay asks for, `None` if it leaves prices alone.
    fn of(overlay: &NodeOverlay) -> Result<Option<Self>, String> {
        let decimal = |field: &str, text: &str| text.parse::<Decimal>().map_err(|e| format!("spec.{field}: {e}"));
        match (overlay.price.as_deref(), overlay.price_adjustment.as_deref()) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err("spec.price and spec.priceAdjustment exclude each other".to_owned()),
            (Some(text), None) => {
                let micros = decimal("price", text)?.micros().filter(|m| *m >= 0 && !text.starts_with(['+', '-']));
                Ok(Some(Self::Set(micros.ok_or_else(|| format!("spec.price: {text:?} is no price"))?)))
            }
            (None, Some(text)) => {
                if !text.starts_with(['+', '-']) {
                    return Err(format!("spec.priceAdjustment: {text:?} does not begin with + or -"));
                }
                let Some(percent) = text.strip_suffix('%') else {
                    return Ok(Some(Self::Add(decimal("priceAdjustment", text)?)));
                };
                let percent = decimal("priceAdjustment", percent)?;
                if percent.cmp_whole(-100).is_lt() {
                    return Err(format!("spec.priceAdjustment: {text:?} is below -100%"));
                }
                Ok(Some(Self::Percent(percent)))
            }
        }
    }

    /// The price after the change, never below 0.
    fn on(self, price: i64) -> i64 {
        let changed = match self {
            Self::Set(price) => Some(price),
            Self::Add(amount) => amount.plus_micros(price),
            Self::Percent(percent) => percent.percent_on(price),
        };
        changed.unwrap_or(i64::MAX).max(0)
    }
}

/// What overlays did to one type so far; they come by falling weight.
#[derive(Default)]
struct Touched {
    /// Weight of the last overlay that named the offering's price.
    prices: BTreeMap<usize, i32>,
    /// Weight of the last overlay that named the resource.
    resources: BTreeMap<String, i32>,
}

/// Pool, type, and the offerings that an overlay names.
type Target = (usize, usize, Vec<usize>);

/// Applies `overlays` to all pools at once. An overlay that conflicts with
/// another one of its weight anywhere is applied nowhere.
pub(super) fn apply(overlays: &[NodeOverlay], pools: &mut [Pool]) {
    let mut ordered: Vec<&NodeOverlay> = overlays.iter().collect();
    ordered.sort_by(|a, b| (b.weight, &b.meta.name).cmp(&(a.weight, &a.meta.name)));
    let mut warnings = Vec::new();
    let priced: Vec<Vec<usize>> = pools.iter_mut().map(admit_unpriced).collect();
    let mut touched: Vec<Vec<Touched>> =
        pools.iter().map(|p| p.candidates.iter().map(|_| Touched::default()).collect()).collect();
    for overlay in ordered {
        let change = match valid(overlay) {
            Ok(change) => change,
            Err(problem) => {
                warnings.push(format!("NodeOverlay {}: {problem}; not applied", overlay.meta.name));
                continue;
            }
        };
        let targets = targets(overlay, pools);
        if let Some(what) = conflict(overlay, change, &targets, pools, &touched) {
            warnings.push(format!(
                "NodeOverlay {}: conflict with another overlay of weight {} on {what}; not applied",
                overlay.meta.name, overlay.weight
            ));
            continue;
        }
        let names_types = prices_types_alone(overlay);
        for (p, t, mut offerings) in targets {
            if !names_types {
                offerings.retain(|i| *i < priced[p][t]);
            }
            let candidate = &mut pools[p].candidates[t];
            apply_to(overlay, change, candidate, &offerings, &mut touched[p][t]);
        }
    }
    for (pool, from) in pools.iter_mut().zip(priced) {
        drop_unpriced(pool, &from);
        pool.warnings.extend(warnings.iter().cloned());
    }
}

/// Only an absolute price on named types, and nothing else, gives a price to
/// offerings that have none.
fn prices_types_alone(overlay: &NodeOverlay) -> bool {
    let on_types = |e: &Expression| e.operator == Operator::In && labels::normalise(&e.key) == labels::INSTANCE_TYPE;
    overlay.price.is_some() && matches!(overlay.requirements.as_slice(), [one] if on_types(one))
}

fn valid(overlay: &NodeOverlay) -> Result<Option<Change>, String> {
    if let Some((name, _)) = overlay.capacity.iter().find(|(name, _)| KNOWN_RESOURCES.contains(name)) {
        return Err(format!("spec.capacity: {name} is not for overlays to state"));
    }
    for e in &overlay.requirements {
        if labels::is_restricted(labels::normalise(&e.key)) {
            return Err(format!("spec.requirements: label {} is restricted", e.key));
        }
        if matches!(e.operator, Operator::In | Operator::NotIn) && e.values.is_empty() {
            return Err(format!("spec.requirements: {} {:?} needs values", e.key, e.operator));
        }
    }
    Change::of(overlay)
}

/// Lists offerings without a price among the others while overlays look for
/// theirs; tells per type where they begin.
fn admit_unpriced(pool: &mut Pool) -> Vec<usize> {
    let admit = |c: &mut Candidate| {
        let from = c.kind.offerings.len();
        c.kind.offerings.append(&mut c.unpriced);
        from
    };
    pool.candidates.iter_mut().map(admit).collect()
}

/// Forgets those that no absolute price reached.
fn drop_unpriced(pool: &mut Pool, from: &[usize]) {
    for (candidate, from) in pool.candidates.iter_mut().zip(from) {
        let mut index = 0;
        candidate.kind.offerings.retain(|o| {
            index += 1;
            index <= *from || o.overlaid
        });
        candidate.kind.offerings.sort_by(|a, b| order(a).cmp(&order(b)));
        let has = |kind: &str| candidate.kind.offerings.iter().any(|o| o.capacity_type.as_str() == kind);
        let kinds = [labels::ON_DEMAND, labels::RESERVED, labels::SPOT].into_iter().filter(|k| has(k));
        candidate.facts.set(labels::CAPACITY_TYPE, kinds.map(str::to_owned).collect());
    }
}

fn order(o: &PoolOffering) -> (&str, &str, Option<&str>) {
    (&o.zone, o.capacity_type.as_str(), o.reservation.as_ref().map(|r| r.id.as_str()))
}

fn targets(overlay: &NodeOverlay, pools: &[Pool]) -> Vec<Target> {
    let mut all = Vec::new();
    for (p, pool) in pools.iter().enumerate() {
        for (t, candidate) in pool.candidates.iter().enumerate() {
            let facts = of_template(pool.pool, &candidate.facts);
            if !facts.meets(&overlay.requirements, false) {
                continue;
            }
            let named: Vec<usize> = candidate
                .kind
                .offerings
                .iter()
                .enumerate()
                .filter(|(_, o)| of_offering(&facts, o).meets(&overlay.requirements, false))
                .map(|(i, _)| i)
                .collect();
            if !named.is_empty() {
                all.push((p, t, named));
            }
        }
    }
    all
}

fn of_template(pool: &NodePool, facts: &Facts) -> Facts {
    let mut all = facts.clone();
    for (key, value) in &pool.template.labels {
        all.assume(labels::normalise(key), &[value]);
    }
    all.set(labels::NODEPOOL, vec![pool.meta.name.clone()]);
    all
}

fn of_offering(facts: &Facts, o: &PoolOffering) -> Facts {
    let mut all = facts.clone();
    all.set(labels::ZONE, vec![o.zone.to_string()]);
    all.set(labels::CAPACITY_TYPE, vec![o.capacity_type.as_str().to_owned()]);
    all.set(labels::RESERVATION_ID, o.reservation.iter().map(|r| r.id.clone()).collect());
    all
}

/// What `overlay` and an earlier one of its weight both name.
fn conflict(
    overlay: &NodeOverlay,
    change: Option<Change>,
    targets: &[Target],
    pools: &[Pool],
    touched: &[Vec<Touched>],
) -> Option<String> {
    targets.iter().find_map(|(p, t, offerings)| {
        let before = &touched[*p][*t];
        let kind = &pools[*p].candidates[*t].kind;
        let price = offerings.iter().find(|i| change.is_some() && before.prices.get(i) == Some(&overlay.weight));
        let resource = overlay.capacity.iter().find(|(name, _)| before.resources.get(*name) == Some(&overlay.weight));
        match (price, resource) {
            (Some(_), _) => Some(format!("the price of {} in NodePool {}", kind.name, pools[*p].pool.meta.name)),
            (None, Some((name, _))) => {
                Some(format!("{name} of {} in NodePool {}", kind.name, pools[*p].pool.meta.name))
            }
            (None, None) => None,
        }
    })
}

/// The first overlay to name a price or a resource wins.
fn apply_to(
    overlay: &NodeOverlay,
    change: Option<Change>,
    candidate: &mut Candidate,
    offerings: &[usize],
    touched: &mut Touched,
) {
    for &i in offerings {
        let Some(change) = change else { break };
        let first = touched.prices.insert(i, overlay.weight).is_none();
        let offering = &mut candidate.kind.offerings[i];
        if first {
            offering.price = change.on(offering.price);
            offering.overlaid = true;
        }
    }
    for (name, amount) in overlay.capacity.iter() {
        if touched.resources.insert(name.to_owned(), overlay.weight).is_none() {
            add_capacity(&mut candidate.kind.capacity, &mut candidate.kind.allocatable, name, amount);
            candidate.kind.overlaid = true;
        }
    }
}

/// Huge pages are cut out of ordinary memory.
fn add_capacity(capacity: &mut Resources, allocatable: &mut Resources, name: &str, amount: i64) {
    capacity.set(name, amount);
    allocatable.set(name, amount);
    if name.starts_with("hugepages-") {
        allocatable.set(MEMORY, (allocatable.get(MEMORY) - amount).max(0));
    }
}
