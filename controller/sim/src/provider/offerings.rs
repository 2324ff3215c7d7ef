//! What a controller believes can be bought: the catalogue without what was
//! refused a moment ago.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_models::catalog::Catalog;

use super::Sale;

/// A refusal is believed for this long.
const BELIEVED: SignedDuration = SignedDuration::from_mins(3);

/// A catalogue with what one controller learned; lost when it restarts.
#[derive(Clone, Debug)]
pub struct Offerings {
    base: Arc<Catalog>,
    refused: BTreeMap<Sale, Timestamp>,
    current: Option<Arc<Catalog>>,
}

impl Offerings {
    pub fn new(base: Arc<Catalog>) -> Self {
        Self { base, refused: BTreeMap::new(), current: None }
    }

    /// These were not to be had.
    pub fn refuse(&mut self, sales: Vec<Sale>, now: Timestamp) {
        self.refused.extend(sales.into_iter().map(|s| (s, now + BELIEVED)));
        self.current = None;
    }

    /// The catalogue at `now`.
    pub fn catalog(&mut self, now: Timestamp) -> Arc<Catalog> {
        let before = self.refused.len();
        self.refused.retain(|_, until| *until > now);
        if before != self.refused.len() {
            self.current = None;
        }
        if self.refused.is_empty() {
            return self.base.clone();
        }
        let Self { base, refused, current } = self;
        current.get_or_insert_with(|| Arc::new(without(base, refused))).clone()
    }
}

fn without(base: &Catalog, refused: &BTreeMap<Sale, Timestamp>) -> Catalog {
    let mut types = base.types.clone();
    for (name, zone, capacity_type) in refused.keys() {
        let offerings = types.iter_mut().filter(|t| t.name == *name).flat_map(|t| &mut t.offerings);
        for offering in offerings.filter(|o| o.zone == *zone && o.capacity_type == *capacity_type) {
            offering.available = false;
        }
    }
    Catalog::new(base.region.clone(), base.source.clone(), types)
}
