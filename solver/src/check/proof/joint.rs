use super::items::carries;
use crate::certificate::Item;
use crate::instance::{Instance, Key, RuleKind};

/// A rule that lets at most so many pods of a group onto one node.
pub(super) struct Joint {
    rule: usize,
    most: u32,
}

impl Joint {
    /// The most pods of the group on one new node.
    pub fn on_bin(&self) -> u32 {
        self.most
    }

    /// The most pods of the group that a node may receive.
    pub fn on_node(&self, instance: &Instance, n: usize) -> u32 {
        let rule = &instance.rules[self.rule];
        let residents = &instance.nodes[n].residents;
        let there = |counts: &[(usize, u32)]| counts.iter().filter(|c| c.0 == n).map(|c| u64::from(c.1)).sum::<u64>();
        let selected: u64 = residents.iter().filter(|r| rule.selects(r.0)).map(|r| u64::from(r.1)).sum();
        let running = selected + there(&rule.present);
        let bound = |s: usize| {
            rule.owned_by(s) && instance.shapes[s].tiers.iter().all(|t| t.waived.binary_search(&self.rule).is_err())
        };
        let owners = there(&rule.present_owners) > 0 || residents.iter().any(|r| r.1 > 0 && bound(r.0));
        if running > 0 || owners { 0 } else { self.most }
    }
}

/// The host rules in force and, per item, the tightest: pods that carry it and
/// are selected by it exclude each other.
pub(super) fn groups(instance: &Instance, items: &[Item]) -> (Vec<Joint>, Vec<Option<usize>>) {
    let mut joint: Vec<Joint> = Vec::new();
    let mut best: Vec<Option<(u32, usize, usize)>> = vec![None; items.len()];
    for (r, rule) in instance.rules.iter().enumerate() {
        if rule.key != Key::Host {
            continue;
        }
        // A spread caps nothing by itself: on few nodes the minimum rises too.
        let most = match &rule.kind {
            RuleKind::Anti => 1,
            RuleKind::Spread(_) | RuleKind::Affinity => continue,
        };
        let members: Vec<usize> =
            (0..items.len()).filter(|&i| carries(instance, r, &items[i]) && rule.selects(items[i].shape)).collect();
        // Few pods per node first, then large groups, then the order given.
        let rank = (most, usize::MAX - members.len(), joint.len());
        for &i in &members {
            if best[i].is_none_or(|b| rank < b) {
                best[i] = Some(rank);
            }
        }
        joint.push(Joint { rule: r, most });
    }
    let of = best.into_iter().map(|b| b.map(|b| b.2)).collect();
    (joint, of)
}
