//! A catalogue as a file that `--catalog` takes.

use std::collections::BTreeMap;
use std::io::{Error, Result, Write};

use jiff::civil::Date;
use millwright_models::catalog::{Catalog, Offering, file};
use millwright_models::quantity;
use millwright_models::resources::Resources;
use serde::Serialize;

use super::money::dollars;
use crate::commands::catalog::Shown;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'a str,
    kind: &'a str,
    region: &'a str,
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prices_of: Option<Date>,
    types: Vec<Type<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Type<'a> {
    name: &'a str,
    architecture: &'a str,
    operating_systems: &'a [String],
    capacity: BTreeMap<&'a str, String>,
    allocatable: BTreeMap<&'a str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    volume_attachments: Option<u32>,
    labels: &'a BTreeMap<String, String>,
    offerings: Vec<Offer<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offer<'a> {
    zone: &'a str,
    capacity_type: &'a str,
    price: f64,
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reservation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
}

/// Writes the types in the format of catalogue files.
pub fn write(catalog: &Catalog, shown: &[Shown<'_>], out: &mut dyn Write) -> Result<()> {
    let document = Document {
        api_version: file::API_VERSION,
        kind: "Catalog",
        region: &catalog.region,
        // What a file says of itself is no longer built in.
        source: catalog.source.trim_start_matches("embedded: "),
        prices_of: catalog.prices_of,
        types: shown.iter().map(describe).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document).map_err(Error::from)?;
    writeln!(out)
}

fn describe<'a>(s: &'a Shown<'_>) -> Type<'a> {
    Type {
        name: &s.kind.name,
        architecture: &s.kind.architecture,
        operating_systems: &s.kind.operating_systems,
        capacity: amounts(&s.capacity),
        allocatable: amounts(&s.allocatable),
        volume_attachments: s.volume_attachments,
        labels: &s.kind.labels,
        offerings: s.kind.offerings.iter().map(offer).collect(),
    }
}

fn amounts(resources: &Resources) -> BTreeMap<&str, String> {
    // What the system keeps may exceed what a tiny machine has.
    resources.iter().map(|(name, amount)| (name, quantity::format(name, amount.max(0)))).collect()
}

fn offer(o: &Offering) -> Offer<'_> {
    Offer {
        zone: &o.zone,
        capacity_type: &o.capacity_type,
        price: dollars(o.price),
        available: o.available,
        reservation_id: o.reservation.as_ref().map(|r| r.id.as_str()),
        count: o.reservation.as_ref().map(|r| r.count),
    }
}
