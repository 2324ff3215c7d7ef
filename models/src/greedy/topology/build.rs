//! Making groups from pods' rules (spec 20 §10.1).

use std::collections::BTreeMap;

use super::super::bits::Bits;
use super::super::book::Book;
use super::super::constraints::{Constraints, add_term, split_host};
use super::super::taint::{TaintBook, TolerationsId};
use super::hosts::Hosts;
use super::{Filter, Group, GroupId, Host, Identity, Kind, Namespaces, Target, Topology, Universe};
use crate::karpenter::labels::HOSTNAME;
use crate::kube::meta::Labels;
use crate::kube::pod::{PodAffinityTerm, SpreadConstraint};
use crate::kube::selector::{Expression, LabelSelector, Operator};

/// A group that a pod owns.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Owned {
    pub group: GroupId,
    /// The pod matches the group's selector.
    pub itself: bool,
}

/// Who brings a rule along.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Author<'a> {
    pub namespace: &'a str,
    pub labels: &'a Labels,
    pub tolerations: TolerationsId,
}

/// What making a group needs to know of the world.
#[derive(Debug)]
pub(in super::super) struct Ground<'a> {
    pub universe: &'a Universe,
    /// Existing nodes that are targets and have a Node object.
    pub nodes: Vec<Target<'a>>,
    /// Labels of each namespace.
    pub namespaces: &'a BTreeMap<String, Labels>,
}

impl Topology {
    /// The groups that a pod with these rules owns, and the inverse ones.
    pub fn own(
        &mut self,
        book: &mut Book,
        taints: &mut TaintBook,
        ground: &Ground<'_>,
        author: Author<'_>,
        rules: &Constraints,
    ) -> (Vec<Owned>, Vec<GroupId>) {
        let mut ids = Vec::new();
        for c in &rules.spread {
            let id = spread(book, taints, author, rules, c);
            ids.push((id, c.min_domains));
        }
        let soft = rules.preferred_affinity.iter().map(|p| &p.pod_affinity_term);
        for term in rules.affinity.iter().chain(soft) {
            ids.push((affinity(book, ground, author, Kind::Affinity, term), None));
        }
        let soft = rules.preferred_anti_affinity.iter().map(|p| &p.pod_affinity_term);
        for term in rules.anti_affinity.iter().chain(soft) {
            ids.push((affinity(book, ground, author, Kind::AntiAffinity, term), None));
        }
        let mut owned: Vec<Owned> = Vec::new();
        for (id, min_domains) in ids {
            let group = self.intern(book, taints, ground, author, id, min_domains);
            if owned.iter().all(|o| o.group != group) {
                owned.push(Owned { group, itself: self.groups[group].selects(author.namespace, author.labels) });
            }
        }
        let repels = self.repelling(book, taints, ground, author, &rules.anti_affinity);
        (owned, repels)
    }

    /// Inverse groups of required anti-affinity terms.
    pub fn repelling(
        &mut self,
        book: &mut Book,
        taints: &mut TaintBook,
        ground: &Ground<'_>,
        author: Author<'_>,
        terms: &[PodAffinityTerm],
    ) -> Vec<GroupId> {
        let mut all = Vec::new();
        for term in terms {
            let id = Identity { inverse: true, ..affinity(book, ground, author, Kind::AntiAffinity, term) };
            all.push(self.intern(book, taints, ground, author, id, None));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The groups that select a pod: ordinary ones, and inverse ones.
    pub fn selecting(&self, namespace: &str, labels: &Labels) -> (Vec<GroupId>, Vec<GroupId>) {
        let all = self.index.matching(&self.groups, namespace, labels);
        all.into_iter().partition(|id| !self.groups[*id].id.inverse)
    }

    /// Counts a running pod in an ordinary group that selects it.
    pub fn count_running(&mut self, book: &mut Book, taints: &mut TaintBook, id: GroupId, target: Target<'_>) {
        if self.admits(book, taints, id, target) {
            self.count_owner(book, id, target);
        }
    }

    /// Counts a running pod in an inverse group that it owns.
    pub fn count_owner(&mut self, book: &mut Book, id: GroupId, target: Target<'_>) {
        let group = &mut self.groups[id];
        match group.id.key {
            None => group.hosts.add(target.host, group.id.kind),
            Some(key) => {
                if let Some(d) = book.admitted(target.req, key).exactly {
                    group.count(d);
                }
            }
        }
    }

    fn intern(
        &mut self,
        book: &mut Book,
        taints: &mut TaintBook,
        ground: &Ground<'_>,
        author: Author<'_>,
        id: Identity,
        min_domains: Option<u32>,
    ) -> GroupId {
        if let Some(known) = self.ids.get(&id) {
            return *known;
        }
        let number = self.groups.len();
        self.index.insert(number, id.selector.as_ref());
        self.ids.insert(id.clone(), number);
        let mut known = Bits::default();
        let mut size = 0;
        if let Some(key) = id.key {
            size = book.values(key).len();
            // A spread that does not honour taints sees the domains of every
            // pool, whatever the pod tolerates.
            let all = matches!(id.kind, Kind::Spread { .. }) && id.filter.tolerations.is_none();
            known = ground.universe.domains(book, taints, key, (!all).then_some(author.tolerations));
        }
        let inverse = id.inverse;
        let key = id.key;
        self.groups.push(Group { id, min_domains, known, counts: vec![0; size], hosts: Hosts::default() });
        if let Some(key) = key.filter(|_| !inverse) {
            for node in &ground.nodes {
                let domain = book.admitted(node.req, key).exactly;
                if let Some(d) = domain.filter(|_| self.admits(book, taints, number, *node)) {
                    self.groups[number].known.set(d);
                }
            }
        }
        number
    }
}

/// `None` stands for the hostname.
fn key_of(book: &mut Book, name: &str) -> Option<usize> {
    (name != HOSTNAME).then(|| book.key(name))
}

fn spread(
    book: &mut Book,
    taints: &mut TaintBook,
    author: Author<'_>,
    rules: &Constraints,
    c: &SpreadConstraint,
) -> Identity {
    let mut selector = c.label_selector.clone();
    if let Some(selector) = &mut selector {
        for key in &c.match_label_keys {
            if let Some(value) = author.labels.get(key) {
                let (key, values) = (key.clone(), vec![value.clone()]);
                selector.match_expressions.push(Expression { key, operator: Operator::In, values, min_values: None });
            }
        }
    }
    let honours_affinity = c.node_affinity_policy != "Ignore" && !(rules.selector.is_empty() && rules.terms.is_empty());
    let affinity = honours_affinity.then(|| {
        let alternatives = rules.terms.iter().map(|t| {
            let mut set = rules.selector.clone();
            add_term(&mut set, t);
            set
        });
        let mut sets: Vec<_> = alternatives.collect();
        if rules.terms.is_empty() {
            sets.push(rules.selector.clone());
        }
        let split = sets.into_iter().map(split_host);
        split.map(|(set, host)| (book.id(set), host)).collect()
    });
    let honours_taints = c.node_taints_policy == "Honor";
    let tolerations = honours_taints.then(|| taints.tolerations_id(&rules.tolerations));
    Identity {
        kind: Kind::Spread { max_skew: i64::from(c.max_skew) },
        inverse: false,
        key: key_of(book, &c.topology_key),
        namespaces: Namespaces::These([author.namespace.to_owned()].into()),
        selector: selector.map(canonical),
        filter: Filter { affinity, tolerations },
    }
}

fn affinity(book: &mut Book, ground: &Ground<'_>, author: Author<'_>, kind: Kind, term: &PodAffinityTerm) -> Identity {
    let mut names: std::collections::BTreeSet<String> = term.namespaces.iter().cloned().collect();
    let everything = term.namespace_selector.as_ref().is_some_and(|s| *s == LabelSelector::default());
    if let Some(selector) = &term.namespace_selector {
        names.extend(ground.namespaces.iter().filter(|(_, l)| selector.matches(l)).map(|(n, _)| n.clone()));
    } else if names.is_empty() {
        names.insert(author.namespace.to_owned());
    }
    Identity {
        kind,
        inverse: false,
        key: key_of(book, &term.topology_key),
        namespaces: if everything { Namespaces::All } else { Namespaces::These(names) },
        selector: term.label_selector.clone().map(canonical),
        filter: Filter::default(),
    }
}

/// Equal selectors in equal words.
fn canonical(mut selector: LabelSelector) -> LabelSelector {
    for e in &mut selector.match_expressions {
        e.values.sort();
        e.values.dedup();
    }
    selector.match_expressions.sort();
    selector.match_expressions.dedup();
    selector
}

impl<'a> Target<'a> {
    /// A node that is no target but whose pods count.
    pub fn elsewhere(req: u32, taints: u32, name: &'a str) -> Self {
        Self { req, taints, host: Host::Elsewhere(name) }
    }
}
