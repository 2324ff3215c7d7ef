use std::collections::BTreeMap;

use super::broken::{Broken, Spot};
use crate::instance::{Instance, Key, Rule};
use crate::plan::{Contents, Plan};

/// Newly placed pods of one shape in one tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pods {
    pub shape: usize,
    pub tier: usize,
    pub count: u32,
}

/// A node after the plan: bought, or kept.
pub(super) struct Place<'a> {
    pub spot: Spot,
    pub domain: &'a [Option<u32>],
    /// Newly placed pods.
    pub pods: Vec<Pods>,
    /// Residents that stay.
    pub residents: &'a [(usize, u32)],
    /// The bin of a bought node.
    pub bin: Option<usize>,
}

/// How the pods of one shape on one place divide among tiers:
/// (spot, shape) to (tier, count).
pub(super) type Tiers = BTreeMap<(Spot, usize), Vec<(usize, u32)>>;

/// All nodes after the plan.
pub(super) struct View<'a> {
    pub places: Vec<Place<'a>>,
    /// Per node of the instance: its place, `None` if removed.
    pub of_node: Vec<Option<usize>>,
}

impl<'a> View<'a> {
    pub fn new(instance: &'a Instance, plan: &'a Plan, tiers: &Tiers) -> Self {
        let pods = |spot: Spot, contents: &Contents| -> Vec<Pods> {
            let mut out = Vec::new();
            for &(shape, count) in contents {
                match tiers.get(&(spot, shape)) {
                    None => out.push(Pods { shape, tier: 0, count }),
                    Some(split) => out.extend(split.iter().map(|&(tier, count)| Pods { shape, tier, count })),
                }
            }
            out
        };
        let placed: BTreeMap<usize, &Contents> = plan.placed.iter().map(|(n, c)| (*n, c)).collect();
        let mut places = Vec::new();
        let mut of_node = vec![None; instance.nodes.len()];
        for (n, node) in instance.nodes.iter().enumerate() {
            if plan.removed.binary_search(&n).is_ok() {
                continue;
            }
            of_node[n] = Some(places.len());
            let spot = Spot::Node(n);
            let pods = placed.get(&n).map(|c| pods(spot, c)).unwrap_or_default();
            places.push(Place { spot, domain: &node.domain, pods, residents: &node.residents, bin: None });
        }
        for (i, new) in plan.bought.iter().enumerate() {
            let spot = Spot::Bought(i);
            places.push(Place {
                spot,
                domain: &instance.bins[new.bin].domain,
                pods: pods(spot, &new.contents),
                residents: &[],
                bin: Some(new.bin),
            });
        }
        View { places, of_node }
    }

    /// The domain of a place for a key; for the host each place is its own.
    pub fn domain(&self, place: usize, key: Key) -> Option<usize> {
        match key {
            Key::Host => Some(place),
            Key::Domain(k) => self.places[place].domain[k].map(|d| d as usize),
        }
    }

    /// Number of domain ids [`View::domain`] can give.
    pub fn domains(&self, instance: &Instance, key: Key) -> usize {
        match key {
            Key::Host => self.places.len(),
            Key::Domain(k) => instance.domains[k] as usize,
        }
    }

    /// A name for a domain.
    pub fn name(&self, domain: usize, key: Key) -> String {
        match key {
            Key::Host => self.places[domain].spot.to_string(),
            Key::Domain(k) => format!("{domain} of key {k}"),
        }
    }
}

/// Whether newly placed pods carry a rule.
pub(super) fn carries(instance: &Instance, r: usize, rule: &Rule, pods: &Pods) -> bool {
    rule.owned_by(pods.shape) && instance.shapes[pods.shape].tiers[pods.tier].waived.binary_search(&r).is_err()
}

/// Whether residents that stay carry a rule: a preference that some tier of
/// theirs gives up binds nobody else.
pub(super) fn resident_carries(instance: &Instance, r: usize, rule: &Rule, shape: usize) -> bool {
    rule.owned_by(shape) && instance.shapes[shape].tiers.iter().all(|t| t.waived.binary_search(&r).is_err())
}

/// Checks that all references and orders in a plan make sense, so that the
/// other checks can rely on them.
pub(super) fn form(instance: &Instance, plan: &Plan) -> Vec<Broken> {
    let mut broken = Vec::new();
    for (i, new) in plan.bought.iter().enumerate() {
        match instance.bins.get(new.bin) {
            None => broken.push(Broken::NoSuchBin { bought: i, bin: new.bin }),
            Some(bin) if !bin.buyable => broken.push(Broken::NotBuyable { bought: i, bin: new.bin }),
            Some(_) => {}
        }
        contents(instance, &Spot::Bought(i).to_string(), &new.contents, &mut broken);
    }
    ascending("placed", plan.placed.iter().map(|(n, _)| *n), &mut broken);
    for (n, c) in &plan.placed {
        if *n >= instance.nodes.len() {
            broken.push(Broken::NoSuchNode { node: *n });
        }
        if plan.removed.contains(n) {
            broken.push(Broken::PlacedOnRemoved { node: *n });
        }
        contents(instance, &Spot::Node(*n).to_string(), c, &mut broken);
    }
    ascending("removed", plan.removed.iter().copied(), &mut broken);
    for &node in &plan.removed {
        match instance.nodes.get(node) {
            None => broken.push(Broken::NoSuchNode { node }),
            Some(n) if n.removal.is_none() => broken.push(Broken::NotRemovable { node }),
            Some(_) => {}
        }
    }
    contents(instance, "unserved", &plan.unserved, &mut broken);
    ascending("demoted", plan.demoted.iter().map(|&(s, t, _)| (s, t)), &mut broken);
    for &(shape, tier, count) in &plan.demoted {
        let list = || "demoted".to_string();
        if shape >= instance.shapes.len() {
            broken.push(Broken::NoSuchShape { list: list(), shape });
        } else if tier == 0 || tier >= instance.shapes[shape].tiers.len() {
            broken.push(Broken::NoSuchTier { shape, tier });
        }
        if count == 0 {
            broken.push(Broken::ZeroCount { list: list(), shape });
        }
    }
    broken
}

fn contents(instance: &Instance, list: &str, contents: &Contents, broken: &mut Vec<Broken>) {
    ascending(list, contents.iter().map(|&(s, _)| s), broken);
    for &(shape, count) in contents {
        if shape >= instance.shapes.len() {
            broken.push(Broken::NoSuchShape { list: list.to_string(), shape });
        }
        if count == 0 {
            broken.push(Broken::ZeroCount { list: list.to_string(), shape });
        }
    }
}

fn ascending<T: PartialOrd>(list: &str, items: impl Iterator<Item = T>, broken: &mut Vec<Broken>) {
    let mut last: Option<T> = None;
    for i in items {
        if last.as_ref().is_some_and(|l| i <= *l) {
            broken.push(Broken::Unsorted { list: list.to_string() });
            return;
        }
        last = Some(i);
    }
}
