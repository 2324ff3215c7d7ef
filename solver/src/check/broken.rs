use std::fmt;

/// A place in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// Position in [`Plan::bought`](crate::plan::Plan::bought).
    Bought(usize),
    /// Position in [`Instance::nodes`](crate::instance::Instance::nodes).
    Node(usize),
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::Bought(i) => write!(f, "bought node {i}"),
            Spot::Node(n) => write!(f, "node {n}"),
        }
    }
}

/// Why a plan is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("bought node {bought}: bin {bin} does not exist")]
    NoSuchBin { bought: usize, bin: usize },
    #[error("bought node {bought}: bin {bin} may not be bought")]
    NotBuyable { bought: usize, bin: usize },
    #[error("node {node} does not exist")]
    NoSuchNode { node: usize },
    #[error("{list}: entries are not strictly ascending")]
    Unsorted { list: String },
    #[error("{list}: shape {shape} does not exist")]
    NoSuchShape { list: String, shape: usize },
    #[error("{list}: a count of shape {shape} is zero")]
    ZeroCount { list: String, shape: usize },
    #[error("node {node} is removed and receives pods")]
    PlacedOnRemoved { node: usize },
    #[error("node {node} is removed though it must stay")]
    NotRemovable { node: usize },
    #[error("node {node} must go and stays")]
    NotRemoved { node: usize },
    #[error("budget {budget}: {drawn} drawn of {max}")]
    Budget { budget: usize, drawn: i128, max: i64 },
    #[error("shape {shape}: {unserved} pods have no place, but only {most} wait or must move")]
    Evicted { shape: usize, unserved: u64, most: u64 },
    #[error("shape {shape}: tier {tier} is not a later tier of it")]
    NoSuchTier { shape: usize, tier: usize },
    #[error("shape {shape}: {got} pods are accounted for, {want} wait")]
    Count { shape: usize, want: u64, got: u64 },
    #[error("{spot}: dimension {dim} holds {used} of {room}")]
    Overfull { spot: Spot, dim: usize, used: i128, room: i64 },
    #[error("shape {shape}: {demoted} pods are in later tiers, only {placed} are placed")]
    DemotedTooMany { shape: usize, demoted: u64, placed: u64 },
    #[error("{spot}: no tier in use lets shape {shape} in")]
    NotAdmitted { spot: Spot, shape: usize },
    #[error("shape {shape}: its pods cannot be divided among the tiers as stated")]
    TiersImpossible { shape: usize },
    #[error("limit {limit}: {used} taken of {max}")]
    Limit { limit: usize, used: i128, max: i64 },
    #[error("supply {supply}: {used} taken of {count}")]
    Supply { supply: usize, used: i128, count: u32 },
    #[error("bought node {bought}: variety {variety} leaves {left} values, {least} are required")]
    Variety { bought: usize, variety: usize, left: usize, least: u32 },
    #[error("rule {rule}: {spot} has no domain for its key and holds an owner of it")]
    NoDomain { rule: usize, spot: Spot },
    #[error("rule {rule}: domain {domain} receives pods and has {count}, minimum {minimum}, skew {max_skew}")]
    Skew { rule: usize, domain: String, count: u64, minimum: u64, max_skew: u32 },
    #[error("rule {rule}: no order of arrival keeps the skew; {left} pods are left")]
    NoOrder { rule: usize, left: u64 },
    #[error("rule {rule}: domain {domain} holds an owner and another selected pod")]
    Anti { rule: usize, domain: String },
    #[error("rule {rule}: domain {domain} holds an owner and no selected pod")]
    Affinity { rule: usize, domain: String },
}

/// Why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenProof {
    #[error("item {item}: {what} {got} does not exist")]
    Dangling { item: usize, what: &'static str, got: usize },
    #[error("shape {shape}, tier {tier}: items value {got} pods, the plan serves {want}")]
    Partition { shape: usize, tier: usize, want: u64, got: u64 },
    #[error("{part} {index}: {what} has length {got}, expected {want}")]
    Length { part: &'static str, index: usize, what: &'static str, got: usize, want: usize },
    #[error("rounding {index}: nothing can be counted in units of {unit}")]
    Unit { index: usize, unit: i64 },
    #[error("{part} {index}: {what} is negative")]
    Negative { part: &'static str, index: usize, what: &'static str },
    #[error("{part} {index}: {what} {got} does not exist or is listed twice")]
    Reference { part: &'static str, index: usize, what: &'static str, got: usize },
    #[error("bin {bin}: contents may be worth {worth} against a price of {price} (2^-20 nano-dollars)")]
    Bin { bin: usize, worth: i128, price: i128 },
    #[error("bin {bin}: nothing bounds what it can hold")]
    Unbounded { bin: usize },
    #[error("a number is too large to be recomputed")]
    Overflow,
}
