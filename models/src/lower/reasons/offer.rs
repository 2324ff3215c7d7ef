//! What some spots have to offer, and whose they are.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use millwright_solver::explain::Spot;

use super::spots::Behind;
use super::witness::Witness;
use crate::lower::columns::Labelled;

/// Names that are listed before it says how many more there are.
const NAMES: usize = 4;

impl Witness<'_, '_> {
    /// Room at a spot.
    pub fn free(&self, spot: usize) -> &[i64] {
        self.scene.free(spot)
    }

    /// What the plan leaves of a limit.
    pub fn left(&self, limit: usize) -> i64 {
        self.scene.limits[limit]
    }

    /// The NodePools behind spots to buy, and the nodes that exist.
    fn holders(&self, spots: &FixedBitSet) -> (Vec<&str>, Vec<&str>) {
        let (mut pools, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        for spot in spots.ones() {
            match self.spots.get(spot) {
                Behind::Rows(rows) => pools.extend(
                    rows.iter().map(|&r| self.lowered.offers.pools[self.lowered.offers.rows[r].pool].pool.name()),
                ),
                Behind::Place(p) => drop(nodes.insert(self.lowered.places[*p].name)),
            }
        }
        (pools.into_iter().collect(), nodes.into_iter().collect())
    }

    /// `NodePool a, b` or `node n1, n2` or both.
    pub(super) fn whose(&self, spots: &FixedBitSet) -> String {
        let (pools, nodes) = self.holders(spots);
        let of = |noun: &str, names: &[&str]| (!names.is_empty()).then(|| format!("{noun} {}", list(names)));
        let parts: Vec<String> = [of("NodePool", &pools), of("node", &nodes)].into_iter().flatten().collect();
        parts.join(" and ")
    }

    /// The values of a label there, with their owners.
    pub(super) fn values(&self, key: &str, spots: &FixedBitSet) -> String {
        let mut values: BTreeSet<&str> = BTreeSet::new();
        let mut absent = false;
        for spot in spots.ones() {
            let mut see = |value: Option<&'_ str>| match value {
                Some(_) => {}
                None => absent = true,
            };
            match self.spots.get(spot) {
                Behind::Rows(rows) => {
                    for &r in rows {
                        let value = self.rows.source().label(r, key);
                        see(value);
                        values.extend(value);
                    }
                }
                Behind::Place(p) => {
                    let value = self.places.source().label(*p, key);
                    see(value);
                    values.extend(value);
                }
            }
        }
        let (pools, nodes) = self.holders(spots);
        let have = if pools.len() + nodes.len() == 1 { "has" } else { "have" };
        let whose = self.whose(spots);
        let all: Vec<&str> = values.into_iter().collect();
        match (all.is_empty(), absent) {
            (true, _) => format!("{whose} {have} no such label"),
            (false, true) => format!("{whose} {have} only {} or no such label", list(&all)),
            (false, false) => format!("{whose} {have} only {}", list(&all)),
        }
    }

    /// The most of a dimension that is left at spots to buy and at nodes that
    /// exist.
    pub(super) fn most(&self, dimension: usize, spots: &FixedBitSet) -> (Option<i64>, Option<i64>) {
        let (mut new, mut old) = (None, None);
        for spot in spots.ones() {
            let most = if matches!(self.scene.spots[spot], Spot::Fresh(_)) { &mut new } else { &mut old };
            *most = (*most).max(Some(self.scene.free(spot)[dimension]));
        }
        (new, old)
    }

    /// Domains of a rule's key among some spots, by name.
    pub(super) fn domains(&self, key: &str, spots: &FixedBitSet) -> Vec<String> {
        let mut out: BTreeSet<String> = BTreeSet::new();
        for spot in spots.ones() {
            let value = match self.spots.get(spot) {
                Behind::Rows(rows) => rows.first().and_then(|&r| self.rows.source().label(r, key)),
                Behind::Place(p) => self.places.source().label(*p, key),
            };
            out.extend(value.map(str::to_owned));
        }
        out.into_iter().collect()
    }
}

/// The first few names.
pub(super) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(NAMES);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
