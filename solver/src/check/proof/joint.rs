use super::items::carries;
use crate::certificate::Item;
use crate::instance::{Instance, Key, RuleKind};

/// A rule that lets at most so many pods of a group onto one node.
pub(super) struct Joint {
    rule: usize,
    most: u32,
    /// Whether a node that runs nothing selected may be full at `most` only
    /// because new nodes keep the minimum at 0.
    spread: bool,
}

impl Joint {
    /// The most pods of the group on one new node from a bin, `None` if the
    /// rule does not say.
    pub fn on_bin(&self, instance: &Instance, bin: usize) -> Option<u32> {
        match &instance.rules[self.rule].kind {
            RuleKind::Spread(s) if !s.scope.bins.contains(bin) => None,
            _ => Some(self.most),
        }
    }

    /// The most pods of the group that a node may receive.
    pub fn on_node(&self, instance: &Instance, n: usize) -> Option<u32> {
        let rule = &instance.rules[self.rule];
        if let RuleKind::Spread(s) = &rule.kind
            && !s.scope.nodes.contains(n)
        {
            return None;
        }
        let residents = &instance.nodes[n].residents;
        let there = |counts: &[(usize, u32)]| counts.iter().filter(|c| c.0 == n).map(|c| u64::from(c.1)).sum::<u64>();
        let selected: u64 = residents.iter().filter(|r| rule.selects(r.0)).map(|r| u64::from(r.1)).sum();
        let running = selected + there(&rule.present);
        if self.spread {
            return Some(u64::from(self.most).saturating_sub(running) as u32);
        }
        let bound = |s: usize| {
            rule.owned_by(s) && instance.shapes[s].tiers.iter().all(|t| t.waived.binary_search(&self.rule).is_err())
        };
        let owners = there(&rule.present_owners) > 0 || residents.iter().any(|r| r.1 > 0 && bound(r.0));
        Some(if running > 0 || owners { 0 } else { self.most })
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
        let (most, spread) = match &rule.kind {
            RuleKind::Anti => (1, false),
            // Only a new node that some owner could use keeps the minimum at
            // 0 for certain.
            RuleKind::Spread(s) if any_bin(instance, r) => (s.max_skew, true),
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
        joint.push(Joint { rule: r, most, spread });
    }
    let of = best.into_iter().map(|b| b.map(|b| b.2)).collect();
    (joint, of)
}

fn any_bin(instance: &Instance, r: usize) -> bool {
    instance.rules[r]
        .owners
        .iter()
        .any(|&s| instance.shapes[s].tiers.iter().any(|t| instance.admissions[t.admission].bins.count_ones(..) > 0))
}
