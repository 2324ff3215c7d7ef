//! Rules that leave no place for one more pod however the others are moved.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;

use super::scene::{Scene, Spot};
use crate::instance::{Key, Rule, RuleKind};
use crate::sat::{Exclusion, Placement, Tight, place};

/// More pods, or pods times nodes, are not looked at.
const PODS: usize = 40;
const CELLS: usize = 6_000;

impl Scene<'_> {
    /// The fewest anti-affinities that together leave no place for one more
    /// pod of `shape`, even if the pods they are about were placed anew and
    /// nothing limited what is bought. None if they alone do not, or if it is
    /// not known within about `conflicts` conflicts.
    pub fn jointly(&self, shape: usize, conflicts: u64) -> Option<Vec<usize>> {
        let shapes = self.entangled(shape)?;
        let mut pods: Vec<usize> = vec![shape];
        let standing: Vec<usize> = (0..self.standing()).collect();
        let mut rooms: Vec<Vec<i64>> = standing.iter().map(|&s| self.free(s).to_vec()).collect();
        for &spot in &standing {
            for &(s, n) in self.planned(spot).iter().filter(|(s, _)| shapes.contains(s)) {
                pods.extend(std::iter::repeat_n(s, n as usize));
                for (have, need) in rooms[spot].iter_mut().zip(&self.instance.shapes[s].demand) {
                    *have += need * i64::from(n);
                }
            }
        }
        let fresh = self.fresh(&shapes);
        let nodes = standing.len() + fresh.len() * pods.len();
        if pods.len() > PODS || pods.len() * nodes > CELLS {
            return None;
        }
        let mut tight = Tight { rooms, ..Tight::default() };
        let mut hosts: Vec<(Vec<usize>, Vec<Option<u32>>)> =
            standing.iter().map(|&s| (self.bin(s).into_iter().collect(), self.domains(s))).collect();
        for (domains, bins) in &fresh {
            let most = (0..self.instance.dims).map(|d| bins.iter().map(|b| self.instance.bins[*b].capacity[d]).max());
            let most: Vec<i64> = most.map(|m| m.unwrap_or(0)).collect();
            for _ in 0..pods.len() {
                tight.rooms.push(most.clone());
                hosts.push((bins.clone(), domains.clone()));
            }
        }
        for &s in &pods {
            tight.demands.push(self.instance.shapes[s].demand.clone());
            let mut allowed = FixedBitSet::with_capacity(nodes);
            for (n, (bins, _)) in hosts.iter().enumerate() {
                allowed.set(n, self.admits(s, standing.get(n).copied(), bins));
            }
            tight.allowed.push(allowed);
        }
        tight.divisions.push((0..nodes as u32).map(Some).collect());
        tight.divisions.extend((0..self.instance.keys).map(|k| hosts.iter().map(|(_, d)| d[k]).collect()));
        for (index, rule) in self.instance.rules.iter().enumerate() {
            if matches!(rule.kind, RuleKind::Anti) && shapes.iter().any(|s| touches(rule, *s)) {
                self.exclude(index, &pods, &mut tight);
            }
        }
        match place(&tight, conflicts) {
            Placement::Impossible(core) if !core.is_empty() => Some(core),
            _ => None,
        }
    }

    /// Shapes that anti-affinities connect with `shape`; none if other rules
    /// take part.
    fn entangled(&self, shape: usize) -> Option<BTreeSet<usize>> {
        let mut all = BTreeSet::from([shape]);
        loop {
            let rules = self.instance.rules.iter().filter(|r| all.iter().any(|s| touches(r, *s)));
            let mut more = all.clone();
            for rule in rules {
                match rule.kind {
                    RuleKind::Anti => more.extend(rule.owners.iter().chain(&rule.selected)),
                    RuleKind::Affinity | RuleKind::Spread(_) if rule.owners.iter().any(|s| all.contains(s)) => {
                        return None;
                    }
                    RuleKind::Affinity | RuleKind::Spread(_) => {}
                }
            }
            if more.len() == all.len() {
                return Some(all);
            }
            all = more;
        }
    }

    /// Bins that some of the shapes may use, by their domains.
    fn fresh(&self, shapes: &BTreeSet<usize>) -> BTreeMap<Vec<Option<u32>>, Vec<usize>> {
        let mut groups: BTreeMap<Vec<Option<u32>>, Vec<usize>> = BTreeMap::new();
        for (b, bin) in self.instance.bins.iter().enumerate().filter(|(_, b)| b.buyable) {
            if shapes.iter().any(|s| self.admits(*s, None, &[b])) {
                groups.entry(bin.domain.clone()).or_default().push(b);
            }
        }
        groups
    }

    fn domains(&self, spot: usize) -> Vec<Option<u32>> {
        (0..self.instance.keys).map(|k| self.domain(spot, Key::Domain(k)).map(|d| d as u32)).collect()
    }

    fn admits(&self, shape: usize, spot: Option<usize>, bins: &[usize]) -> bool {
        let node = spot.and_then(|s| match self.spots[s] {
            Spot::Existing(n) => Some(n),
            _ => None,
        });
        self.instance.shapes[shape].tiers.iter().map(|t| &self.instance.admissions[t.admission]).any(|a| match node {
            Some(n) => a.nodes.contains(n),
            None => bins.iter().any(|b| a.bins.contains(*b)),
        })
    }

    /// The pairs that a rule keeps apart; what runs takes part as pods that
    /// need nothing and stay where they are.
    fn exclude(&self, index: usize, pods: &[usize], tight: &mut Tight) {
        let rule = &self.instance.rules[index];
        let division = match rule.key {
            Key::Host => 0,
            Key::Domain(k) => k + 1,
        };
        let insists =
            |s: usize| rule.owned_by(s) && self.instance.shapes[s].tiers.iter().all(|t| !t.waived.contains(&index));
        let mut apart = |a: usize, b: usize| tight.exclusions.push(Exclusion { label: index, division, pods: (a, b) });
        for (i, &a) in pods.iter().enumerate() {
            for (j, &b) in pods.iter().enumerate().take(i) {
                if (insists(a) && rule.selects(b)) || (insists(b) && rule.selects(a)) {
                    apart(i, j);
                }
            }
        }
        for spot in 0..self.standing() {
            let Spot::Existing(node) = self.spots[spot] else { continue };
            let on = |list: &[(usize, u32)]| list.iter().any(|&(n, count)| n == node && count > 0);
            let residents = &self.instance.nodes[node].residents;
            let selected = on(&rule.present) || residents.iter().any(|(s, _)| rule.selects(*s));
            let owners = on(&rule.present_owners) || residents.iter().any(|(s, _)| insists(*s));
            if !selected && !owners {
                continue;
            }
            let still = tight.demands.len();
            tight.demands.push(vec![0; self.instance.dims]);
            let mut there = FixedBitSet::with_capacity(tight.rooms.len());
            there.insert(spot);
            tight.allowed.push(there);
            for (i, &s) in pods.iter().enumerate() {
                if (selected && insists(s)) || (owners && rule.selects(s)) {
                    tight.exclusions.push(Exclusion { label: index, division, pods: (still, i) });
                }
            }
        }
    }
}

fn touches(rule: &Rule, shape: usize) -> bool {
    rule.owned_by(shape) || rule.selects(shape)
}
