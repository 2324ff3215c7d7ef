//! From slots back to pods, and from pods to a legal plan.

use super::model::Model;
use super::solution::Solution;
use crate::arrival::{Arrivals, Index};
use crate::firstfit::{arrive, finish};
use crate::instance::Instance;
use crate::plan::Plan;
use crate::units::units;
use std::collections::BTreeMap;

/// (shape, tier, pods).
pub type Pods = Vec<(usize, usize, u32)>;

/// What is where, by shape and tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// (bin, pods) per new node.
    pub bought: Vec<(usize, Pods)>,
    /// (node, pods).
    pub placed: Vec<(usize, Pods)>,
    /// Without a place.
    pub left: Pods,
}

impl Packing {
    /// Spells a solution out.
    pub fn new(model: &Model, solution: &Solution) -> Self {
        let mut queue: Vec<Vec<(usize, u32)>> =
            model.slots.iter().map(|s| s.items.iter().rev().copied().collect()).collect();
        let mut draw = |contents: &[(u32, u32)]| -> Pods {
            let mut pods: BTreeMap<(usize, usize), u32> = BTreeMap::new();
            for &(slot, n) in contents {
                let mut n = n;
                let queue = &mut queue[slot as usize];
                while n > 0 {
                    let Some(last) = queue.last_mut() else { break };
                    let take = n.min(last.1);
                    let item = &model.items[last.0];
                    for &(s, per) in &item.parts {
                        *pods.entry((s, item.tier)).or_default() += per * take;
                    }
                    last.1 -= take;
                    n -= take;
                    if last.1 == 0 {
                        queue.pop();
                    }
                }
            }
            pods.into_iter().map(|((s, t), n)| (s, t, n)).collect()
        };
        let mut out = Packing::default();
        for (spare, contents) in &solution.filled {
            out.placed.push((model.spares[*spare as usize].node, draw(contents)));
        }
        for node in &solution.bought {
            for _ in 0..node.copies {
                out.bought.push((model.offers[node.offer as usize].bin, draw(&node.contents)));
            }
        }
        let left: Vec<(u32, u32)> =
            solution.left.iter().enumerate().filter(|(_, n)| **n > 0).map(|(s, &n)| (s as u32, n)).collect();
        out.left = draw(&left);
        out
    }

    /// A plan: as packed, and what is left arrives last.
    pub fn plan(&self, instance: &Instance, index: &Index, late: &[(usize, usize, u32)]) -> Plan {
        let mut state = Arrivals::new(instance, index);
        for (node, pods) in &self.placed {
            put_all(&mut state, *node, pods);
        }
        for (bin, pods) in &self.bought {
            let place = state.open(*bin);
            put_all(&mut state, place, pods);
        }
        let mut waiting = self.left.clone();
        waiting.extend_from_slice(late);
        if !waiting.is_empty() {
            arrive(&mut state, &waiting);
        }
        finish(state)
    }

    /// A plan made by letting all pods arrive anew, each where it was packed
    /// if the rules let it in there by then. Legal whatever the packing was.
    pub fn replay(&self, instance: &Instance, index: &Index, late: &[(usize, usize, u32)]) -> Plan {
        let mut state = Arrivals::new(instance, index);
        let mut spots: BTreeMap<(usize, usize), Vec<(usize, u32)>> = BTreeMap::new();
        let mut note = |place: usize, pods: &Pods| {
            for &(s, t, n) in pods {
                spots.entry((s, t)).or_default().push((place, n));
            }
        };
        self.placed.iter().for_each(|(node, pods)| note(*node, pods));
        for (bin, pods) in &self.bought {
            if state.buyable(*bin) {
                let place = state.open(*bin);
                note(place, pods);
            }
        }
        let mut total: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        let everyone = self.placed.iter().chain(&self.bought).flat_map(|p| &p.1).chain(&self.left).chain(late);
        everyone.for_each(|&(s, t, n)| *total.entry((s, t)).or_default() += n);
        let waiting: Pods = total.iter().map(|(&(s, t), &n)| (s, t, n)).collect();
        let order = units(instance, index, &waiting);
        loop {
            let mut moved = false;
            for unit in &order {
                for &(s, _) in &unit.parts {
                    let Some(list) = spots.get_mut(&(s, unit.tier)) else { continue };
                    for (place, n) in list.iter_mut() {
                        while *n > 0 && state.admits(s, unit.tier, *place) {
                            state.put(s, unit.tier, *place);
                            *n -= 1;
                            moved = true;
                            if let Some(t) = total.get_mut(&(s, unit.tier)) {
                                *t -= 1;
                            }
                        }
                    }
                    list.retain(|p| p.1 > 0);
                }
            }
            if !moved {
                break;
            }
        }
        let rest: Pods = total.into_iter().filter(|t| t.1 > 0).map(|((s, t), n)| (s, t, n)).collect();
        arrive(&mut state, &rest);
        finish(state)
    }
}

fn put_all(state: &mut Arrivals, place: usize, pods: &Pods) {
    for &(s, t, n) in pods {
        (0..n).for_each(|_| state.put(s, t, place));
    }
}
