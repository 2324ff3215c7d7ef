use fixedbitset::FixedBitSet;

/// What a rule divides the cluster into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Each node is a domain of its own.
    Host,
    /// A domain key: index into [`Instance::domains`](super::Instance::domains).
    Domain(usize),
}

/// A rule between pods. `owners` carry it, `selected` are the pods it counts.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it divides by.
    pub key: Key,
    /// What it demands.
    pub kind: RuleKind,
    /// Shapes that carry the rule, ascending.
    pub owners: Vec<usize>,
    /// Shapes whose pods it counts, ascending. May contain owners or not.
    pub selected: Vec<usize>,
    /// Counted pods that run and stay, per node: (node, count). Residents
    /// listed in [`Node::residents`](super::Node::residents) are not among
    /// them; they count through their shape while their node stays.
    pub present: Vec<(usize, u32)>,
    /// Carriers of the rule that run and stay, per node: (node, count). Only
    /// anti-affinity looks at them: it binds newcomers both ways.
    pub present_owners: Vec<(usize, u32)>,
}

/// The demand of a [`Rule`].
#[derive(Clone, Debug)]
pub enum RuleKind {
    /// Where an owner arrives, the count stays within `max_skew` of the
    /// smallest count among the eligible domains.
    Spread(Spread),
    /// A domain with an owner holds no other selected pod; applies both ways.
    /// An owner that is itself selected excludes its like.
    Anti,
    /// A domain with an owner also holds a selected pod; an owner that is
    /// selected itself may be the first if no selected pod is anywhere.
    Affinity,
}

/// Parameters of a spread.
///
/// Where every pending selected shape is an owner, the rule is judged on the
/// final state: a domain that receives a pod of the group has at most
/// `minimum + max_skew`. Where others are selected too, it is enough that an
/// order of arrival exists in which each owner finds
/// `count + self − minimum ≤ max_skew` when it arrives.
///
/// A node or bin without a domain for the key admits no owner.
#[derive(Clone, Debug)]
pub struct Spread {
    /// At least 1.
    pub max_skew: u32,
    /// If fewer domains are eligible than this, the minimum is taken as 0.
    pub min_domains: u32,
    /// Domains over which the minimum is taken although no eligible node may
    /// be in them yet (the catalogue offers them). Empty for [`Key::Host`]:
    /// there the domains are the nodes that stay and those that are bought.
    pub eligible: Vec<u32>,
    /// Where pods are counted.
    pub scope: Scope,
}

/// Bins and nodes whose pods a spread counts, and whose domains are eligible.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Over bins.
    pub bins: FixedBitSet,
    /// Over nodes.
    pub nodes: FixedBitSet,
}

impl Rule {
    /// Whether every pending pod that is counted also carries the rule, so
    /// that the final state decides.
    pub fn is_homogeneous(&self) -> bool {
        self.selected.iter().all(|s| self.owners.binary_search(s).is_ok())
    }

    /// Whether shape `s` carries the rule.
    pub fn owned_by(&self, s: usize) -> bool {
        self.owners.binary_search(&s).is_ok()
    }

    /// Whether shape `s` is counted.
    pub fn selects(&self, s: usize) -> bool {
        self.selected.binary_search(&s).is_ok()
    }
}
