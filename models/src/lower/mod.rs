//! The compiler: from a [`World`] and a [`Catalog`] to an abstract
//! [`Instance`], and the names needed to read a plan back.
//!
//! Rows (what can be bought) and places (what runs) carry concrete labels, so
//! that node selectors, affinities and taints are decided by Kubernetes' own
//! law. Pods are grouped into classes by what is written, then into shapes by
//! what the rules in force can tell apart.

mod assemble;
mod attach;
mod bins;
mod classes;
mod columns;
mod daemons;
mod envelopes;
mod nodes;
mod offers;
mod parties;
mod pools;
mod ports;
mod reasons;
mod registry;
mod removals;
mod settings;
mod strange;
mod terms;
mod tiers;
mod variety;
mod volumes;

pub use bins::Dims;
pub use envelopes::Envelope;
pub use nodes::Place;
pub use offers::{Offers, Row};
pub use pools::{Participants, participating};
pub use reasons::{Cause, Why, Witness, expression_words, taint_words, terms_words};
pub use removals::{RemovalBudget, RemovalTerms, Removals, is_resident};
pub use settings::{MinValuesPolicy, PreferencePolicy, Settings};
pub use strange::strange;

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use millwright_solver::instance::{Instance, InvalidInstance};

use crate::catalog::Catalog;
use crate::world::World;

/// Why a world cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum LowerError {
    /// A pool that cannot be taken as written.
    #[error("NodePool {pool}: {reason}")]
    Pool { pool: String, reason: String },
    /// Terms for a node that is not there.
    #[error("there is no node {name} to remove")]
    NoSuchNode { name: String },
    /// A number beyond what the solver can hold, or an inconsistency of ours.
    #[error("the problem cannot be stated: {0}")]
    Instance(#[from] InvalidInstance),
}

/// What a bin of the instance is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BinSource {
    /// One offering: a row.
    Row(usize),
    /// Several spot types of a kind, bought as a choice.
    Envelope(Envelope),
}

/// A compiled world.
pub struct Lowered<'w> {
    pub world: &'w World,
    pub instance: Instance,
    pub dims: Dims,
    pub offers: Offers<'w>,
    /// Behind each bin.
    pub bins: Vec<BinSource>,
    /// Behind each node of the instance.
    pub places: Vec<Place<'w>>,
    /// Pods of each shape, in the order of their names (positions in
    /// `World::pods`): those that wait, and residents of nodes that may go.
    pub shape_pods: Vec<Vec<usize>>,
    /// Pods that need a new place only if their node goes (positions in
    /// `World::pods`), with that node of the instance.
    pub homes: BTreeMap<usize, usize>,
    /// Pods that are not planned at all, with the reasons.
    pub refused: Vec<(usize, Vec<String>)>,
    /// Pool and resource behind each limit.
    pub limit_names: Vec<(String, String)>,
    /// Reservation behind each supply.
    pub supply_names: Vec<String>,
    /// Nodes of the instance that stay whatever the terms of removal say, and
    /// why.
    pub stuck: Vec<(usize, String)>,
    /// Words for each budget.
    pub budget_names: Vec<String>,
    /// Label key of each domain key of the instance.
    pub domain_keys: Vec<String>,
    /// Label values of each domain key, sorted: the names of its domains.
    pub domain_values: Vec<Vec<String>>,
    /// Words for each rule of the instance.
    pub rule_names: Vec<String>,
    /// Rules that pods of a shape carry as a preference, per shape.
    pub optional_rules: Vec<Vec<usize>>,
    /// Rows that can hold at least their own DaemonSets, of pools that may
    /// open nodes.
    pub usable: FixedBitSet,
    /// Pools that are over a limit already: (pool, resource).
    pub exceeded: Vec<(String, String)>,
    pub warnings: Vec<String>,
}

/// Compiles a world in which no node may be removed.
pub fn lower<'w>(world: &'w World, catalog: &Catalog, settings: &Settings) -> Result<Lowered<'w>, LowerError> {
    assemble::assemble(world, catalog, settings, &Removals::default())
}

/// Compiles a world in which some nodes may be removed, or must be. Nodes that
/// cannot be, whatever the terms say, are named in the warnings.
pub fn lower_with_removals<'w>(
    world: &'w World,
    catalog: &Catalog,
    settings: &Settings,
    removals: &Removals,
) -> Result<Lowered<'w>, LowerError> {
    assemble::assemble(world, catalog, settings, removals)
}
