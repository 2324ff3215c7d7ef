//! What every part sees in one look.

use jiff::Timestamp;
use millwright_models::catalog::Catalog;
use millwright_models::world::World;

use super::settings::Settings;
use crate::nodes::{StateNode, state_nodes};

/// A snapshot, the time, and the settings.
pub struct View<'a> {
    pub world: &'a World,
    pub catalog: &'a Catalog,
    pub settings: &'a Settings,
    /// Nodes and claims, paired.
    pub nodes: Vec<StateNode<'a>>,
    pub now: Timestamp,
}

impl<'a> View<'a> {
    pub fn new(world: &'a World, catalog: &'a Catalog, settings: &'a Settings, now: Timestamp) -> Self {
        Self { world, catalog, settings, nodes: state_nodes(world), now }
    }

    /// What makes names of later times others: one that has just been given
    /// up means nothing else a moment later.
    pub fn salt(&self) -> u64 {
        self.now.as_second().cast_unsigned()
    }
}
