//! From values in doubles to a certificate in integers.

use std::collections::BTreeSet;

use super::duals::{Duals, Multipliers};
use super::reduced::{Reduced, Spot};
use crate::certificate::{BinProof, Certificate, DomainDuals, Item, Nanos, NodeProof, SplitDuals, U_SHIFT};
use crate::check::{self, BrokenProof};
use crate::instance::{Instance, Micros};
use crate::plan::{NewNode, Plan};

/// A certificate with all values multiplied by `factor` and rounded down.
pub(super) fn certificate(
    instance: &Instance,
    reduced: &Reduced,
    duals: &Duals,
    u: &Multipliers,
    factor: f64,
) -> Certificate {
    let down = |v: f64| (v.max(0.0) * factor * 1e9).floor().min(1e18) as Nanos;
    let signed = |v: f64| (v * factor * 1e9).floor().clamp(-1e18, 1e18) as Nanos;
    let mut items: Vec<Option<Item>> = vec![None; reduced.served.len()];
    for f in &reduced.families {
        let by_domain = f.key.map(|key| {
            let mut dual = vec![0; instance.domains[key] as usize];
            for &i in &f.items {
                if let Some(d) = reduced.items[i].domain {
                    dual[d as usize] = down(duals.value[i]);
                }
            }
            DomainDuals { key, dual }
        });
        let dual = match (&by_domain, f.items.first()) {
            (None, Some(&i)) => down(duals.value[i]),
            _ => 0,
        };
        for &m in &f.members {
            let (shape, tier, count) = reduced.served[m];
            items[m] = Some(Item { shape, tier, count, dual, by_domain: by_domain.clone() });
        }
    }
    let mut seen: BTreeSet<(usize, Vec<i64>)> = BTreeSet::new();
    let mut bins = Vec::with_capacity(reduced.bins.len());
    for (spot, u) in reduced.bins.iter().zip(&u.bins) {
        let u = integers(instance, reduced, u, factor);
        if seen.insert((spot.at, u.clone())) {
            bins.push(BinProof { bin: spot.at, u });
        }
    }
    let node = |(spot, u): (&Spot, &Vec<f64>)| NodeProof { node: spot.at, u: integers(instance, reduced, u, factor) };
    let splits = reduced.splits.iter().zip(&duals.rho);
    Certificate {
        roundings: reduced.roundings.clone(),
        items: items.into_iter().flatten().collect(),
        bins,
        nodes: reduced.nodes.iter().zip(&u.nodes).map(node).collect(),
        limit_duals: duals.limit.iter().map(|&v| down(v)).collect(),
        supply_duals: duals.supply.iter().map(|&v| down(v)).collect(),
        budget_duals: duals.budget.iter().map(|&v| down(v)).collect(),
        splits: splits
            .map(|(s, rho)| SplitDuals { rule: s.rule, dual: rho.iter().map(|&v| signed(v)).collect() })
            .collect(),
    }
}

/// Most attempts to have values accepted.
const ATTEMPTS: u32 = 40;

/// The bound and certificate of the largest share of the values that the
/// verifier accepts: all but what rounding takes, unless a bin turns out to be
/// worth more than it seemed.
pub(super) fn accepted(
    instance: &Instance,
    stand_in: &Plan,
    made: impl Fn(f64) -> Certificate,
    stop: &dyn Fn() -> bool,
) -> Option<(Micros, Certificate)> {
    let mut factor = 1.0 - 1e-9;
    let mut loss = 1e-9;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 && stop() {
            return None;
        }
        let certificate = made(factor);
        match check::certificate(instance, stand_in, &certificate) {
            Ok(bound) => return Some((bound, certificate)),
            Err(BrokenProof::Bin { worth, price, .. }) if worth > 0 && price > 0 => {
                factor *= (price as f64 / worth as f64).min(1.0) * (1.0 - loss);
            }
            Err(_) => factor *= 1.0 - loss,
        }
        loss = (loss * 4.0).min(0.5);
    }
    None
}

fn integers(instance: &Instance, reduced: &Reduced, u: &[f64], factor: f64) -> Vec<i64> {
    let mut out = vec![0; instance.dims + reduced.roundings.len()];
    let units = instance.dims..out.len();
    for (d, &v) in reduced.dims.iter().copied().chain(units).zip(u) {
        // Up: by multipliers a little too low, all the pods whose values they
        // explain exactly, as in a fluid relaxation, would each be worth more.
        out[d] = (v.max(0.0) * factor * 1e9 * f64::from(1u32 << U_SHIFT)).ceil().min(9e18) as i64;
    }
    out
}

/// A plan that serves exactly the pods of the bound: what the verifier needs
/// to judge the certificate alone.
pub(super) fn stand_in(instance: &Instance, reduced: &Reduced) -> Plan {
    let mut counts = vec![0i64; instance.shapes.len()];
    let mut demoted: Vec<(usize, usize, u32)> = Vec::new();
    for &(s, t, c) in &reduced.served {
        counts[s] += i64::from(c);
        if t > 0 {
            demoted.push((s, t, c));
        }
    }
    // Nodes stay where they may: their residents are all served. Of those that
    // must go some may not be.
    let mut removed = Vec::new();
    for (n, node) in instance.nodes.iter().enumerate() {
        match &node.removal {
            Some(r) if r.forced => removed.push(n),
            Some(_) => {
                let valued = node.residents.iter().filter(|r| !instance.shapes[r.0].tiers.is_empty());
                valued.for_each(|&(s, c)| counts[s] -= i64::from(c));
            }
            None => {}
        }
    }
    demoted.sort_unstable();
    demoted.dedup_by(|b, a| {
        let same = (a.0, a.1) == (b.0, b.1);
        if same {
            a.2 += b.2;
        }
        same
    });
    let contents =
        counts.iter().enumerate().filter(|c| *c.1 > 0).map(|(s, &c)| (s, u32::try_from(c).unwrap_or(u32::MAX)));
    Plan { bought: vec![NewNode { bin: 0, contents: contents.collect() }], removed, demoted, ..Plan::default() }
}
