//! Pods that a rule counts, and those that carry it, by domain.

use std::collections::BTreeMap;

use super::scene::{Scene, Spot};
use crate::instance::{Key, Rule, RuleKind, Spread};

/// Counts of one rule, by domain.
#[derive(Default)]
pub struct Tally {
    selected: BTreeMap<usize, i64>,
    owners: BTreeMap<usize, i64>,
    /// Newcomers that carry the rule and are selected.
    both: BTreeMap<usize, i64>,
    /// Selected pods that need no other to be there.
    firm: BTreeMap<usize, i64>,
    /// Whether any selected pod was there before the plan.
    begun: bool,
}

impl Tally {
    pub fn new(scene: &Scene<'_>, index: usize) -> Self {
        let rule = &scene.instance.rules[index];
        let present: BTreeMap<usize, u32> = rule.present.iter().copied().collect();
        let carriers: BTreeMap<usize, u32> = rule.present_owners.iter().copied().collect();
        let mut tally = Self::default();
        for spot in 0..scene.standing() {
            let (mut old, mut old_owners, mut firm, mut both, mut owners) = (0, 0, 0, 0, 0);
            if let Spot::Existing(n) = scene.spots[spot] {
                old += i64::from(present.get(&n).copied().unwrap_or(0));
                old_owners += i64::from(carriers.get(&n).copied().unwrap_or(0));
                for &(shape, count) in &scene.instance.nodes[n].residents {
                    old += if rule.selects(shape) { i64::from(count) } else { 0 };
                    old_owners += if owned(scene, index, shape) { i64::from(count) } else { 0 };
                }
            }
            for &(shape, count) in scene.planned(spot) {
                match (owned(scene, index, shape), rule.selects(shape)) {
                    (true, true) => both += i64::from(count),
                    (true, false) => owners += i64::from(count),
                    (false, true) => firm += i64::from(count),
                    (false, false) => {}
                }
            }
            tally.begun |= old > 0;
            let Some(domain) = scene.domain(spot, rule.key) else { continue };
            if counts_here(scene, spot, rule) {
                *tally.selected.entry(domain).or_default() += old + firm + both;
            }
            *tally.firm.entry(domain).or_default() += old + firm;
            *tally.both.entry(domain).or_default() += both;
            *tally.owners.entry(domain).or_default() += old_owners + owners + both;
        }
        tally
    }

    /// Whether a carrier of an affinity may come to `domain`: a pod that it
    /// follows is there, or it belongs to the group that begins there.
    pub fn attracts(&self, domain: usize, selects: bool) -> bool {
        if self.firm.get(&domain).is_some_and(|n| *n > 0) {
            return true;
        }
        let begins = selects || self.both.get(&domain).is_some_and(|n| *n > 0);
        let elsewhere = self.both.iter().any(|(d, n)| *d != domain && *n > 0 && self.firm[d] == 0);
        begins && !self.begun && !elsewhere
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
pub(super) fn counts_here(scene: &Scene<'_>, spot: usize, rule: &Rule) -> bool {
    let RuleKind::Spread(spread) = &rule.kind else { return true };
    match scene.spots[spot] {
        Spot::Existing(n) => spread.scope.nodes.contains(n),
        Spot::Bought(_) | Spot::Fresh(_) => scene.bin(spot).is_some_and(|b| spread.scope.bins.contains(b)),
    }
}

/// Whether pods of the shape carry the rule: not where every pod that is
/// served has given it up.
fn owned(scene: &Scene<'_>, rule: usize, shape: usize) -> bool {
    if !scene.instance.rules[rule].owned_by(shape) {
        return false;
    }
    let s = &scene.instance.shapes[shape];
    let unserved = scene.plan.unserved.iter().find(|(x, _)| *x == shape).map_or(0, |(_, n)| *n);
    let waived = |&&(x, tier, _): &&(usize, usize, u32)| x == shape && s.tiers[tier].waived.contains(&rule);
    let given_up: u32 = scene.plan.demoted.iter().filter(waived).map(|(_, _, n)| *n).sum();
    given_up == 0 || given_up + unserved < s.count
}
