//! All that excludes spots for one pod, and the least of it that excludes all.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use millwright_solver::explain::{Cover, Obstacle, Scene, Spot, smallest_cover};
use millwright_solver::plan::Plan;

use super::cause::Cause;
use super::spots::Spots;
use crate::karpenter::labels;
use crate::kube::node::Taint;
use crate::kube::pod::Pod;
use crate::kube::selector::{Expression, Operator};
use crate::lower::Lowered;
use crate::lower::columns::Columns;
use crate::lower::daemons::{self, Overhead};
use crate::lower::nodes::Place;
use crate::lower::offers::Offers;
use crate::lower::pools::tells_absence;
use crate::lower::ports::{conflict, host_ports};
use crate::lower::volumes::Storage;

/// What a question to the SAT solver may cost.
const CONFLICTS: u64 = 5_000;

/// Answers why pods stay without a place beside a plan.
pub struct Witness<'l, 'w> {
    pub(super) lowered: &'l Lowered<'w>,
    pub(super) scene: Scene<'l>,
    pub(super) spots: Spots,
    pub(super) rows: Columns<'l, Offers<'w>>,
    pub(super) places: Columns<'l, Vec<Place<'w>>>,
    storage: Storage<'w>,
    /// Spots that a plan may use.
    open: FixedBitSet,
    ports: Option<(Vec<usize>, Vec<Overhead>)>,
}

/// Why a pod stays without a place.
pub struct Why {
    /// The smallest set, as sentences.
    pub reasons: Vec<String>,
    /// Everything that excludes spots.
    pub causes: Vec<Cause>,
    /// The spots that each excludes.
    pub excluded: Vec<FixedBitSet>,
    /// Positions in `causes` of the smallest set.
    pub chosen: Vec<usize>,
    /// The spots there are.
    pub spots: FixedBitSet,
}

impl<'l, 'w> Witness<'l, 'w> {
    pub fn new(lowered: &'l Lowered<'w>, plan: &'l Plan) -> Self {
        let scene = Scene::new(&lowered.instance, plan);
        let spots = Spots::new(lowered, &scene);
        let mut open = scene.usable();
        for (i, spot) in scene.spots.iter().enumerate() {
            if matches!(spot, Spot::Existing(n) if lowered.places[*n].leaving) {
                open.set(i, false);
            }
        }
        Self {
            lowered,
            scene,
            spots,
            rows: Columns::new(&lowered.offers),
            places: Columns::new(&lowered.places),
            storage: Storage::new(lowered.world),
            open,
            ports: None,
        }
    }

    /// Why the pod, one of `shape`, stays without a place.
    pub fn why(&mut self, pod: usize, shape: usize) -> Why {
        let pod = &self.lowered.world.pods[pod];
        let (causes, excluded): (Vec<Cause>, Vec<FixedBitSet>) = self.causes(pod, shape).into_iter().unzip();
        let spots = self.open.clone();
        let mut why = Why { reasons: Vec::new(), causes, excluded, chosen: Vec::new(), spots };
        if why.spots.is_clear() {
            let notes: Vec<&str> =
                self.lowered.warnings.iter().map(String::as_str).filter(|n| tells_absence(n)).collect();
            why.reasons.push(match notes.as_slice() {
                [] => "no dynamic NodePool takes part, and no node that exists has room for it".to_owned(),
                notes => format!("no node that exists has room for it, and {}", notes.join("; ")),
            });
            return why;
        }
        match smallest_cover(&why.excluded, &why.spots) {
            Cover::Reasons(chosen) => {
                for &c in &chosen {
                    let mut alone = why.spots.clone();
                    chosen.iter().filter(|x| **x != c).for_each(|x| alone.difference_with(&why.excluded[*x]));
                    let words = self.words(pod, shape, &why.causes[c], &alone);
                    why.reasons.push(words);
                }
                why.chosen = chosen;
            }
            Cover::Open(_) => why.reasons.push("no place was found for it beside the other pods".to_owned()),
        }
        why
    }

    /// Rules between other pods that are part of why one of `shape` has no
    /// place: without them the others could make room.
    pub fn bystanders(&self, shape: usize, why: &Why) -> Vec<String> {
        let core = self.scene.jointly(shape, CONFLICTS).unwrap_or_default();
        let told = |r: &usize| why.chosen.iter().any(|&c| why.causes[c] == Cause::Obstacle(Obstacle::Rule(*r)));
        let others = core.iter().filter(|r| !told(r)).map(|&r| &self.lowered.rule_names[r]);
        others.map(|name| format!("{name}: it keeps the pods that are placed from making room")).collect()
    }

    /// Causes that exclude some spot, in the order in which they are told.
    fn causes(&mut self, pod: &Pod, shape: usize) -> Vec<(Cause, FixedBitSet)> {
        let lowered = self.lowered;
        let mut out: Vec<(Cause, FixedBitSet)> = Vec::new();
        for (key, value) in &pod.spec.node_selector {
            let pair =
                Expression { key: key.clone(), operator: Operator::In, values: vec![value.clone()], min_values: None };
            let outside = self.outside(&pair);
            out.push((Cause::NodeSelector { key: key.clone(), value: value.clone() }, outside));
        }
        let affinity = pod.spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
        if let Some(required) = affinity.and_then(|n| n.required.as_ref()) {
            match &required.node_selector_terms[..] {
                [only] if !only.match_expressions.is_empty() => {
                    for e in &only.match_expressions {
                        let outside = self.outside(e);
                        out.push((Cause::NodeAffinity(e.clone()), outside));
                    }
                }
                terms => {
                    let outside = self.spots.outside(&self.rows.any_term(terms), &self.places.any_term(terms));
                    out.push((Cause::NodeAffinityTerms(terms.to_vec()), outside));
                }
            }
        }
        out.extend(self.taints(pod));
        for (claim, terms) in self.storage.demands(pod) {
            let outside = self.spots.outside(&self.rows.any_term(&terms), &self.places.any_term(&terms));
            out.push((Cause::Volume { claim, terms }, outside));
        }
        let optional = &lowered.optional_rules[shape];
        let owned = |r: &usize| lowered.instance.rules[*r].owned_by(shape) && !optional.contains(r);
        let firm: Vec<usize> = (0..lowered.instance.rules.len()).filter(owned).collect();
        for &rule in &firm {
            if let Some(key) = lowered.rule_key(rule) {
                let any =
                    Expression { key: key.clone(), operator: Operator::Exists, values: Vec::new(), min_values: None };
                let outside = self.outside(&any);
                out.push((Cause::NoLabel { rule, key }, outside));
            }
        }
        if !host_ports(&pod.spec).is_empty() {
            let outside = self.daemon_ports(pod);
            out.push((Cause::DaemonPort, outside));
        }
        let mut obstacles = self.scene.hindrances(shape, &firm);
        // Rules and limits say more about a pod than the lack of room does.
        obstacles.sort_by_key(|h| (matches!(h.obstacle, Obstacle::Room(_)), h.obstacle));
        out.extend(self.closed());
        out.extend(obstacles.into_iter().map(|h| (Cause::Obstacle(h.obstacle), h.spots)));
        for (_, spots) in &mut out {
            spots.intersect_with(&self.open);
        }
        out.retain(|(_, spots)| !spots.is_clear());
        out
    }

    fn outside(&mut self, e: &Expression) -> FixedBitSet {
        self.spots.outside(self.rows.matching(e), self.places.matching(e))
    }

    /// Taints that the pod does not tolerate; `PreferNoSchedule` gives way.
    fn taints(&self, pod: &Pod) -> Vec<(Cause, FixedBitSet)> {
        let lowered = self.lowered;
        let refused =
            |t: &&Taint| t.effect != "PreferNoSchedule" && !pod.spec.tolerations.iter().any(|x| x.tolerates(t));
        let of_pools = lowered.offers.pools.iter().flat_map(|p| &p.pool.template.taints);
        let of_places = lowered.places.iter().flat_map(|p| &p.taints);
        let mut all: BTreeMap<(&str, &str, &str), &Taint> = BTreeMap::new();
        for t in of_pools.chain(of_places).filter(refused) {
            all.insert((&t.key, &t.value, &t.effect), t);
        }
        let spots = |taint: &Taint| {
            let pool = |p: usize| lowered.offers.pools[p].pool.template.taints.contains(taint);
            self.spots.of(|r| pool(lowered.offers.rows[r].pool), |p| lowered.places[p].taints.contains(taint))
        };
        all.into_values().map(|t| (Cause::Taint(t.clone()), spots(t))).collect()
    }

    fn daemon_ports(&mut self, pod: &Pod) -> FixedBitSet {
        let lowered = self.lowered;
        let ports = host_ports(&pod.spec);
        let rows = &mut self.rows;
        let (of_row, groups) = self.ports.get_or_insert_with(|| daemons::of_rows(lowered.world, rows));
        let places = daemons::of_places(lowered.world, &mut self.places);
        let bad: Vec<bool> = groups.iter().map(|g| conflict(&ports, &g.ports)).collect();
        self.spots.of(|r| bad[of_row[r]], |p| conflict(&ports, &places[p].ports))
    }

    /// Pools that are over a limit, and types without room for anything.
    fn closed(&self) -> Vec<(Cause, FixedBitSet)> {
        let lowered = self.lowered;
        let fresh = |mut spots: FixedBitSet| {
            for (i, spot) in self.scene.spots.iter().enumerate() {
                if !matches!(spot, Spot::Fresh(_)) {
                    spots.set(i, false);
                }
            }
            spots
        };
        let pool = |r: usize| lowered.offers.pools[lowered.offers.rows[r].pool].pool.name();
        let mut out = Vec::new();
        for (name, resource) in &lowered.exceeded {
            let spots = fresh(self.spots.of(|r| pool(r) == name, |_| false));
            out.push((Cause::Exceeded { pool: name.clone(), resource: resource.clone() }, spots));
        }
        let over = |r: usize| lowered.exceeded.iter().any(|(name, _)| name == pool(r));
        out.push((Cause::Daemons, fresh(self.spots.of(|r| !lowered.usable.contains(r) && !over(r), |_| false))));
        out
    }
}

impl Lowered<'_> {
    /// The label key that a rule divides by; none if it is the node itself.
    pub fn rule_key(&self, rule: usize) -> Option<String> {
        match self.instance.rules[rule].key {
            millwright_solver::instance::Key::Host => None,
            millwright_solver::instance::Key::Domain(k) => Some(self.domain_keys[k].clone()),
        }
    }

    /// As [`Lowered::rule_key`], the node's own label included.
    pub fn topology_key(&self, rule: usize) -> String {
        self.rule_key(rule).unwrap_or_else(|| labels::HOSTNAME.to_owned())
    }
}
