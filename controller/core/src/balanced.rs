//! The score of a move under the policy `Balanced`: its share of the pool's
//! money over its share of the pool's disruption. (spec 30 §14)

use std::collections::BTreeMap;

use millwright_models::karpenter::nodepool::NodePool;
use millwright_solver::instance::Micros;

/// A move must score at least `1 / K`.
pub const K: f64 = 2.0;

/// What a pool costs and what disrupting all of it would.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Micro-dollars per hour.
    pub cost: f64,
    /// Sum of rescheduling costs.
    pub disruption: f64,
}

/// A candidate's part in a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part<'w> {
    pub pool: &'w NodePool,
    pub price: Micros,
    pub rescheduling: f64,
}

/// How a move looks to one Balanced pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub pool: String,
    pub score: f64,
    /// Shares of the pool's cost and disruption.
    pub savings_fraction: f64,
    pub disruption_fraction: f64,
}

impl Score {
    /// Whether the pool agrees.
    pub fn approved(&self) -> bool {
        self.score >= 1.0 / K
    }
}

/// `savings / disruption`, both as shares of the pool's totals.
pub fn score(savings: f64, disruption: f64, totals: Totals) -> (f64, f64, f64) {
    if totals.cost.is_nan() || totals.disruption.is_nan() || totals.cost <= 0.0 || totals.disruption <= 0.0 {
        return (0.0, 0.0, 0.0);
    }
    let (saved, disrupted) = (savings / totals.cost, disruption / totals.disruption);
    // One division, so that equal shares come out as equal.
    let score = match () {
        () if saved.is_nan() || saved <= 0.0 => 0.0,
        () if disrupted == 0.0 => f64::INFINITY,
        () => savings * totals.disruption / (totals.cost * disruption),
    };
    (score, saved, disrupted)
}

/// Scores of a move for every Balanced pool among its sources; each must
/// agree. A pool without totals scores 0.
pub fn scores(parts: &[Part<'_>], savings: f64, totals: &BTreeMap<&str, Totals>) -> Vec<Score> {
    let whole: f64 = parts.iter().map(|p| p.price as f64).sum();
    let mut of_pool: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for part in parts.iter().filter(|p| p.pool.disruption.policy == "Balanced") {
        let sum = of_pool.entry(part.pool.name()).or_default();
        *sum = (sum.0 + part.price as f64, sum.1 + part.rescheduling);
    }
    let several = parts.iter().any(|p| p.pool.name() != parts[0].pool.name());
    let one = |(pool, (price, disruption)): (&str, (f64, f64))| {
        let own = if several && whole > 0.0 { savings * price / whole } else { savings };
        let (score, savings_fraction, disruption_fraction) =
            totals.get(pool).map_or((0.0, 0.0, 0.0), |t| score(own, disruption, *t));
        Score { pool: pool.to_owned(), score, savings_fraction, disruption_fraction }
    };
    of_pool.into_iter().map(one).collect()
}

/// The price at which a disruption is worth its cost to the pool, in
/// micro-dollars per hour per unit of rescheduling cost: a move whose savings
/// reach this times its disruption scores `1 / K`.
pub fn threshold(totals: Totals) -> f64 {
    if totals.disruption > 0.0 { totals.cost.max(0.0) / (K * totals.disruption) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published examples count pods only; money in $/day.
    fn published(saved: f64, pods: f64, cost: f64, disruption: f64) -> f64 {
        score(saved, pods, Totals { cost, disruption }).0
    }

    #[test]
    fn dis_110_to_112_published_examples_come_out() {
        for (saved, pods, cost, total, want) in [
            (7.26, 3.0, 58.08, 80.0, 3.33),
            (4.84, 4.0, 58.08, 80.0, 1.67),
            (2.42, 8.0, 58.08, 80.0, 0.42),
            (4.84, 4.0, 58.08, 107.0, 2.24),
            (4.84, 31.0, 58.08, 107.0, 0.29),
            (9.0, 9.0, 9.0, 9.0, 1.0),
        ] {
            let got = published(saved, pods, cost, total);
            assert!((got - want).abs() < 0.02, "{got} instead of {want}");
        }
        assert!(published(2.42, 8.0, 48.40, 80.0) >= 0.5);
    }

    #[test]
    fn dis_113_to_115_edges_and_scale() {
        assert_eq!(published(0.0, 1.0, 10.0, 10.0), 0.0);
        assert_eq!(published(-1.0, 1.0, 10.0, 10.0), 0.0);
        assert_eq!(published(1.0, 1.0, 0.0, 10.0), 0.0);
        assert_eq!(published(1.0, 1.0, 10.0, 0.0), 0.0);
        assert_eq!(published(1.0, 0.0, 10.0, 10.0), f64::INFINITY);
        assert_eq!(published(1.0, 1.0, 10.0, 10.0), published(10.0, 10.0, 100.0, 100.0));
    }

    #[test]
    fn dis_116_dis_118_every_balanced_pool_must_agree() {
        let balanced = |name: &str| {
            let mut pool = NodePool { ..Default::default() };
            pool.meta.name = name.to_owned();
            pool.disruption.policy = "Balanced".to_owned();
            pool
        };
        let (a, b) = (balanced("a"), balanced("b"));
        let part = |pool, price, rescheduling| Part { pool, price, rescheduling };
        let totals = |disruption| Totals { cost: 1000.0, disruption };
        let all: BTreeMap<&str, Totals> = [("a", totals(100.0)), ("b", totals(10.0))].into();
        // Savings are split by price, 3 to 1: 75/1000 for 5/100, and 25/1000 for 5/10.
        let got = scores(&[part(&a, 300, 5.0), part(&b, 100, 5.0)], 100.0, &all);
        let told: Vec<_> = got.iter().map(|s| (s.pool.as_str(), s.score, s.approved())).collect();
        assert_eq!(told, [("a", 1.5, true), ("b", 0.05, false)]);
        let alone = scores(&[part(&a, 300, 5.0)], 100.0, &BTreeMap::new());
        assert!(!alone[0].approved(), "a pool without totals");
    }

    #[test]
    fn the_threshold_is_where_the_score_turns() {
        let totals = Totals { cost: 2_016_000.0, disruption: 90.0 };
        let worth = threshold(totals) * 9.0;
        assert_eq!(score(worth, 9.0, totals).0, 0.5);
        assert!(score(worth - 1.0, 9.0, totals).0 < 0.5);
    }
}
