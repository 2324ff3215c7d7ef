//! Who takes part in which rule: classes that wait, and pods that run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use millwright_solver::instance::Scope;
use rustc_hash::FxHashMap;

use super::classes::Class;
use super::columns::Labelled;
use super::nodes::Places;
use super::ports::{HostPort, PortRule, host_ports, port_rules};
use super::registry::{Registry, RuleId};
use super::terms::{Term, TermKind, TermReader};
use super::tiers::{Ground, Owned, Reach};
use crate::kube::pod::Pod;
use crate::world::World;

/// Registers the rules of all classes and of the pods that run; returns what
/// each class carries.
pub fn register(
    world: &World,
    ground: &mut Ground<'_, '_>,
    homes: &BTreeMap<usize, usize>,
    classes: &mut [Class],
    reader: &mut TermReader<'_>,
    registry: &mut Registry,
) -> Vec<Owned> {
    let mut owned: Vec<Owned> = vec![Owned::new(); classes.len()];
    for (c, class) in classes.iter().enumerate() {
        let pod = class.sample(world);
        let mut spread: Option<SpreadGround> = None;
        for (term, drop) in &class.ladder.terms {
            let id = match &term.kind {
                TermKind::Spread { .. } => {
                    let of_pod = spread.get_or_insert_with(|| SpreadGround::new(ground, pod));
                    of_pod.rule(ground, term)
                }
                TermKind::Anti => RuleId::Anti { selector: term.selector, key: term.key.clone() },
                TermKind::Affinity => RuleId::Affinity { selector: term.selector, key: term.key.clone() },
            };
            let rule = registry.rule(id);
            registry.own(rule, c);
            match owned[c].iter_mut().find(|(r, _)| *r == rule) {
                // Asked for twice: the firmer word holds.
                Some((_, have)) => *have = have.zip(*drop).map(|(a, b)| a.max(b)),
                None => owned[c].push((rule, *drop)),
            }
        }
    }
    let running = Running::new(world, ground.places.source(), homes);
    running.register_anti(world, reader, registry);
    count(world, classes, &running, reader, registry);
    register_ports(world, classes, &running, registry, &mut owned);
    for o in &mut owned {
        o.sort_unstable();
    }
    owned
}

/// Where a pod's spreads count.
struct SpreadGround {
    selected: Reach,
    tolerated: Reach,
    everywhere: Reach,
    devices: FixedBitSet,
}

impl SpreadGround {
    fn new(ground: &mut Ground<'_, '_>, pod: &Pod) -> Self {
        let offers = ground.rows.source();
        let mut devices = ground.rows.every();
        for (name, amount) in pod.requests.iter().filter(|(n, a)| n.contains('/') && *a > 0) {
            for (i, row) in offers.rows.iter().enumerate() {
                if offers.ptype(row).allocatable.get(name) < amount {
                    devices.set(i, false);
                }
            }
        }
        let mut present = ground.places.every();
        for (i, place) in ground.places.source().0.iter().enumerate() {
            present.set(i, !place.leaving);
        }
        Self {
            selected: ground.selected(pod),
            tolerated: ground.tolerated(&pod.spec.tolerations, true),
            everywhere: Reach { rows: ground.rows.every(), places: present },
            devices,
        }
    }

    /// The rule of one term, with the domains that the catalogue adds.
    fn rule(&self, ground: &mut Ground<'_, '_>, term: &Term) -> RuleId {
        let TermKind::Spread { max_skew, min_domains, honor_affinity, honor_taints } = term.kind else {
            return RuleId::Anti { selector: term.selector, key: term.key.clone() };
        };
        let mut scope = self.everywhere.clone();
        if honor_affinity {
            scope.intersect(&self.selected);
        }
        let mut usable = scope.rows.clone();
        usable.intersect_with(&self.tolerated.rows);
        usable.intersect_with(&self.devices);
        if honor_taints {
            scope.intersect(&self.tolerated);
        }
        let eligible = if term.key == crate::karpenter::labels::HOSTNAME {
            BTreeSet::new()
        } else {
            ground.rows.distinct(&term.key, &usable)
        };
        RuleId::Spread {
            selector: term.selector,
            key: term.key.clone(),
            max_skew,
            min_domains,
            scope: Scope { bins: scope.rows, nodes: scope.places },
            eligible,
        }
    }
}

/// Pods that run and are not planned for, grouped by what they look like.
/// Those that are ending count as long as they are there: for affinities and
/// ports, not for spreads.
struct Running {
    /// A pod that stands for the group, and its count per place.
    groups: Vec<(usize, BTreeMap<usize, u32>)>,
}

impl Running {
    fn new(world: &World, places: &Places<'_>, homes: &BTreeMap<usize, usize>) -> Self {
        let mut groups: Vec<(usize, BTreeMap<usize, u32>)> = Vec::new();
        let mut index: FxHashMap<(usize, usize, &str, bool), usize> = FxHashMap::default();
        for (p, place) in places.0.iter().enumerate().filter(|(_, p)| !p.leaving) {
            for &i in &place.running {
                let pod = &world.pods[i];
                // Residents of nodes that may go count through their shapes.
                if homes.contains_key(&i) {
                    continue;
                }
                let (spec, labels) = (Arc::as_ptr(&pod.spec) as usize, Arc::as_ptr(&pod.labels) as usize);
                let key = (spec, labels, pod.namespace.as_str(), pod.deleted.is_some());
                let g = *index.entry(key).or_insert_with(|| {
                    groups.push((i, BTreeMap::new()));
                    groups.len() - 1
                });
                *groups[g].1.entry(p).or_default() += 1;
            }
        }
        Self { groups }
    }

    /// Required anti-affinity of running pods binds newcomers.
    fn register_anti(&self, world: &World, reader: &mut TermReader<'_>, registry: &mut Registry) {
        for (sample, counts) in &self.groups {
            let pod = &world.pods[*sample];
            if pod.spec.affinity.as_ref().is_none_or(|a| a.pod_anti_affinity.is_none()) {
                continue;
            }
            for (term, drop) in reader.ladder(pod).terms {
                if term.kind == TermKind::Anti && drop.is_none() {
                    let rule = registry.rule(RuleId::Anti { selector: term.selector, key: term.key });
                    for (&place, &n) in counts {
                        *registry.rules[rule].present_owners.entry(place).or_default() += n;
                    }
                }
            }
        }
    }
}

/// Fills in whom each rule's selector counts.
fn count(world: &World, classes: &mut [Class], running: &Running, reader: &TermReader<'_>, registry: &mut Registry) {
    let mut by_selector: Vec<Vec<usize>> = vec![Vec::new(); reader.selectors.len()];
    for (r, id) in registry.rules.keys().enumerate() {
        if let Some(s) = id.selector() {
            by_selector[s].push(r);
        }
    }
    let mut seen: FxHashMap<(usize, &str), Vec<usize>> = FxHashMap::default();
    for (c, class) in classes.iter_mut().enumerate() {
        let pod = class.sample(world);
        let key = (Arc::as_ptr(&pod.labels) as usize, pod.namespace.as_str());
        let matched = seen.entry(key).or_insert_with(|| reader.selectors.matching(&pod.namespace, &pod.labels)).clone();
        for &rule in matched.iter().flat_map(|&s| &by_selector[s]) {
            registry.rules[rule].selected.insert(c);
        }
        class.matched = matched;
    }
    for (sample, counts) in &running.groups {
        let pod = &world.pods[*sample];
        let key = (Arc::as_ptr(&pod.labels) as usize, pod.namespace.as_str());
        let matched = seen.entry(key).or_insert_with(|| reader.selectors.matching(&pod.namespace, &pod.labels)).clone();
        for &rule in matched.iter().flat_map(|&s| &by_selector[s]) {
            let id = registry.rules.get_index(rule).map(|(id, _)| id);
            if pod.deleted.is_some() && matches!(id, Some(RuleId::Spread { .. })) {
                continue;
            }
            for (&place, &n) in counts {
                *registry.rules[rule].present.entry(place).or_default() += n;
            }
        }
    }
}

fn register_ports(world: &World, classes: &[Class], running: &Running, registry: &mut Registry, owned: &mut [Owned]) {
    let wanted: Vec<&HostPort> = classes.iter().flat_map(|c| &c.ports).collect();
    if wanted.is_empty() {
        return;
    }
    let taken: Vec<(Vec<HostPort>, &BTreeMap<usize, u32>)> =
        running.groups.iter().map(|(p, n)| (host_ports(&world.pods[*p].spec), n)).collect();
    let all = wanted.into_iter().chain(taken.iter().flat_map(|(p, _)| p));
    for (i, PortRule { owners, against }) in port_rules(all).into_iter().enumerate() {
        let rule = registry.rule(RuleId::Port(i));
        for (c, class) in classes.iter().enumerate() {
            if class.ports.iter().any(|p| owners.contains(p)) {
                registry.own(rule, c);
                owned[c].push((rule, None));
            }
            if class.ports.iter().any(|p| against.contains(p)) {
                registry.rules[rule].selected.insert(c);
            }
        }
        for (ports, counts) in &taken {
            for (&place, &n) in *counts {
                let parties = &mut registry.rules[rule];
                if ports.iter().any(|p| against.contains(p)) {
                    *parties.present.entry(place).or_default() += n;
                }
                if ports.iter().any(|p| owners.contains(p)) {
                    *parties.present_owners.entry(place).or_default() += n;
                }
            }
        }
    }
}

/// Rows and places where the key has a value.
pub fn defined(ground: &mut Ground<'_, '_>, key: &str) -> Reach {
    let mut reach = Reach { rows: ground.rows.every(), places: ground.places.every() };
    for (i, v) in ground.rows.values(key).iter().enumerate() {
        reach.rows.set(i, v.is_some());
    }
    for i in 0..ground.places.rows() {
        reach.places.set(i, ground.places.source().label(i, key).is_some());
    }
    reach
}
