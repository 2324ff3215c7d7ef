//! Everything that rules between pods count, kept up to date pod by pod, so
//! that a check never looks at the pods again.

use std::collections::HashMap;
use std::sync::Arc;

use super::class::{Avoid, Class, Follow, Hard};
use super::labels::{Namespaces, NodeRule};
use super::picks::{ClassIndex, Picks, Selection};
use super::spread::{Field, Filter, Spread};
use super::tally::Tally;
use super::topology::{Key, Slot, Topologies};
use crate::kube::meta::Labels;
use crate::kube::node::Node;
use crate::kube::pod::{Pod, PodAffinityTerm, PodSpec};
use crate::resources::Resources;

/// What makes a class.
type Likeness = (String, Arc<Labels>, Arc<PodSpec>, Arc<Resources>);

/// Classes of pods and the counters of every rule they carry.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    pub classes: Vec<Class>,
    pub topologies: Topologies,
    pub picks: Picks,
    pub fields: Vec<Field>,
    pub spreads: Vec<Spread>,
    /// Pods selected by a term.
    pub tallies: Vec<Tally>,
    /// Pods that carry an anti-affinity term.
    pub carriers: Vec<Tally>,
    pub namespaces: Namespaces,
    /// Nodes by slot; `None` once gone.
    nodes: Vec<Option<Arc<Node>>>,
    known: HashMap<Likeness, usize>,
    class_index: ClassIndex,
    field_index: HashMap<Filter, usize>,
    spread_index: HashMap<(usize, usize), usize>,
    tally_index: HashMap<(usize, Key), usize>,
    carrier_index: HashMap<(usize, Key), usize>,
}

impl Counters {
    pub fn new(namespaces: Namespaces) -> Self {
        Self { namespaces, ..Self::default() }
    }

    pub fn add_node(&mut self, node: Arc<Node>) -> Slot {
        self.topologies.add_node(&node.meta.labels);
        for field in &mut self.fields {
            field.add_slot(Some(&node), &self.topologies);
        }
        self.nodes.push(Some(node));
        self.nodes.len() - 1
    }

    /// The node must be empty.
    pub fn remove_node(&mut self, slot: Slot) {
        self.nodes[slot] = None;
        for field in &mut self.fields {
            field.remove_slot(slot, &self.topologies);
        }
    }

    /// The class of a pod; its rules count from now on, what runs included.
    pub fn intern(&mut self, pod: &Pod) -> usize {
        let likeness = (pod.namespace.clone(), pod.labels.clone(), pod.spec.clone(), pod.requests.clone());
        if let Some(known) = self.known.get(&likeness) {
            return *known;
        }
        let mut class = Class::of(pod);
        let fresh = self.classes.len();
        class.picks = self.picks.selecting(&class.namespace, &class.labels, &self.namespaces);
        for pick in &class.picks {
            self.picks.all[*pick].classes.push(fresh);
        }
        self.classes.push(class);
        self.class_index.add(fresh, &pod.labels);
        self.known.insert(likeness, fresh);
        let spreads = self.intern_spreads(fresh);
        let affinity = self.intern_affinity(fresh);
        let avoids = self.intern_avoids(fresh);
        let class = &mut self.classes[fresh];
        class.spreads = spreads;
        class.affinity = affinity;
        class.avoids = avoids;
        fresh
    }

    fn intern_spreads(&mut self, class: usize) -> Vec<Hard> {
        let class = self.classes[class].clone();
        let constraints: Vec<_> = class.hard_constraints().collect();
        let topologies: Vec<Key> = constraints.iter().map(|c| self.key(&c.topology_key)).collect();
        let mut keys = topologies.clone();
        keys.sort_unstable();
        keys.dedup();
        let mut all = Vec::new();
        for (constraint, topology) in constraints.into_iter().zip(topologies) {
            let rule =
                if constraint.node_affinity_policy == "Ignore" { NodeRule::default() } else { class.rule.clone() };
            let tolerations = (constraint.node_taints_policy == "Honor").then(|| class.spec.tolerations.clone());
            let selection = class.spread_selection(constraint);
            let counts_itself = selection.selects(&class.namespace, &class.labels, &self.namespaces);
            let field = self.field(Filter { topology, keys: keys.clone(), rule, tolerations });
            all.push(Hard {
                topology,
                spread: self.spread(field, selection),
                max_skew: constraint.max_skew,
                min_domains: constraint.min_domains.unwrap_or(1),
                counts_itself,
            });
        }
        all
    }

    fn intern_affinity(&mut self, class: usize) -> Option<Follow> {
        let class = self.classes[class].clone();
        let terms = class.affinity_terms();
        if terms.is_empty() {
            return None;
        }
        let selection = Selection(terms.iter().map(|t| class.term_selection(t)).collect());
        let is_target = selection.selects(&class.namespace, &class.labels, &self.namespaces);
        let pick = self.pick(selection);
        self.picks.all[pick].followed = true;
        let mut keys: Vec<Key> = terms.iter().map(|t| self.key(&t.topology_key)).collect();
        keys.sort_unstable();
        keys.dedup();
        let tallies = keys.into_iter().map(|key| self.tally(pick, key)).collect();
        Some(Follow { pick, tallies, is_target })
    }

    fn intern_avoids(&mut self, class: usize) -> Vec<Avoid> {
        let class = self.classes[class].clone();
        let mut avoid = |term: &PodAffinityTerm| {
            let topology = self.key(&term.topology_key);
            let pick = self.pick(Selection(vec![class.term_selection(term)]));
            Avoid { topology, targets: self.tally(pick, topology), carriers: self.carrier(pick, topology) }
        };
        let mut avoids: Vec<Avoid> = class.anti_affinity_terms().iter().map(&mut avoid).collect();
        avoids.sort_unstable_by_key(|a| (a.targets, a.topology));
        avoids.dedup_by_key(|a| a.targets);
        avoids
    }

    fn key(&mut self, key: &str) -> Key {
        self.topologies.intern(key, self.nodes.iter().map(|n| n.as_ref().map(|n| &n.meta.labels)))
    }

    fn field(&mut self, filter: Filter) -> usize {
        if let Some(known) = self.field_index.get(&filter) {
            return *known;
        }
        let mut field = Field::new(filter.clone());
        for node in &self.nodes {
            field.add_slot(node.as_deref(), &self.topologies);
        }
        self.fields.push(field);
        self.field_index.insert(filter, self.fields.len() - 1);
        self.fields.len() - 1
    }

    fn pick(&mut self, selection: Selection) -> usize {
        let (pick, fresh) = self.picks.intern(selection);
        if fresh {
            let selection = &self.picks.all[pick].selection;
            let selected = self.class_index.selected(selection, &self.classes, &self.namespaces);
            for class in &selected {
                self.classes[*class].picks.push(pick);
            }
            self.picks.all[pick].classes = selected;
        }
        pick
    }

    fn spread(&mut self, field: usize, selection: Selection) -> usize {
        // The scheduler counts nothing for a selector without any condition.
        let blind = selection.0.iter().all(|(_, selector)| selector.is_empty());
        let pick = self.pick(selection);
        if let Some(known) = self.spread_index.get(&(field, pick)) {
            return *known;
        }
        let mut spread = Spread::new(field);
        let topology = self.fields[field].filter.topology;
        if !blind {
            for class in self.picks.all[pick].classes.iter().map(|c| &self.classes[*c]) {
                for (slot, home) in class.homes.iter().filter(|(slot, _)| self.fields[field].admits(**slot)) {
                    if let Some(domain) = self.topologies.domain(topology, *slot) {
                        spread.add(domain, home.live);
                    }
                }
            }
            self.picks.all[pick].spreads.push(self.spreads.len());
        }
        self.spreads.push(spread);
        self.spread_index.insert((field, pick), self.spreads.len() - 1);
        self.spreads.len() - 1
    }

    fn tally(&mut self, pick: usize, topology: Key) -> usize {
        if let Some(known) = self.tally_index.get(&(pick, topology)) {
            return *known;
        }
        let mut tally = Tally::new(topology);
        for class in self.picks.all[pick].classes.iter().map(|c| &self.classes[*c]) {
            for (slot, home) in &class.homes {
                tally.add(self.topologies.domain(topology, *slot), home.live + home.terminating);
            }
        }
        self.tallies.push(tally);
        self.picks.all[pick].tallies.push(self.tallies.len() - 1);
        self.tally_index.insert((pick, topology), self.tallies.len() - 1);
        self.tallies.len() - 1
    }

    /// A new one starts empty: the class that brings the term runs nowhere yet.
    fn carrier(&mut self, pick: usize, topology: Key) -> usize {
        if let Some(known) = self.carrier_index.get(&(pick, topology)) {
            return *known;
        }
        self.carriers.push(Tally::new(topology));
        self.picks.all[pick].carriers.push(self.carriers.len() - 1);
        self.carrier_index.insert((pick, topology), self.carriers.len() - 1);
        self.carriers.len() - 1
    }

    /// A pod of `class` comes to `slot`.
    pub fn add(&mut self, class: usize, slot: Slot, terminating: bool) {
        let home = self.classes[class].homes.entry(slot).or_default();
        if terminating {
            home.terminating += 1;
        } else {
            home.live += 1;
        }
        self.count(class, slot, terminating, true);
    }

    /// A pod of `class` leaves `slot`.
    pub fn take(&mut self, class: usize, slot: Slot, terminating: bool) {
        if let Some(home) = self.classes[class].homes.get_mut(&slot) {
            let pods = if terminating { &mut home.terminating } else { &mut home.live };
            *pods = pods.saturating_sub(1);
            if home.live + home.terminating == 0 {
                self.classes[class].homes.remove(&slot);
            }
        }
        self.count(class, slot, terminating, false);
    }

    fn count(&mut self, class: usize, slot: Slot, terminating: bool, comes: bool) {
        let class = &self.classes[class];
        let change = |tally: &mut Tally, topologies: &Topologies| {
            let domain = topologies.domain(tally.topology, slot);
            if comes { tally.add(domain, 1) } else { tally.take(domain, 1) }
        };
        for pick in &class.picks {
            let pick = &self.picks.all[*pick];
            for spread in pick.spreads.iter().filter(|_| !terminating) {
                let spread = &mut self.spreads[*spread];
                let field = &self.fields[spread.field];
                let Some(domain) = self.topologies.domain(field.filter.topology, slot) else { continue };
                match (field.admits(slot), comes) {
                    (false, _) => {}
                    (true, true) => spread.add(domain, 1),
                    (true, false) => spread.take(domain, 1),
                }
            }
            for tally in &pick.tallies {
                change(&mut self.tallies[*tally], &self.topologies);
            }
        }
        for avoid in &class.avoids {
            change(&mut self.carriers[avoid.carriers], &self.topologies);
        }
    }
}
