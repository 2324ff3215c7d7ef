//! A part of a plan undone and planned anew: what a few nodes hold is let go,
//! some more nodes may go, all else stays where it is.

use super::attempt::pack;
use super::reduce::without;
use crate::instance::{Bin, Instance, Node, RuleKind};
use crate::plan::{Contents, NewNode, Plan};
use std::collections::BTreeMap;

/// What is undone.
#[derive(Clone, Debug, Default)]
pub struct Undone {
    /// Positions in [`Plan::bought`], ascending.
    pub bought: Vec<usize>,
    /// Positions in [`Plan::placed`], ascending.
    pub placed: Vec<usize>,
    /// More nodes that go, ascending.
    pub gone: Vec<usize>,
}

/// The plan with a part of it made anew.
pub fn again(
    instance: &Instance,
    plan: &Plan,
    undone: &Undone,
    rounds: u64,
    seed: u64,
    stop: &dyn Fn() -> bool,
) -> Option<Plan> {
    let mut removed: Vec<usize> = plan.removed.iter().chain(&undone.gone).copied().collect();
    removed.sort_unstable();
    let mut rest = without(instance, &removed);
    let kept_bought: Vec<&NewNode> =
        plan.bought.iter().enumerate().filter(|(i, _)| undone.bought.binary_search(i).is_err()).map(|b| b.1).collect();
    let mut fixed: BTreeMap<usize, &Contents> = BTreeMap::new();
    for (i, (n, contents)) in plan.placed.iter().enumerate() {
        // What a node that goes had taken in is on its way again.
        if undone.placed.binary_search(&i).is_err() && undone.gone.binary_search(n).is_err() {
            fixed.insert(*n, contents);
        }
    }
    let nodes = rest.nodes.len();
    for new in &kept_bought {
        let at = rest.nodes.len();
        let bin = rest.bins[new.bin].clone();
        rest.nodes.push(standing(&bin));
        for &(l, a) in &bin.limit_use {
            rest.limits[l].max -= a;
        }
        if let Some(s) = bin.supply {
            rest.supplies[s].count = rest.supplies[s].count.saturating_sub(1);
        }
        for a in &mut rest.admissions {
            a.nodes.grow(at + 1);
            let open = a.bins.contains(new.bin);
            a.nodes.set(at, open);
        }
        for rule in &mut rest.rules {
            if let RuleKind::Spread(s) = &mut rule.kind {
                s.scope.nodes.grow(at + 1);
                let inside = s.scope.bins.contains(new.bin);
                s.scope.nodes.set(at, inside);
            }
        }
    }
    let standing = kept_bought.iter().enumerate().map(|(i, new)| (nodes + i, &new.contents));
    for (at, contents) in fixed.iter().map(|(n, c)| (*n, *c)).chain(standing) {
        settle(&mut rest, at, contents)?;
    }
    let new = pack(&rest, rounds, seed, stop)?;
    let mut bought: Vec<NewNode> = kept_bought.into_iter().cloned().collect();
    let mut placed: BTreeMap<usize, Contents> = fixed.into_iter().map(|(n, c)| (n, c.clone())).collect();
    for (n, contents) in &new.placed {
        let onto = match n.checked_sub(nodes) {
            Some(i) => &mut bought[i].contents,
            None => placed.entry(*n).or_default(),
        };
        *onto = merged(onto, contents);
    }
    bought.extend(new.bought);
    Some(Plan {
        bought,
        placed: placed.into_iter().filter(|p| !p.1.is_empty()).collect(),
        removed,
        unserved: new.unserved,
        demoted: new.demoted,
    })
}

/// A bought node as one that stands.
fn standing(bin: &Bin) -> Node {
    Node {
        free: bin.capacity.clone(),
        domain: bin.domain.clone(),
        residents: Vec::new(),
        price: bin.price,
        removal: None,
        limit_use: Vec::new(),
        supply: None,
    }
}

/// Puts planned pods down as residents.
fn settle(rest: &mut Instance, at: usize, contents: &Contents) -> Option<()> {
    for &(s, c) in contents {
        for (free, d) in rest.nodes[at].free.iter_mut().zip(&rest.shapes[s].demand) {
            *free -= d * i64::from(c);
        }
        let shape = &mut rest.shapes[s];
        shape.count = shape.count.checked_sub(c)?;
    }
    let node = &mut rest.nodes[at];
    node.residents = merged(&node.residents, contents);
    Some(())
}

fn merged(a: &[(usize, u32)], b: &[(usize, u32)]) -> Contents {
    let mut all: BTreeMap<usize, u32> = BTreeMap::new();
    a.iter().chain(b).for_each(|&(s, c)| *all.entry(s).or_default() += c);
    all.into_iter().collect()
}
