use super::Index;
use crate::instance::{Instance, Key, RuleKind};

/// Counts of one host rule on one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCount {
    /// The rule.
    pub rule: usize,
    /// Counted pods.
    pub selected: u32,
    /// Carriers among the pods that bind newcomers.
    pub owners: u32,
    /// Counted pods that carry a spread or were there before.
    pub early: u32,
}

/// A node, old or new, while pods arrive.
#[derive(Clone, Debug)]
pub struct Place {
    /// Bin it is bought as; `None` for a node that exists.
    pub bin: Option<usize>,
    /// Its cell.
    pub cell: u32,
    /// Room left.
    pub room: Vec<i64>,
    /// What was put there: (shape, tier, count).
    pub contents: Vec<(usize, usize, u32)>,
    /// Host rules with a count.
    pub host: Vec<HostCount>,
}

impl Place {
    /// The counts of a rule here.
    pub fn host(&self, rule: usize) -> HostCount {
        self.host.iter().find(|h| h.rule == rule).copied().unwrap_or(HostCount { rule, ..HostCount::default() })
    }

    /// The same, to be changed.
    pub fn host_mut(&mut self, rule: usize) -> &mut HostCount {
        let at = match self.host.iter().position(|h| h.rule == rule) {
            Some(at) => at,
            None => {
                self.host.push(HostCount { rule, ..HostCount::default() });
                self.host.len() - 1
            }
        };
        &mut self.host[at]
    }

    /// Every node as it stands.
    pub fn existing(instance: &Instance, index: &Index) -> Vec<Place> {
        let mut places: Vec<Place> = instance
            .nodes
            .iter()
            .enumerate()
            .map(|(n, node)| Place {
                bin: None,
                cell: index.cells.of_node[n],
                room: node.free.clone(),
                contents: Vec::new(),
                host: Vec::new(),
            })
            .collect();
        for (r, rule) in instance.rules.iter().enumerate().filter(|(_, r)| r.key == Key::Host) {
            let spread = match &rule.kind {
                RuleKind::Spread(s) => Some(s),
                _ => None,
            };
            for &(n, count) in &index.base[r].selected {
                if spread.is_none_or(|s| s.scope.nodes.contains(n)) {
                    let h = places[n].host_mut(r);
                    h.selected += count;
                    h.early += count;
                }
            }
            if spread.is_none() {
                // Carriers of a spread that run already are not judged again.
                for &(n, count) in &index.base[r].owners {
                    places[n].host_mut(r).owners += count;
                }
            }
        }
        places
    }

    /// Pods put here.
    pub fn pods(&self) -> u32 {
        self.contents.iter().map(|c| c.2).sum()
    }
}
