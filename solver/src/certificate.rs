//! The proof that comes with a plan.
//!
//! The pods that the plan serves are partitioned into [`Item`]s with a value
//! (dual) each; for every bin, multipliers `u` per resource show that no
//! content of that bin is worth more than its price:
//!
//! ```text
//! Σ_d u_d · A_d  +  Σ_i cap_i · max(0, π_i − u·r_i)  ≤  price · 1000  +  Σ_l use_l · λ_l  +  σ
//! ```
//!
//! over the items that the bin admits, with `cap_i` the most pods of item `i`
//! that one such bin can hold (by room, by count, and jointly by a rule that
//! lets at most so many pods of a group onto one node). Then
//!
//! ```text
//! Σ_i π_i · count_i  −  Σ_l λ_l · max_l  −  Σ_s σ_s · count_s  −  Σ_nodes worth
//! ```
//!
//! is a lower bound on the cost of any plan that serves the same pods
//! (Farley 1990; Lagrangian duality), where the worth of a node is what its
//! free room can hold by the same reckoning.
//!
//! **Whole units.** Pods are not liquid: of 3.9 cores pods of half a core use
//! 3.5. With a [`Rounding`] the sums over `d` run over one more dimension, in
//! which pods ask for `⌊r / unit⌋` and a place has `⌊A / unit⌋`: whole pods
//! that keep within a dimension keep within that too (Chvátal 1973).
//!
//! **Values per domain.** An item may be worth different amounts in different
//! domains of one key; it then counts with its cheapest domain. A rule that
//! forces pods to spread makes that too pessimistic, so a [`SplitDuals`] moves
//! value from the items to the rule: each pod of the rule's group (shapes that
//! carry the rule and are selected by it, in tiers that do not waive it) loses
//! `ρ_z` in domain `z`, and the rule contributes the least `Σ_z ρ_z Y_z` over
//! all counts `Y` that it allows. That holds for any `ρ`, also negative.
//!
//! **Removable nodes.** Items also count the residents of removable nodes that
//! stay, where some tier could serve them at all. A removable node contributes the smaller of keeping it (minus the
//! worth of its room and of its residents at their best value) and removing it
//! (minus price plus charge, minus what it frees of limits and supplies, plus
//! `β_k` for each unit it draws from budget `k`); one that must go contributes
//! the latter. `Σ_k β_k · max_k` is subtracted, for any `β ≥ 0`. The bound is
//! then on `bought − removed + charges`, and may be negative.

/// Nano-dollars per hour: the unit of duals.
pub type Nanos = i64;

/// Resource multipliers are scaled by two to this power, since a KiB is worth
/// far less than a nano-dollar.
pub const U_SHIFT: u32 = 24;

/// Multipliers that prove a lower bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Dimensions that count whole units, beside the instance's own.
    pub roundings: Vec<Rounding>,
    /// Values of the served pods. For each shape and tier the counts add up to
    /// what the plan serves there (and, in the first tier, the residents of
    /// removable nodes that stay).
    pub items: Vec<Item>,
    /// Multipliers per bin. A bin that is not listed, or whose own do not
    /// suffice, is tried with every listed vector.
    pub bins: Vec<BinProof>,
    /// The same for nodes that exist and receive pods.
    pub nodes: Vec<NodeProof>,
    /// A value per limit, non-negative; empty for all zero.
    pub limit_duals: Vec<Nanos>,
    /// A value per supply, non-negative; empty for all zero.
    pub supply_duals: Vec<Nanos>,
    /// A value per budget, non-negative; empty for all zero.
    pub budget_duals: Vec<Nanos>,
    /// Values that rules hold, at most one entry per rule.
    pub splits: Vec<SplitDuals>,
}

/// A dimension counted in whole units, rounded down on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rounding {
    /// The dimension of the instance.
    pub dim: usize,
    /// The unit, positive, in the unit of the dimension.
    pub unit: i64,
}

impl Rounding {
    /// Whole units in an amount per dimension.
    pub fn of(&self, amounts: &[i64]) -> i64 {
        amounts[self.dim] / self.unit
    }
}

/// Pods of one shape in one tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The shape.
    pub shape: usize,
    /// The tier they are served in.
    pub tier: usize,
    /// How many.
    pub count: u32,
    /// Value per pod; where `by_domain` is set, of a pod on a place that has
    /// no domain for that key.
    pub dual: Nanos,
    /// Values per domain of one key.
    pub by_domain: Option<DomainDuals>,
}

/// Values per domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainDuals {
    /// The domain key.
    pub key: usize,
    /// A value per domain of the key, non-negative.
    pub dual: Vec<Nanos>,
}

/// What a rule on a domain key holds per pod of its group in each domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitDuals {
    /// The rule.
    pub rule: usize,
    /// A value per domain of the rule's key, of either sign.
    pub dual: Vec<Nanos>,
}

/// Multipliers that bound what one bin can be worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinProof {
    /// The bin.
    pub bin: usize,
    /// A multiplier per dimension and then per rounding, non-negative, in
    /// 2^-[`U_SHIFT`] nano-dollars per hour per unit.
    pub u: Vec<i64>,
}

/// Multipliers that bound what the room on one node can be worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeProof {
    /// The node.
    pub node: usize,
    /// As in [`BinProof::u`].
    pub u: Vec<i64>,
}
