//! Rows and places, seen as the spots of a scene.

use fixedbitset::FixedBitSet;
use millwright_solver::explain::{Scene, Spot};

use crate::lower::{BinSource, Lowered};

/// The rows or the place behind each spot.
pub struct Spots {
    behind: Vec<Behind>,
}

/// What is behind a spot.
pub enum Behind {
    /// The members of an envelope, or one row.
    Rows(Vec<usize>),
    Place(usize),
}

impl Spots {
    pub fn new(lowered: &Lowered<'_>, scene: &Scene<'_>) -> Self {
        let rows = |bin: usize| match &lowered.bins[bin] {
            BinSource::Row(r) => vec![*r],
            BinSource::Envelope(e) => e.members.clone(),
        };
        let behind = scene.spots.iter().enumerate().map(|(i, spot)| match spot {
            Spot::Existing(n) => Behind::Place(*n),
            Spot::Bought(_) | Spot::Fresh(_) => Behind::Rows(scene.bin(i).map(rows).unwrap_or_default()),
        });
        Self { behind: behind.collect() }
    }

    pub fn get(&self, spot: usize) -> &Behind {
        &self.behind[spot]
    }

    /// Spots outside of `rows` and `places`: an envelope is outside as soon as
    /// one of its members is.
    pub fn outside(&self, rows: &FixedBitSet, places: &FixedBitSet) -> FixedBitSet {
        self.of(|r| !rows.contains(r), |p| !places.contains(p))
    }

    /// Spots with a row or place of which this holds.
    pub fn of(&self, row: impl Fn(usize) -> bool, place: impl Fn(usize) -> bool) -> FixedBitSet {
        let mut out = FixedBitSet::with_capacity(self.behind.len());
        for (i, behind) in self.behind.iter().enumerate() {
            out.set(
                i,
                match behind {
                    Behind::Rows(rows) => rows.iter().any(|&r| row(r)),
                    Behind::Place(p) => place(*p),
                },
            );
        }
        out
    }
}
