//! What every part sees in one look.

use std::sync::Arc;

use jiff::Timestamp;
use millwright_models::catalog::Catalog;
use millwright_models::world::World;

use super::settings::Settings;
use crate::candidates::Types;
use crate::nodes::{StateNode, state_nodes};

/// A snapshot, the time, and the settings.
pub struct View<'a> {
    pub world: &'a World,
    pub catalog: &'a Arc<Catalog>,
    /// What the pools may buy.
    pub types: Arc<Types>,
    pub settings: &'a Settings,
    /// Nodes and claims, paired.
    pub nodes: Vec<StateNode<'a>>,
    pub now: Timestamp,
}

impl<'a> View<'a> {
    pub fn new(
        world: &'a World,
        catalog: &'a Arc<Catalog>,
        settings: &'a Settings,
        types: Arc<Types>,
        now: Timestamp,
    ) -> Self {
        Self { world, catalog, types, settings, nodes: state_nodes(world), now }
    }

    /// What makes names of later times others: one that has just been given
    /// up means nothing else a moment later.
    pub fn salt(&self) -> u64 {
        self.now.as_second().cast_unsigned()
    }
}
