//! The proof that comes with a plan.
//!
//! Pods that are served are partitioned into [`Item`]s with a value (dual)
//! each; for every bin, multipliers `u` per resource show that no content of
//! that bin is worth more than its price:
//!
//! ```text
//! Σ_d u_d · A_d  +  Σ_i cap_i · max(0, π_i − u·r_i)  ≤  price · 1000  +  Σ_l use_l · λ_l
//! ```
//!
//! with `cap_i` the most pods of item `i` that one such bin can hold. Then
//! `Σ π_i · count_i − Σ_l λ_l · max_l` is a lower bound on the cost of any
//! plan that serves the same pods. (Farley 1990; Lagrangian duality.)

/// Nano-dollars per hour: the unit of duals.
pub type Nanos = i64;

/// Resource multipliers are scaled by two to this power, since a KiB is worth
/// far less than a nano-dollar.
pub const U_SHIFT: u32 = 20;

/// Multipliers that prove a lower bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Values of the served pods.
    pub items: Vec<Item>,
    /// Multipliers per bin. A bin that is not listed is tried with every
    /// listed vector.
    pub bins: Vec<BinProof>,
    /// The same for nodes that exist and receive pods.
    pub nodes: Vec<NodeProof>,
    /// A value per limit, non-negative.
    pub limit_duals: Vec<Nanos>,
    /// A value per supply, non-negative.
    pub supply_duals: Vec<Nanos>,
}

/// Pods of one shape, possibly bound to a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The shape.
    pub shape: usize,
    /// The tier they are served in.
    pub tier: usize,
    /// How many.
    pub count: u32,
    /// Value per pod where the pod may go anywhere its tier admits.
    /// With `by_domain` set this is unused.
    pub dual: Nanos,
    /// Values per domain of one key, for shapes under a rule on that key.
    pub by_domain: Option<DomainDuals>,
}

/// Values per domain; the bound takes the cheapest split the rule allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainDuals {
    /// The domain key.
    pub key: usize,
    /// A value per domain of the key.
    pub dual: Vec<Nanos>,
}

/// Multipliers that bound what one bin can be worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinProof {
    /// The bin.
    pub bin: usize,
    /// A multiplier per dimension, non-negative, in 2^-[`U_SHIFT`] nano-dollars
    /// per hour per unit of the resource.
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
