//! The catalogue built into the program.
//!
//! `fixtures/catalog/build.py` makes the tables; its manifest records from
//! what and of which date.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jiff::civil::Date;
use serde::Deserialize;

use super::describe::{self, Row};
use super::money::Decimal;
use super::{Catalog, CatalogError, InstanceType, Offering, file};
use crate::karpenter::labels::ON_DEMAND;

const TYPES: &str = include_str!("../../../fixtures/catalog/types.csv");
const OFFERINGS: &str = include_str!("../../../fixtures/catalog/offerings.csv");
const MANIFEST: &str = include_str!("../../../fixtures/catalog/manifest.json");

/// Regions with an embedded catalogue.
pub const REGIONS: [&str; 3] = ["us-east-1", "us-west-2", "eu-west-1"];

#[derive(Deserialize)]
struct Manifest {
    source: String,
    prices_of: Date,
}

type Table = BTreeMap<&'static str, InstanceType>;

/// The catalogue of `region`: on-demand prices, no spot prices. Types without
/// a known price are there, but cannot be bought.
pub fn embedded(region: &str) -> Result<Catalog, CatalogError> {
    if !REGIONS.contains(&region) {
        return Err(CatalogError::Region { region: region.to_owned(), known: REGIONS.join(", ") });
    }
    let hardware = table().as_ref().map_err(Clone::clone)?;
    let mut types: BTreeMap<&str, InstanceType> = BTreeMap::new();
    for (index, line) in OFFERINGS.lines().enumerate().skip(1) {
        let wrong = |problem: String| CatalogError::Table { table: "offerings.csv", line: index + 1, problem };
        let [name, of, zones, usd] = line.split(',').collect::<Vec<_>>()[..] else {
            return Err(wrong("not four fields".to_owned()));
        };
        if of != region {
            continue;
        }
        let mut t = hardware.get(name).ok_or_else(|| wrong(format!("type {name} is unknown")))?.clone();
        let zones = zones.chars().map(|letter| format!("{region}{letter}"));
        if usd.is_empty() {
            t.unpriced_zones = zones.collect();
        } else {
            let price: Decimal = usd.parse().map_err(|e: super::money::DecimalError| wrong(e.to_string()))?;
            let price = price.micros().filter(|p| *p > 0).ok_or_else(|| wrong(format!("{usd} is no price")))?;
            let capacity_type = ON_DEMAND.to_owned();
            let offering = |zone| Offering {
                zone,
                capacity_type: capacity_type.clone(),
                price,
                available: true,
                reservation: None,
            };
            t.offerings = zones.map(offering).collect();
        }
        types.insert(name, t);
    }
    let manifest: Manifest = serde_json::from_str(MANIFEST).map_err(|e| CatalogError::Table {
        table: "manifest.json",
        line: e.line(),
        problem: e.to_string(),
    })?;
    let source = format!("embedded: {}, prices of {}", manifest.source, manifest.prices_of);
    let catalog = Catalog::new(region.to_owned(), source, types.into_values().collect());
    Ok(Catalog { prices_of: Some(manifest.prices_of), ..catalog })
}

/// What is known of the hardware of a type, whatever the region.
pub fn known(name: &str) -> Option<InstanceType> {
    table().as_ref().ok()?.get(name).cloned()
}

fn table() -> &'static Result<Table, CatalogError> {
    static TABLE: OnceLock<Result<Table, CatalogError>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let wrong = |line: usize, problem: String| CatalogError::Table { table: "types.csv", line, problem };
        let mut lines = TYPES.lines().enumerate();
        if lines.next().map(|(_, head)| head) != Some(describe::COLUMNS) {
            return Err(wrong(1, format!("the columns are not {}", describe::COLUMNS)));
        }
        let mut all = Table::new();
        for (index, line) in lines {
            let row = Row::of(line).and_then(|row| describe::instance_type(&row));
            let name = line.split(',').next().unwrap_or_default();
            all.insert(name, row.map_err(|problem| wrong(index + 1, problem))?);
        }
        Ok(all)
    })
}

impl Catalog {
    /// Reads a catalogue file; types that give no `allocatable` take their
    /// hardware from the embedded table.
    pub fn parse(name: &str, text: &str) -> Result<Self, CatalogError> {
        file::parse(name, text, &known)
    }
}
