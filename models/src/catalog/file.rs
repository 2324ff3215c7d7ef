//! Catalogue files: `kind: Catalog`, `apiVersion: millwright.dev/v1`, in YAML
//! or JSON.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::Problem;
use super::money::Decimal;
use super::{Catalog, CatalogError, InstanceType, Offering, Reserved};
use crate::karpenter::labels::{ON_DEMAND, RESERVED, SPOT};
use crate::kube::meta::Labels;
use crate::kube::pod::RawQuantity;
use crate::quantity::amount_down;
use crate::resources::Resources;

/// `apiVersion` of catalogue files.
pub const API_VERSION: &str = "millwright.dev/v1";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    api_version: String,
    kind: String,
    region: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    prices_of: Option<Date>,
    types: Vec<TypeEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TypeEntry {
    name: String,
    #[serde(default)]
    architecture: Option<String>,
    #[serde(default)]
    operating_systems: Option<Vec<String>>,
    #[serde(default)]
    capacity: Option<BTreeMap<String, RawQuantity>>,
    #[serde(default)]
    allocatable: Option<BTreeMap<String, RawQuantity>>,
    #[serde(default)]
    labels: Labels,
    #[serde(default)]
    volume_attachments: Option<u32>,
    #[serde(default)]
    offerings: Vec<OfferingEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OfferingEntry {
    zone: String,
    capacity_type: String,
    #[serde(default)]
    price: Option<RawQuantity>,
    #[serde(default = "yes")]
    available: bool,
    #[serde(default)]
    reservation_id: Option<String>,
    #[serde(default)]
    count: Option<u32>,
}

fn yes() -> bool {
    true
}

/// Where the hardware figures of a named type come from.
pub type Known<'a> = &'a dyn Fn(&str) -> Option<InstanceType>;

/// Reads a catalogue; `file` names it in errors, `known` supplies types that
/// give no `allocatable`.
pub fn parse(file: &str, text: &str, known: Known) -> Result<Catalog, CatalogError> {
    let document: Document = read(file, text)?;
    let at_top = |field: &str, problem: String| CatalogError::Document {
        file: file.to_owned(),
        field: field.to_owned(),
        problem,
    };
    if document.api_version != API_VERSION {
        return Err(at_top("apiVersion", format!("{:?} is not {API_VERSION}", document.api_version)));
    }
    if document.kind != "Catalog" {
        return Err(at_top("kind", format!("{:?} is not Catalog", document.kind)));
    }
    let mut types = Vec::with_capacity(document.types.len());
    for (index, entry) in document.types.into_iter().enumerate() {
        let name = if entry.name.is_empty() { format!("#{index}") } else { entry.name.clone() };
        types.push(instance_type(entry, known).map_err(|(field, problem)| CatalogError::Type {
            file: file.to_owned(),
            name,
            field,
            problem,
        })?);
    }
    let source = if document.source.is_empty() { format!("file {file}") } else { document.source };
    let catalog = Catalog { prices_of: document.prices_of, ..Catalog::new(document.region, source, types) };
    if let Some(pair) = catalog.types.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(CatalogError::Type {
            file: file.to_owned(),
            name: pair[0].name.clone(),
            field: "name".to_owned(),
            problem: Problem::Duplicate,
        });
    }
    Ok(catalog)
}

/// Deserialises JSON or YAML; an error names the path of the field.
fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, CatalogError> {
    let syntax = |problem: String| CatalogError::Syntax { file: file.to_owned(), problem };
    let at = |path: String, problem: String| match path.as_str() {
        "." | "" => syntax(problem),
        _ => CatalogError::Document { file: file.to_owned(), field: named(&path, text), problem },
    };
    if text.trim_start().starts_with('{') {
        let mut json = serde_json::Deserializer::from_str(text);
        let value =
            serde_path_to_error::deserialize(&mut json).map_err(|e| at(e.path().to_string(), e.inner().to_string()))?;
        json.end().map_err(|e| syntax(e.to_string()))?;
        return Ok(value);
    }
    let mut failed = String::new();
    serde_saphyr::with_deserializer_from_str_with_options(text, yaml_options(), |yaml| {
        serde_path_to_error::deserialize(yaml).map_err(|e| {
            failed = e.path().to_string();
            e.into_inner()
        })
    })
    .map_err(|e| at(failed, first_line(&e.to_string())))
}

/// Room for every type of a region with all its offerings.
fn yaml_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: 20_000_000, max_events: 50_000_000 },
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The path with the type's name beside its index.
fn named(path: &str, text: &str) -> String {
    #[derive(Deserialize)]
    struct Names {
        types: Vec<Name>,
    }
    #[derive(Deserialize)]
    struct Name {
        name: String,
    }
    let index = path.strip_prefix("types[").and_then(|rest| rest.split_once(']')?.0.parse::<usize>().ok());
    let names: Option<Names> = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).ok(),
        false => serde_saphyr::from_str_with_options(text, yaml_options()).ok(),
    };
    match index.zip(names).and_then(|(i, mut all)| (i < all.types.len()).then(|| all.types.swap_remove(i))) {
        Some(Name { name }) => format!("{path} (type {name})"),
        None => path.to_owned(),
    }
}

type Field<T> = Result<T, (String, Problem)>;

fn wrong<T>(field: impl Into<String>, problem: impl Into<Problem>) -> Field<T> {
    Err((field.into(), problem.into()))
}

fn instance_type(entry: TypeEntry, known: Known) -> Field<InstanceType> {
    if entry.name.is_empty() {
        return wrong("name", Problem::Empty);
    }
    let allocatable = entry.allocatable.map(|a| amounts("allocatable", &a)).transpose()?;
    let capacity = entry.capacity.map(|c| amounts("capacity", &c)).transpose()?;
    let base = match &allocatable {
        Some(_) => InstanceType::default(),
        None => known(&entry.name).ok_or(("allocatable".to_owned(), Problem::NoHardware))?,
    };
    let architecture = entry.architecture.unwrap_or(base.architecture);
    match architecture.as_str() {
        "amd64" | "arm64" => {}
        "" => return wrong("architecture", Problem::Missing),
        other => return wrong("architecture", Problem::Unknown { value: other.into(), known: "amd64, arm64" }),
    }
    let operating_systems = match entry.operating_systems {
        Some(given) => given,
        None if base.operating_systems.is_empty() => vec!["linux".to_owned()],
        None => base.operating_systems,
    };
    if let Some(other) = operating_systems.iter().find(|os| !matches!(os.as_str(), "linux" | "windows")) {
        let problem = Problem::Unknown { value: other.clone(), known: "linux, windows" };
        return wrong("operatingSystems", problem);
    }
    if operating_systems.is_empty() {
        return wrong("operatingSystems", Problem::Empty);
    }
    let above = |name: &str, amount| capacity.as_ref().and_then(|c| c.entry(name)).is_some_and(|c| amount > c);
    let too_much = allocatable.as_ref().and_then(|a| a.iter().find(|(name, amount)| above(name, *amount)));
    if let Some((name, _)) = too_much {
        return wrong(format!("allocatable.{name}"), Problem::AboveCapacity(name.to_owned()));
    }
    let mut labels = base.labels;
    labels.extend(entry.labels);
    let mut offerings = Vec::with_capacity(entry.offerings.len());
    for (index, o) in entry.offerings.into_iter().enumerate() {
        offerings.push(offering(o).map_err(|(field, problem)| (format!("offerings[{index}].{field}"), problem))?);
    }
    for (index, o) in offerings.iter().enumerate() {
        if offerings[..index].iter().any(|p| same_offering(p, o)) {
            return wrong(format!("offerings[{index}]"), Problem::Duplicate);
        }
    }
    Ok(InstanceType {
        name: entry.name,
        architecture,
        operating_systems,
        capacity: capacity.or_else(|| allocatable.clone()).unwrap_or_default(),
        allocatable,
        labels,
        volume_attachments: entry.volume_attachments,
        offerings,
        unpriced_zones: Vec::new(),
        hardware: base.hardware,
    })
}

fn same_offering(a: &Offering, b: &Offering) -> bool {
    let id = |o: &'_ Offering| o.reservation.as_ref().map(|r| r.id.clone());
    a.zone == b.zone && a.capacity_type == b.capacity_type && id(a) == id(b)
}

fn amounts(field: &str, given: &BTreeMap<String, RawQuantity>) -> Field<Resources> {
    let mut all = Resources::default();
    for (name, quantity) in given {
        match amount_down(name, &quantity.0) {
            Ok(amount) => all.set(name, amount),
            Err(problem) => return wrong(format!("{field}.{name}"), problem),
        }
    }
    Ok(all)
}

fn offering(entry: OfferingEntry) -> Field<Offering> {
    if entry.zone.is_empty() {
        return wrong("zone", Problem::Empty);
    }
    let reserved = match entry.capacity_type.as_str() {
        ON_DEMAND | SPOT => false,
        RESERVED => true,
        other => {
            let known = "on-demand, spot, reserved";
            return wrong("capacityType", Problem::Unknown { value: other.to_owned(), known });
        }
    };
    let price = match entry.price {
        Some(text) => price(&text.0, reserved)?,
        None if reserved => 0,
        None => return wrong("price", Problem::Missing),
    };
    let reservation = match (reserved, entry.reservation_id, entry.count) {
        (true, None, _) => return wrong("reservationId", Problem::Missing),
        (true, Some(id), _) if id.is_empty() => return wrong("reservationId", Problem::Empty),
        (true, Some(_), None) => return wrong("count", Problem::Missing),
        (true, Some(id), Some(count)) => Some(Reserved { id, count }),
        (false, Some(_), _) => return wrong("reservationId", Problem::OnlyReserved),
        (false, None, Some(_)) => return wrong("count", Problem::OnlyReserved),
        (false, None, None) => None,
    };
    Ok(Offering {
        zone: entry.zone,
        capacity_type: entry.capacity_type,
        price,
        available: entry.available,
        reservation,
    })
}

fn price(text: &str, may_be_free: bool) -> Field<i64> {
    let decimal: Decimal = match text.parse() {
        Ok(decimal) => decimal,
        Err(problem) => return wrong("price", Problem::Price(problem)),
    };
    match decimal.micros() {
        None => wrong("price", Problem::PriceRange(text.to_owned())),
        Some(_) if decimal.cmp_whole(0).is_lt() => wrong("price", Problem::NegativePrice(text.to_owned())),
        Some(0) if !may_be_free => wrong("price", Problem::NotPositive(text.to_owned())),
        Some(micros) => Ok(micros),
    }
}
