//! The abstract problem: shapes of pods, bins to buy, nodes that run already,
//! and the rules that couple them.
//!
//! Everything is an integer. Money is micro-dollars per hour ([`Micros`]);
//! resources are whatever unit the caller chose per dimension, the same for
//! demands and capacities. Parts refer to each other by position in the
//! vectors of [`Instance`].

mod rule;
mod validate;

pub use rule::{Key, Rule, RuleKind, Scope, Spread};
pub use validate::InvalidInstance;

use fixedbitset::FixedBitSet;

/// Money, in micro-dollars per hour.
pub type Micros = i64;

/// A capacity that never binds. Small enough that sums of a few thousand of
/// them stay inside `i64`.
pub const UNLIMITED: i64 = 1 << 50;

/// A packing problem.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Number of resource dimensions; every demand and capacity vector has
    /// this length. One of them counts pods.
    pub dims: usize,
    /// Number of domain keys (zone, capacity type, …) that some rule uses.
    /// The node itself ([`Key::Host`]) is not counted.
    pub keys: usize,
    /// Number of domains per key; domain ids of key `k` are `0..domains[k]`.
    pub domains: Vec<u32>,
    /// Equivalence classes of pods.
    pub shapes: Vec<Shape>,
    /// Where a shape may go, shared between shapes.
    pub admissions: Vec<Admission>,
    /// Offerings that a new node could be.
    pub bins: Vec<Bin>,
    /// Nodes that exist or are on their way.
    pub nodes: Vec<Node>,
    /// Rules between pods.
    pub rules: Vec<Rule>,
    /// Upper limits on what may be bought.
    pub limits: Vec<Limit>,
    /// Finite supplies of identical bins (capacity reservations).
    pub supplies: Vec<Supply>,
    /// Demands on the variety of each launch.
    pub varieties: Vec<Variety>,
    /// What limits the removal of nodes.
    pub budgets: Vec<Budget>,
}

/// Pods that no rule, request or label in force can tell apart.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What one pod takes, per dimension (its own slot in the pod-count
    /// dimension included). Non-negative.
    pub demand: Vec<i64>,
    /// How many of them wait for a place.
    pub count: u32,
    /// Served first when not all can be; higher is more important.
    pub priority: i32,
    /// Alternatives in lexicographic order: every pod goes to the earliest
    /// tier that can serve it. Empty: nothing can host it.
    pub tiers: Vec<Tier>,
}

/// One way to serve a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Index into [`Instance::admissions`].
    pub admission: usize,
    /// Rules (indices, sorted) that pods served in this tier no longer own:
    /// preferences given up.
    pub waived: Vec<usize>,
}

/// The bins and nodes that may host a shape alone, rules between pods aside.
/// A member has room for at least one pod of the shape when empty of planned
/// pods.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Admission {
    /// Over [`Instance::bins`].
    pub bins: FixedBitSet,
    /// Over [`Instance::nodes`].
    pub nodes: FixedBitSet,
}

/// An offering that a new node could be: pool × type × zone × capacity type.
#[derive(Clone, Debug)]
pub struct Bin {
    /// Net of overhead and of the DaemonSets that come with it.
    pub capacity: Vec<i64>,
    /// Price of one.
    pub price: Micros,
    /// Its domain per key; `None` where it has no value.
    pub domain: Vec<Option<u32>>,
    /// What one of them takes of each limit: (index into
    /// [`Instance::limits`], amount).
    pub limit_use: Vec<(usize, i64)>,
    /// The finite supply it is drawn from.
    pub supply: Option<usize>,
    /// A plan may buy it. False for single spot types where only envelopes of
    /// several types are bought.
    pub buyable: bool,
    /// The lower bound must cover it. False for envelopes: each of their
    /// members is at least as good.
    pub in_bound: bool,
}

/// A node that exists, or a claim in flight.
#[derive(Clone, Debug)]
pub struct Node {
    /// Room left beside its residents and the DaemonSet pods it has or will
    /// get. Never negative: an overcommitted dimension is 0.
    pub free: Vec<i64>,
    /// Its domain per key.
    pub domain: Vec<Option<u32>>,
    /// Pods that would need a new place if the node went: (shape, count).
    pub residents: Vec<(usize, u32)>,
    /// What it costs now.
    pub price: Micros,
    /// Set if the node may be removed.
    pub removal: Option<Removal>,
    /// What it frees of each limit when removed: (limit, amount).
    pub limit_use: Vec<(usize, i64)>,
    /// The finite supply it holds one unit of.
    pub supply: Option<usize>,
}

/// Terms of removing a node.
#[derive(Clone, Debug)]
pub struct Removal {
    /// Price on the disruption: of the node and of evicting its residents.
    pub charge: Micros,
    /// What it draws from disruption budgets: (index into
    /// [`Instance::budgets`], amount), ascending. The amount is 1 where a
    /// budget counts nodes, the number of residents it protects where it
    /// counts pods.
    pub budgets: Vec<(usize, i64)>,
    /// The node must go. Only then may residents be left without a place.
    pub forced: bool,
}

/// `Σ amount ≤ max` over the nodes that are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What may still be drawn.
    pub max: i64,
}

/// `Σ use ≤ max` over what is bought.
#[derive(Clone, Debug)]
pub struct Limit {
    /// What may still be taken.
    pub max: i64,
}

/// `count` units of one thing, whatever bins they are drawn as.
#[derive(Clone, Debug)]
pub struct Supply {
    /// Units left.
    pub count: u32,
}

/// Every new node on one of `bins` must leave a choice: the bins of the group
/// that could host the node's pods must show at least `least` different
/// values.
#[derive(Clone, Debug)]
pub struct Variety {
    /// Bins that could replace each other in a launch, ascending.
    pub bins: Vec<usize>,
    /// A value per entry of `bins`.
    pub value: Vec<u32>,
    /// How many different values must remain.
    pub least: u32,
}

impl Instance {
    /// Total pods waiting.
    pub fn pods(&self) -> u64 {
        self.shapes.iter().map(|s| u64::from(s.count)).sum()
    }

    /// Pods that a plan may have to place: those that wait, and the residents
    /// of nodes that may go.
    pub fn movable_pods(&self) -> u64 {
        let going = self.nodes.iter().filter(|n| n.removal.is_some()).flat_map(|n| &n.residents);
        self.pods() + going.map(|r| u64::from(r.1)).sum::<u64>()
    }

    /// Whether some node may be removed.
    pub fn has_removable(&self) -> bool {
        self.nodes.iter().any(|n| n.removal.is_some())
    }

    /// What all nodes cost now.
    pub fn current_cost(&self) -> Micros {
        self.nodes.iter().map(|n| n.price).sum()
    }

    /// Whether the demand of one pod of `shape` fits `room`.
    pub fn fits(&self, shape: usize, room: &[i64]) -> bool {
        self.shapes[shape].demand.iter().zip(room).all(|(d, r)| d <= r)
    }
}
