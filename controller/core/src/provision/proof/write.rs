//! Certificate to JSON.

use millwright_models::catalog::Catalog;
use millwright_models::lower::{BinSource, Lowered};
use millwright_models::world::World;
use millwright_solver::certificate::Certificate;
use millwright_solver::engine::Outcome;
use serde_json::{Map, Value, json};

use super::super::Options;
use super::VERSION;
use super::names::{RowName, dims, unit_name};

/// The certificate of an outcome.
pub fn to_json(world: &World, catalog: &Catalog, lowered: &Lowered<'_>, outcome: &Outcome, options: &Options) -> Value {
    let certificate = &outcome.certificate;
    let like = |shape: usize| world.pods[lowered.shape_pods[shape][0]].full_name();
    let items: Vec<Value> = certificate
        .items
        .iter()
        .map(|item| {
            let zones = item
                .by_domain
                .as_ref()
                .map(|by| json!({"key": lowered.domain_keys[by.key], "duals": by_value(lowered, by.key, &by.dual)}));
            json!({"like": like(item.shape), "tier": item.tier, "count": item.count, "dual": item.dual, "zones": zones})
        })
        .collect();
    let demoted: Vec<Value> = outcome
        .plan
        .demoted
        .iter()
        .map(|&(shape, tier, count)| json!({"like": like(shape), "tier": tier, "count": count}))
        .collect();
    json!({
        "version": VERSION,
        "options": options_json(catalog, options),
        "roundings": certificate.roundings.iter().enumerate().map(|(i, r)| {
            json!({"name": unit_name(i), "resource": dims(lowered)[r.dim], "unit": r.unit})
        }).collect::<Vec<_>>(),
        "items": items,
        "bins": bins(lowered, certificate),
        "limit_duals": named(&lowered.limit_names, &certificate.limit_duals, |(pool, resource), dual| {
            json!({"pool": pool, "resource": resource, "dual": dual})
        }),
        "supply_duals": named(&lowered.supply_names, &certificate.supply_duals, |id, dual| {
            json!({"reservation": id, "dual": dual})
        }),
        "splits": splits(lowered, certificate),
        "demoted": demoted,
        "budget_duals": named(&lowered.budget_names, &certificate.budget_duals, |name, dual| {
            json!({"budget": name, "dual": dual})
        }),
        "leaves": [],
    })
}

fn options_json(catalog: &Catalog, options: &Options) -> Value {
    let lower = &options.lower;
    json!({
        "region": catalog.region,
        "catalog_digest": catalog.digest,
        "spot_types": lower.spot_types,
        "preference_policy": format!("{:?}", lower.preferences),
        "min_values_policy": format!("{:?}", lower.min_values),
        "feature_gates": lower.gates.to_string(),
        "now": options.now,
    })
}

fn by_value(lowered: &Lowered<'_>, key: usize, duals: &[i64]) -> Value {
    let values = &lowered.domain_values[key];
    values.iter().zip(duals).map(|(v, d)| (v.clone(), json!(d))).collect::<Map<String, Value>>().into()
}

fn multipliers(lowered: &Lowered<'_>, u: &[i64]) -> Value {
    let own = dims(lowered);
    let units = (0..u.len().saturating_sub(own.len())).map(unit_name);
    let names = own.into_iter().cloned().chain(units);
    names.zip(u).filter(|(_, m)| **m != 0).map(|(n, m)| (n, json!(m))).collect::<Map<String, Value>>().into()
}

fn bins(lowered: &Lowered<'_>, certificate: &Certificate) -> Vec<Value> {
    let mut out = Vec::new();
    for proof in &certificate.bins {
        // Envelopes need no proof: each of their members has one.
        if let BinSource::Row(row) = lowered.bins[proof.bin] {
            let mut bin = RowName::of(lowered, row).to_json();
            bin.insert("u".to_owned(), multipliers(lowered, &proof.u));
            out.push(bin.into());
        }
    }
    for proof in &certificate.nodes {
        out.push(json!({"node": lowered.places[proof.node].name, "u": multipliers(lowered, &proof.u)}));
    }
    out
}

fn named<N>(names: &[N], duals: &[i64], write: impl Fn(&N, i64) -> Value) -> Vec<Value> {
    names.iter().zip(duals).filter(|(_, d)| **d != 0).map(|(n, d)| write(n, *d)).collect()
}

fn splits(lowered: &Lowered<'_>, certificate: &Certificate) -> Vec<Value> {
    certificate
        .splits
        .iter()
        .filter_map(|split| match lowered.instance.rules[split.rule].key {
            millwright_solver::instance::Key::Domain(key) => Some(json!({
                "rule": split.rule,
                "words": lowered.rule_names[split.rule],
                "duals": by_value(lowered, key, &split.dual),
            })),
            millwright_solver::instance::Key::Host => None,
        })
        .collect()
}
