//! Pods that a rule counts, and those that carry it, by domain.

use std::collections::BTreeMap;

use super::scene::{Scene, Spot};
use crate::instance::{Key, Rule, RuleKind, Spread};

/// Counts of one rule.
pub struct Tally {
    pub selected: BTreeMap<usize, i64>,
    pub owners: BTreeMap<usize, i64>,
}

impl Tally {
    pub fn new(scene: &Scene<'_>, rule_index: usize) -> Self {
        let rule = &scene.instance.rules[rule_index];
        let present: BTreeMap<usize, u32> = rule.present.iter().copied().collect();
        let carriers: BTreeMap<usize, u32> = rule.present_owners.iter().copied().collect();
        let mut tally = Self { selected: BTreeMap::new(), owners: BTreeMap::new() };
        for spot in 0..scene.standing() {
            let Some(domain) = scene.domain(spot, rule.key) else { continue };
            let (mut selected, mut owners) = (0, 0);
            if let Spot::Existing(n) = scene.spots[spot] {
                selected += i64::from(present.get(&n).copied().unwrap_or(0));
                owners += i64::from(carriers.get(&n).copied().unwrap_or(0));
            }
            for &(shape, n) in scene.contents(spot) {
                if rule.selects(shape) {
                    selected += i64::from(n);
                }
                if rule.owned_by(shape) && !all_waive(scene, shape, rule_index) {
                    owners += i64::from(n);
                }
            }
            if counts_here(scene, spot, rule) {
                *tally.selected.entry(domain).or_default() += selected;
            }
            *tally.owners.entry(domain).or_default() += owners;
        }
        tally
    }

    pub fn selected(&self, domain: usize) -> i64 {
        self.selected.get(&domain).copied().unwrap_or(0)
    }

    pub fn owners(&self, domain: usize) -> i64 {
        self.owners.get(&domain).copied().unwrap_or(0)
    }

    /// The count that a spread measures others by.
    pub fn lowest(&self, rule: &Rule, spread: &Spread) -> i64 {
        let mut domains: BTreeMap<usize, i64> = self.selected.clone();
        if rule.key != Key::Host {
            for &d in &spread.eligible {
                domains.entry(d as usize).or_default();
            }
        }
        if (domains.len() as u64) < u64::from(spread.min_domains) {
            return 0;
        }
        domains.values().copied().min().unwrap_or(0)
    }
}

/// Whether pods at the spot count for the rule.
fn counts_here(scene: &Scene<'_>, spot: usize, rule: &Rule) -> bool {
    let RuleKind::Spread(spread) = &rule.kind else { return true };
    match scene.spots[spot] {
        Spot::Existing(n) => spread.scope.nodes.contains(n),
        Spot::Bought(_) | Spot::Fresh(_) => scene.bin(spot).is_some_and(|b| spread.scope.bins.contains(b)),
    }
}

/// Whether every pod of the shape that is served has given the rule up.
fn all_waive(scene: &Scene<'_>, shape: usize, rule: usize) -> bool {
    let s = &scene.instance.shapes[shape];
    let unserved = scene.plan.unserved.iter().find(|(x, _)| *x == shape).map_or(0, |(_, n)| *n);
    let waived = |&&(x, tier, _): &&(usize, usize, u32)| x == shape && s.tiers[tier].waived.contains(&rule);
    let given_up: u32 = scene.plan.demoted.iter().filter(waived).map(|(_, _, n)| *n).sum();
    given_up > 0 && given_up + unserved >= s.count
}
