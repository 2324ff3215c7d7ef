//! Bounded backtracking over landing orders, for the few cases where taking
//! turns does not find one.

use std::collections::HashSet;

use super::landing::Piece;
use super::replay::Placement;
use super::state::State;

/// More pieces than this are not searched.
const PIECES: usize = 64;
/// Distinct partial landings looked at.
const STATES: usize = 20_000;

/// What the search found out.
pub(super) enum Outcome {
    Found(Vec<usize>),
    Impossible,
    GaveUp,
}

struct Search<'a> {
    state: State,
    placements: &'a [Placement],
    pieces: Vec<Piece>,
    landed: Vec<usize>,
    seen: HashSet<Vec<u32>>,
}

/// Tries all orders, pods of a piece being alike.
pub(super) fn order(state: State, placements: &[Placement], pieces: Vec<Piece>) -> Outcome {
    let alike = placements.iter().all(|p| p.pod.spec.volumes.is_empty());
    if pieces.len() > PIECES || placements.len() > 8 * PIECES || !alike {
        return Outcome::GaveUp;
    }
    let mut search = Search { state, placements, pieces, landed: Vec::new(), seen: HashSet::new() };
    match search.descend() {
        Some(true) => Outcome::Found(search.landed),
        Some(false) => Outcome::Impossible,
        None => Outcome::GaveUp,
    }
}

impl Search<'_> {
    /// Whether the rest can land; `None` when there were too many ways.
    fn descend(&mut self) -> Option<bool> {
        let left: Vec<u32> = self.pieces.iter().map(|p| p.pods.len() as u32).collect();
        if left.iter().all(|n| *n == 0) {
            return Some(true);
        }
        if self.seen.contains(&left) {
            return Some(false);
        }
        if self.seen.len() == STATES {
            return None;
        }
        self.seen.insert(left);
        // What harms nobody goes at once, and there is no need to look back.
        let (harmless, others): (Vec<usize>, Vec<usize>) = (0..self.pieces.len())
            .filter(|p| !self.pieces[*p].pods.is_empty())
            .partition(|p| self.state.counters.is_harmless(self.pieces[*p].class));
        for piece in harmless {
            if let Some(next) = self.advance(piece) {
                let found = self.descend();
                if found != Some(true) {
                    self.retreat(piece, next);
                }
                return found;
            }
        }
        for piece in others {
            if let Some(next) = self.advance(piece) {
                match self.descend() {
                    Some(false) => self.retreat(piece, next),
                    found => return found,
                }
            }
        }
        Some(false)
    }

    fn advance(&mut self, piece: usize) -> Option<usize> {
        let Piece { class, slot, pods } = &mut self.pieces[piece];
        let next = *pods.last()?;
        self.state.land_in(&self.placements[next].pod, *class, *slot).ok()?;
        pods.pop();
        self.landed.push(next);
        Some(next)
    }

    fn retreat(&mut self, piece: usize, placement: usize) {
        // It has just landed, so it is there.
        let _ = self.state.evict(&self.placements[placement].pod);
        self.pieces[piece].pods.push(placement);
        self.landed.pop();
    }
}
