use super::reduced::Served;
use crate::instance::{Instance, Key, RuleKind};

/// Rules that let at most so many pods of a group onto one node.
pub(super) struct Joints {
    /// (rule, most).
    list: Vec<(usize, u32)>,
    /// Per served entry: the tightest, as an index into the list.
    pub of: Vec<Option<usize>>,
}

/// Host rules whose carriers exclude each other.
pub(super) fn rules(instance: &Instance, served: &[Served]) -> Joints {
    let mut list: Vec<(usize, u32)> = Vec::new();
    let mut of = vec![None; served.len()];
    let mut rank: Vec<Option<(u32, usize, usize)>> = vec![None; served.len()];
    for (r, rule) in instance.rules.iter().enumerate().filter(|(_, r)| r.key == Key::Host) {
        let most = match &rule.kind {
            RuleKind::Anti => 1,
            RuleKind::Spread(_) | RuleKind::Affinity => continue,
        };
        let members: Vec<usize> = (0..served.len()).filter(|&i| carries(instance, r, served[i])).collect();
        let this = (most, usize::MAX - members.len(), list.len());
        for i in members {
            if rank[i].is_none_or(|b| this < b) {
                rank[i] = Some(this);
                of[i] = Some(list.len());
            }
        }
        list.push((r, most));
    }
    Joints { list, of }
}

/// Whether these pods carry the rule and are selected by it.
pub(super) fn carries(instance: &Instance, r: usize, (s, t, _): Served) -> bool {
    let rule = &instance.rules[r];
    rule.owned_by(s) && rule.selects(s) && instance.shapes[s].tiers[t].waived.binary_search(&r).is_err()
}

impl Joints {
    /// Most pods per group on one new node.
    pub fn on_bin(&self) -> Vec<Option<u32>> {
        self.list.iter().map(|&(_, most)| Some(most)).collect()
    }

    /// Most pods per group that a node may still receive.
    pub fn on_node(&self, instance: &Instance, n: usize) -> Vec<Option<u32>> {
        let cap = |&(r, most): &(usize, u32)| {
            let rule = &instance.rules[r];
            let sum = |list: &[(usize, u32)]| list.iter().filter(|p| p.0 == n).map(|p| p.1).sum::<u32>();
            let residents = &instance.nodes[n].residents;
            let there = sum(&rule.present) + residents.iter().filter(|x| rule.selects(x.0)).map(|x| x.1).sum::<u32>();
            let firm = |s: usize| {
                let tiers = &instance.shapes[s].tiers;
                rule.owned_by(s) && tiers.iter().all(|t| t.waived.binary_search(&r).is_err())
            };
            let owners = sum(&rule.present_owners) > 0 || residents.iter().any(|x| x.1 > 0 && firm(x.0));
            Some(if there > 0 || owners { 0 } else { most })
        };
        self.list.iter().map(cap).collect()
    }
}
