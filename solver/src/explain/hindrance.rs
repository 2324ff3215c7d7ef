//! What excludes each spot for one more pod of a shape.

use fixedbitset::FixedBitSet;

use super::scene::{Scene, Spot};
use super::tally::{Tally, counts_here};
use crate::instance::RuleKind;

/// Something that excludes spots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// Too little of this dimension.
    Room(usize),
    /// A rule between pods.
    Rule(usize),
    /// One more node would break this limit.
    Limit(usize),
    /// This supply is used up.
    Supply(usize),
    /// Too few choices would remain for a launch.
    Variety(usize),
}

/// An obstacle and the spots that it excludes.
#[derive(Clone, Debug)]
pub struct Hindrance {
    pub obstacle: Obstacle,
    pub spots: FixedBitSet,
}

impl Scene<'_> {
    /// Everything that hinders one more pod of `shape` that insists on the
    /// rules `firm`, obstacles that exclude nothing left out.
    pub fn hindrances(&self, shape: usize, firm: &[usize]) -> Vec<Hindrance> {
        let mut out = Vec::new();
        let demand = &self.instance.shapes[shape].demand;
        for (d, &need) in demand.iter().enumerate().filter(|(_, need)| **need > 0) {
            self.push(&mut out, Obstacle::Room(d), |spot| self.free(spot)[d] < need);
        }
        for rule in 0..self.instance.rules.len() {
            self.rule(shape, rule, firm.contains(&rule), &mut out);
        }
        let fresh = |spot: usize| match self.spots[spot] {
            Spot::Fresh(bin) => Some(&self.instance.bins[bin]),
            _ => None,
        };
        for (l, &left) in self.limits.iter().enumerate() {
            self.push(&mut out, Obstacle::Limit(l), |spot| {
                fresh(spot).is_some_and(|b| b.limit_use.iter().any(|&(x, amount)| x == l && amount > left))
            });
        }
        for (s, &left) in self.supplies.iter().enumerate() {
            self.push(&mut out, Obstacle::Supply(s), |spot| {
                left < 1 && fresh(spot).is_some_and(|b| b.supply == Some(s))
            });
        }
        for v in 0..self.instance.varieties.len() {
            self.push(&mut out, Obstacle::Variety(v), |spot| self.is_too_narrow(shape, v, spot));
        }
        out
    }

    fn push(&self, out: &mut Vec<Hindrance>, obstacle: Obstacle, excludes: impl Fn(usize) -> bool) {
        let mut spots = FixedBitSet::with_capacity(self.spots.len());
        for spot in 0..self.spots.len() {
            spots.set(spot, excludes(spot));
        }
        if !spots.is_clear() {
            out.push(Hindrance { obstacle, spots });
        }
    }

    fn rule(&self, shape: usize, index: usize, firm: bool, out: &mut Vec<Hindrance>) {
        let rule = &self.instance.rules[index];
        let selects = rule.selects(shape);
        let anti = matches!(rule.kind, RuleKind::Anti);
        if !(firm || anti && selects) {
            return;
        }
        let tally = Tally::new(self, index);
        let lowest = match &rule.kind {
            RuleKind::Spread(s) => tally.lowest(rule, s),
            _ => 0,
        };
        self.push(out, Obstacle::Rule(index), |spot| {
            let Some(domain) = self.domain(spot, rule.key) else { return firm && !anti };
            match &rule.kind {
                RuleKind::Anti => (firm && tally.selected(domain) > 0) || (selects && tally.owners(domain) > 0),
                RuleKind::Affinity => !tally.attracts(domain, selects),
                RuleKind::Spread(s) => {
                    tally.selected(domain) + i64::from(selects && counts_here(self, spot, rule)) - lowest
                        > i64::from(s.max_skew)
                }
            }
        });
    }

    /// Whether the pods of a spot and one more of `shape` would leave fewer
    /// choices than a variety demands.
    fn is_too_narrow(&self, shape: usize, variety: usize, spot: usize) -> bool {
        let variety = &self.instance.varieties[variety];
        let Some(bin) = self.bin(spot).filter(|b| variety.bins.binary_search(b).is_ok()) else { return false };
        let mut load = self.instance.shapes[shape].demand.clone();
        let mut shapes = vec![shape];
        for &(s, n) in self.planned(spot) {
            shapes.push(s);
            for (have, need) in load.iter_mut().zip(&self.instance.shapes[s].demand) {
                *have += need * i64::from(n);
            }
        }
        let hosts = |b: usize| {
            let tiers = |s: usize| self.instance.shapes[s].tiers.iter();
            let fits = load.iter().zip(&self.instance.bins[b].capacity).all(|(need, have)| need <= have);
            fits && shapes.iter().all(|&s| tiers(s).any(|t| self.instance.admissions[t.admission].bins.contains(b)))
        };
        let mut values: Vec<u32> = std::iter::zip(&variety.bins, &variety.value)
            .filter(|(b, _)| hosts(**b))
            .map(|(_, value)| *value)
            .collect();
        values.sort_unstable();
        values.dedup();
        // A bin that is no choice itself is excluded by something else.
        hosts(bin) && (values.len() as u64) < u64::from(variety.least)
    }
}
