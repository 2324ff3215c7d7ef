//! Names of bins that survive a round trip through JSON.

use std::collections::BTreeMap;

use millwright_models::lower::Lowered;
use serde_json::{Map, Value, json};

/// Resources in the order of the solver's dimensions.
pub fn dims<'l>(lowered: &'l Lowered<'_>) -> Vec<&'l String> {
    lowered.dims.resources.iter().chain(&lowered.dims.drivers).collect()
}

/// The name of a dimension that counts whole units. No resource has a space.
pub fn unit_name(index: usize) -> String {
    format!("unit {index}")
}

/// What tells rows apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowName {
    pub pool: String,
    pub instance_type: String,
    pub zone: String,
    pub capacity_type: String,
    pub os: String,
    pub reservation: String,
    /// Which combination of the pool's open labels.
    pub variant: u64,
}

impl RowName {
    /// The name of a row.
    pub fn of(lowered: &Lowered<'_>, row: usize) -> Self {
        let r = &lowered.offers.rows[row];
        let offering = lowered.offers.offering(r);
        Self {
            pool: lowered.offers.pools[r.pool].pool.name().to_owned(),
            instance_type: lowered.offers.ptype(r).name.to_string(),
            zone: offering.zone.to_string(),
            capacity_type: offering.capacity_type.as_str().to_owned(),
            os: r.os.to_string(),
            reservation: offering.reservation.as_ref().map(|x| x.id.clone()).unwrap_or_default(),
            variant: r.variant as u64,
        }
    }

    /// All rows by name.
    pub fn index(lowered: &Lowered<'_>) -> BTreeMap<Self, usize> {
        (0..lowered.offers.rows.len()).map(|r| (Self::of(lowered, r), r)).collect()
    }

    /// Fields; those at their usual value are left out.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut out = Map::new();
        for (key, value) in [
            ("pool", &self.pool),
            ("instance_type", &self.instance_type),
            ("zone", &self.zone),
            ("capacity_type", &self.capacity_type),
        ] {
            out.insert(key.to_owned(), json!(value));
        }
        if self.os != "linux" {
            out.insert("os".to_owned(), json!(self.os));
        }
        if !self.reservation.is_empty() {
            out.insert("reservation".to_owned(), json!(self.reservation));
        }
        if self.variant != 0 {
            out.insert("variant".to_owned(), json!(self.variant));
        }
        out
    }

    /// The inverse of [`RowName::to_json`]; none where a field is missing.
    pub fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            pool: text("pool")?,
            instance_type: text("instance_type")?,
            zone: text("zone")?,
            capacity_type: text("capacity_type")?,
            os: text("os").unwrap_or_else(|| "linux".to_owned()),
            reservation: text("reservation").unwrap_or_default(),
            variant: value.get("variant").and_then(Value::as_u64).unwrap_or(0),
        })
    }
}
