//! JSON to plan and certificate.

use std::collections::BTreeMap;

use millwright_models::catalog::Catalog;
use millwright_models::lower::{self, Lowered, MinValuesPolicy, PreferencePolicy};
use millwright_models::world::World;
use millwright_solver::certificate::{BinProof, Certificate, DomainDuals, Item, NodeProof, Rounding, SplitDuals};
use millwright_solver::instance::Key;
use serde_json::Value;

use super::VERSION;
use super::names::{RowName, dims, unit_name};

/// Why a plan cannot be checked at all. Each names the place in the file.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// A field is missing or of another form.
    #[error("{path}: {what}")]
    Form { path: String, what: String },
    /// Written by another version.
    #[error("certificate.version is {0}, this program reads version {VERSION}")]
    Version(u64),
    /// The inputs cannot be compiled under the file's options.
    #[error("the inputs cannot be compiled under certificate.options: {0}")]
    Lower(#[from] lower::LowerError),
}

/// A form error.
pub fn form(path: impl Into<String>, what: impl Into<String>) -> ProofError {
    ProofError::Form { path: path.into(), what: what.into() }
}

/// A list field; absent counts as empty.
pub fn list<'v>(value: &'v Value, path: &str, key: &str) -> Result<&'v [Value], ProofError> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(form(format!("{path}.{key}"), "is not a list")),
    }
}

/// A text field.
pub fn text<'v>(value: &'v Value, path: &str, key: &str) -> Result<&'v str, ProofError> {
    value.get(key).and_then(Value::as_str).ok_or_else(|| form(format!("{path}.{key}"), "is no text"))
}

/// An integer field.
pub fn integer(value: &Value, path: &str, key: &str) -> Result<i64, ProofError> {
    value.get(key).and_then(Value::as_i64).ok_or_else(|| form(format!("{path}.{key}"), "is no integer"))
}

/// Money in dollars as micro-dollars.
pub fn micros(value: &Value, path: &str, key: &str) -> Result<i64, ProofError> {
    let dollars = value.get(key).and_then(Value::as_f64).filter(|d| d.is_finite() && d.abs() < 1e12);
    let dollars = dollars.ok_or_else(|| form(format!("{path}.{key}"), "is no price"))?;
    Ok((dollars * 1e6).round() as i64)
}

/// The lowering options of a certificate.
pub fn settings(certificate: &Value) -> Result<lower::Settings, ProofError> {
    match certificate.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return Err(ProofError::Version(other)),
        None => return Err(form("certificate.version", "is no integer")),
    }
    let path = "certificate.options";
    let options = certificate.get("options").ok_or_else(|| form(path, "is missing"))?;
    let preferences = match text(options, path, "preference_policy")? {
        "Respect" => PreferencePolicy::Respect,
        "Ignore" => PreferencePolicy::Ignore,
        other => return Err(form(format!("{path}.preference_policy"), format!("is {other}"))),
    };
    let min_values = match text(options, path, "min_values_policy")? {
        "Strict" => MinValuesPolicy::Strict,
        "BestEffort" => MinValuesPolicy::BestEffort,
        other => return Err(form(format!("{path}.min_values_policy"), format!("is {other}"))),
    };
    let gates = text(options, path, "feature_gates")?
        .parse()
        .map_err(|e| form(format!("{path}.feature_gates"), format!("{e}")))?;
    Ok(lower::Settings { preferences, min_values, gates, spot_types: 1 })
}

/// The terms of removal that an audit was made under; none for a plan.
pub fn removals(
    world: &World,
    catalog: &Catalog,
    settings: &lower::Settings,
    certificate: &Value,
) -> Result<Option<lower::Removals>, ProofError> {
    let options = &certificate["options"];
    let Some(audit) = options.get("audit") else { return Ok(None) };
    let path = "certificate.options";
    let now = text(options, path, "now")?.parse().map_err(|e| form(format!("{path}.now"), format!("{e}")))?;
    let removals = crate::consolidate::removals(world, catalog, settings.gates, now, audit);
    removals.map(Some).map_err(|what| form(format!("{path}.audit"), what))
}

/// The nodes that a file removes, ascending.
pub fn removed(names: &Names<'_>, file: &Value) -> Result<Vec<usize>, ProofError> {
    let mut out = Vec::new();
    for (i, name) in list(file, "", "removed_nodes")?.iter().enumerate() {
        let path = format!("removed_nodes[{i}]");
        let name = name.as_str().ok_or_else(|| form(&path, "is no name"))?;
        out.push(*names.places.get(name).ok_or_else(|| form(&path, format!("there is no node {name}")))?);
    }
    out.sort_unstable();
    out.dedup();
    Ok(out)
}

/// Shapes of pods by name.
pub struct Names<'w> {
    pub shape_of: BTreeMap<String, usize>,
    pub rows: BTreeMap<RowName, usize>,
    pub places: BTreeMap<&'w str, usize>,
}

impl<'w> Names<'w> {
    pub fn new(world: &World, lowered: &Lowered<'w>) -> Self {
        let mut shape_of = BTreeMap::new();
        for (shape, pods) in lowered.shape_pods.iter().enumerate() {
            for &p in pods {
                shape_of.insert(world.pods[p].full_name(), shape);
            }
        }
        Self {
            shape_of,
            rows: RowName::index(lowered),
            places: lowered.places.iter().enumerate().map(|(i, p)| (p.name, i)).collect(),
        }
    }

    /// The shape of a pod named in the file.
    pub fn shape(&self, pod: &str, path: &str) -> Result<usize, ProofError> {
        self.shape_of.get(pod).copied().ok_or_else(|| form(path, format!("pod {pod} does not wait for a place")))
    }
}

/// The pods served in later tiers: (shape, tier, count).
pub fn demoted(names: &Names<'_>, certificate: &Value) -> Result<Vec<(usize, usize, u32)>, ProofError> {
    let mut out = Vec::new();
    for (i, entry) in list(certificate, "certificate", "demoted")?.iter().enumerate() {
        let path = format!("certificate.demoted[{i}]");
        let shape = names.shape(text(entry, &path, "like")?, &path)?;
        out.push((shape, index(entry, &path, "tier")?, count(entry, &path)?));
    }
    out.sort_unstable();
    Ok(out)
}

/// The certificate in the solver's terms.
pub fn certificate(names: &Names<'_>, lowered: &Lowered<'_>, value: &Value) -> Result<Certificate, ProofError> {
    let mut out = Certificate { roundings: roundings(lowered, value)?, ..Certificate::default() };
    for (i, entry) in list(value, "certificate", "items")?.iter().enumerate() {
        let path = format!("certificate.items[{i}]");
        let shape = names.shape(text(entry, &path, "like")?, &path)?;
        let by_domain = match entry.get("zones") {
            None | Some(Value::Null) => None,
            Some(zones) => {
                let key = text(zones, &path, "key")?;
                let key = lowered
                    .domain_keys
                    .iter()
                    .position(|k| k == key)
                    .ok_or_else(|| form(format!("{path}.zones.key"), format!("no rule uses the key {key}")))?;
                Some(DomainDuals { key, dual: duals(lowered, key, zones.get("duals"), &path)? })
            }
        };
        out.items.push(Item {
            shape,
            tier: index(entry, &path, "tier")?,
            count: count(entry, &path)?,
            dual: integer(entry, &path, "dual")?,
            by_domain,
        });
    }
    for (i, entry) in list(value, "certificate", "bins")?.iter().enumerate() {
        let path = format!("certificate.bins[{i}]");
        let u = multipliers(lowered, out.roundings.len(), entry.get("u"), &path)?;
        if let Some(name) = entry.get("node").and_then(Value::as_str) {
            let node = names.places.get(name).ok_or_else(|| form(&path, format!("there is no node {name}")))?;
            out.nodes.push(NodeProof { node: *node, u });
        } else {
            let name = RowName::from_json(entry).ok_or_else(|| form(&path, "names neither a bin nor a node"))?;
            let bin = names.rows.get(&name).ok_or_else(|| form(&path, "no such offering"))?;
            out.bins.push(BinProof { bin: *bin, u });
        }
    }
    out.limit_duals = vec![0; lowered.limit_names.len()];
    for (i, entry) in list(value, "certificate", "limit_duals")?.iter().enumerate() {
        let path = format!("certificate.limit_duals[{i}]");
        let name = (text(entry, &path, "pool")?.to_owned(), text(entry, &path, "resource")?.to_owned());
        let at = lowered.limit_names.iter().position(|n| *n == name);
        out.limit_duals[at.ok_or_else(|| form(&path, "no such limit"))?] = integer(entry, &path, "dual")?;
    }
    out.supply_duals = vec![0; lowered.supply_names.len()];
    for (i, entry) in list(value, "certificate", "supply_duals")?.iter().enumerate() {
        let path = format!("certificate.supply_duals[{i}]");
        let name = text(entry, &path, "reservation")?;
        let at = lowered.supply_names.iter().position(|n| n == name);
        out.supply_duals[at.ok_or_else(|| form(&path, "no such reservation"))?] = integer(entry, &path, "dual")?;
    }
    out.budget_duals = vec![0; lowered.budget_names.len()];
    for (i, entry) in list(value, "certificate", "budget_duals")?.iter().enumerate() {
        let path = format!("certificate.budget_duals[{i}]");
        let name = text(entry, &path, "budget")?;
        let at = lowered.budget_names.iter().position(|n| n == name);
        out.budget_duals[at.ok_or_else(|| form(&path, "no such budget"))?] = integer(entry, &path, "dual")?;
    }
    for (i, entry) in list(value, "certificate", "splits")?.iter().enumerate() {
        let path = format!("certificate.splits[{i}]");
        let rule = index(entry, &path, "rule")?;
        let Some(Key::Domain(key)) = lowered.instance.rules.get(rule).map(|r| r.key) else {
            return Err(form(path, "no such rule over domains"));
        };
        out.splits.push(SplitDuals { rule, dual: duals(lowered, key, entry.get("duals"), &path)? });
    }
    Ok(out)
}

fn index(value: &Value, path: &str, key: &str) -> Result<usize, ProofError> {
    usize::try_from(integer(value, path, key)?).map_err(|_| form(format!("{path}.{key}"), "is negative"))
}

fn count(value: &Value, path: &str) -> Result<u32, ProofError> {
    u32::try_from(integer(value, path, "count")?).map_err(|_| form(format!("{path}.count"), "is no count"))
}

fn duals(lowered: &Lowered<'_>, key: usize, value: Option<&Value>, path: &str) -> Result<Vec<i64>, ProofError> {
    let Some(Value::Object(map)) = value else { return Err(form(format!("{path}.duals"), "is no map")) };
    let values = &lowered.domain_values[key];
    let mut out = vec![0; values.len()];
    for (name, dual) in map {
        let at = values.binary_search(name).map_err(|_| form(path, format!("no domain {name}")))?;
        out[at] = dual.as_i64().ok_or_else(|| form(path, format!("the value of {name} is no integer")))?;
    }
    Ok(out)
}

/// Dimensions that count whole units, named as the certificate numbers them.
fn roundings(lowered: &Lowered<'_>, value: &Value) -> Result<Vec<Rounding>, ProofError> {
    let mut out = Vec::new();
    for (i, entry) in list(value, "certificate", "roundings")?.iter().enumerate() {
        let path = format!("certificate.roundings[{i}]");
        if text(entry, &path, "name")? != unit_name(i) {
            return Err(form(format!("{path}.name"), format!("is not {}", unit_name(i))));
        }
        let resource = text(entry, &path, "resource")?;
        let dim = dims(lowered).iter().position(|n| *n == resource);
        let dim = dim.ok_or_else(|| form(format!("{path}.resource"), format!("no pod asks for {resource}")))?;
        out.push(Rounding { dim, unit: integer(entry, &path, "unit")? });
    }
    Ok(out)
}

/// A multiplier per resource and then per rounding, absent ones 0.
fn multipliers(lowered: &Lowered<'_>, units: usize, value: Option<&Value>, path: &str) -> Result<Vec<i64>, ProofError> {
    let Some(Value::Object(map)) = value else { return Err(form(format!("{path}.u"), "is no map")) };
    let own = dims(lowered);
    let names: Vec<String> = own.into_iter().cloned().chain((0..units).map(unit_name)).collect();
    let mut out = vec![0; names.len()];
    for (name, u) in map {
        let at = names.iter().position(|n| n == name);
        let at = at.ok_or_else(|| form(format!("{path}.u"), format!("no pod asks for {name}")))?;
        out[at] = u.as_i64().ok_or_else(|| form(format!("{path}.u.{name}"), "is no integer"))?;
    }
    Ok(out)
}
