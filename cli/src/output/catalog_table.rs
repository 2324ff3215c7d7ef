//! A catalogue for people.

use std::collections::BTreeMap;

use millwright_models::catalog::Catalog;
use millwright_models::resources::{CPU, MEMORY, PODS};

use super::money::text;
use super::style::{counted, table};
use crate::commands::catalog::{Shown, provenance};

/// A row per type, capacity type and price.
pub fn render(catalog: &Catalog, shown: &[Shown<'_>]) -> String {
    let header =
        ["INSTANCE TYPE", "ARCH", "CAPACITY", "ZONES", "CPU", "MEMORY", "FOR PODS: CPU", "MEMORY", "PODS", "$/h"];
    let mut rows = table(&header, 4);
    let mut sold = 0;
    for s in shown {
        let mut prices: BTreeMap<(&str, i64), Vec<&str>> = BTreeMap::new();
        for o in s.kind.offerings.iter().filter(|o| o.available) {
            prices.entry((&o.capacity_type, o.price)).or_default().push(&o.zone);
        }
        sold += usize::from(!prices.is_empty());
        if prices.is_empty() {
            rows.add_row(row(s, "-", "not for sale", "-"));
        }
        for ((capacity_type, price), zones) in prices {
            rows.add_row(row(s, capacity_type, &letters(&catalog.region, &zones), &text(price, 4)[1..]));
        }
    }
    let devices = devices(shown);
    let mut out = rows.trim_fmt();
    out += &format!(
        "\n\n{}, {sold} with a price. What is for pods is computed for AL2023 where the catalogue does not give it.\n",
        counted(shown.len(), "type")
    );
    if !devices.is_empty() {
        out += &format!("Devices  {devices}\n");
    }
    out += &format!("Prices   {}\n", provenance(catalog));
    out
}

fn row(s: &Shown<'_>, capacity_type: &str, zones: &str, price: &str) -> [String; 10] {
    [
        s.kind.name.clone(),
        s.kind.architecture.clone(),
        capacity_type.to_owned(),
        zones.to_owned(),
        cores(s.capacity.get(CPU)),
        gibibytes(s.capacity.get(MEMORY)),
        cores(s.allocatable.get(CPU)),
        gibibytes(s.allocatable.get(MEMORY)),
        s.allocatable.get(PODS).to_string(),
        price.to_owned(),
    ]
}

/// `1.93`, `48`.
fn cores(milli: i64) -> String {
    let text = format!("{:.3}", milli as f64 / 1000.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn gibibytes(bytes: i64) -> String {
    format!("{:.1}Gi", bytes as f64 / f64::from(1 << 30))
}

/// Zones of one region by their letters.
fn letters(region: &str, zones: &[&str]) -> String {
    let short: Vec<&str> = zones.iter().map(|z| z.strip_prefix(region).filter(|l| l.len() == 1).unwrap_or(z)).collect();
    let all_letters = short.iter().all(|z| z.len() == 1);
    short.join(if all_letters { "" } else { " " })
}

/// Types with devices, a few of them.
fn devices(shown: &[Shown<'_>]) -> String {
    let known =
        |name: &str| ["nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron"].contains(&name);
    let mut found: Vec<String> = Vec::new();
    for s in shown {
        for (name, amount) in s.capacity.iter().filter(|(name, amount)| known(name) && *amount > 0) {
            found.push(format!("{} {amount} {name}", s.kind.name));
        }
    }
    let more = found.len().saturating_sub(4);
    found.truncate(4);
    let list = found.join(", ");
    if more > 0 { format!("{list} and {more} more (all of them: -o json)") } else { list }
}
