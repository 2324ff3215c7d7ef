//! What fewer evictions would reach.

use millwright_solver::instance::Micros;

use super::solve::{Context, Solved};
use super::{AuditError, Limits};
use crate::candidates::Scene;

/// Shares of the wave's evictions that are tried, in percent.
const SHARES: [u64; 14] = [0, 2, 5, 8, 12, 17, 25, 33, 42, 50, 60, 70, 80, 90];

/// A wave by its size and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub evictions: u64,
    pub removed: u64,
    pub cost: Micros,
    pub bound: Micros,
}

/// Points from no eviction to the whole wave, each cheaper than the one
/// before.
pub fn frontier(
    cx: &Context<'_>,
    scene: &Scene<'_>,
    price: Micros,
    whole: &Solved<'_>,
) -> Result<Vec<Point>, AuditError> {
    let last = point(whole);
    let mut caps: Vec<u64> = SHARES.iter().map(|s| last.evictions * s / 100).collect();
    caps.dedup();
    caps.retain(|c| *c < last.evictions);
    let mut points = Vec::new();
    for (i, cap) in caps.iter().enumerate() {
        if i > 0 && cx.late() {
            break;
        }
        let limits = Limits { evictions: Some(*cap as i64), ..cx.options.limits };
        let left = caps.len() - i + 1;
        points.push(point(&cx.solve(scene, price, &limits, 1.0 / left as f64)?));
    }
    points.push(last);
    Ok(undominated(points))
}

fn point(solved: &Solved<'_>) -> Point {
    Point {
        evictions: solved.lifted.moves.len() as u64,
        removed: solved.lifted.removed.len() as u64,
        cost: solved.cost(),
        bound: solved.bound(),
    }
}

/// Without points that another reaches with no more evictions.
fn undominated(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by_key(|p| (p.evictions, p.cost, p.removed));
    let mut best = Micros::MAX;
    points.retain(|p| {
        let cheaper = p.cost < best;
        best = best.min(p.cost);
        cheaper
    });
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_cheaper_than_those_before() {
        let at = |evictions, cost| Point { evictions, removed: 0, cost, bound: 0 };
        let kept = undominated(vec![at(9, 5), at(0, 10), at(4, 10), at(4, 7), at(6, 8), at(9, 6)]);
        assert_eq!(kept.iter().map(|p| (p.evictions, p.cost)).collect::<Vec<_>>(), [(0, 10), (4, 7), (9, 5)]);
    }
}
