//! What emptiness and consolidation ask of a candidate beyond that.
//! (spec 30 §9)

use jiff::Timestamp;
use millwright_models::karpenter::labels;

use super::{Candidate, Scene};
use crate::consolidatable::{Consolidatable, consolidatable};

/// Why a candidate is not consolidated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unconsolidatable {
    #[error("its NodePool {0} is static")]
    Static(String),
    #[error("the catalogue does not have its instance type {0}")]
    UnknownType(String),
    #[error("it lacks the label {0}")]
    MissingLabel(&'static str),
    #[error("NodePool {0} has consolidation disabled (consolidateAfter: Never)")]
    Disabled(String),
    #[error("the policy of NodePool {0} is WhenEmpty, and the node is not empty")]
    NotEmpty(String),
    #[error("its pods changed less than consolidateAfter ({after}) of NodePool {pool} ago; from {from}")]
    TooSoon { pool: String, after: String, from: Timestamp },
    #[error("it is not initialized")]
    Uninitialized,
}

impl Unconsolidatable {
    /// Whether an event `Unconsolidatable` tells it.
    pub fn has_event(&self) -> bool {
        !matches!(self, Self::Static(_) | Self::TooSoon { .. } | Self::Uninitialized)
    }
}

impl Scene<'_> {
    /// Whether joint consolidation may take a candidate; empty ones are held
    /// to [`Scene::emptiable`].
    pub fn consolidatable(&self, c: &Candidate<'_>) -> Result<(), Unconsolidatable> {
        if let Some(pool) = c.pool.filter(|p| p.replicas.is_some()) {
            return Err(Unconsolidatable::Static(pool.name().to_owned()));
        }
        if c.instance_type.is_none() {
            let name = self.nodes[c.node].labels().get(labels::INSTANCE_TYPE).cloned();
            return Err(
                name.map_or(Unconsolidatable::MissingLabel(labels::INSTANCE_TYPE), Unconsolidatable::UnknownType)
            );
        }
        if c.capacity_type.is_none() && c.pool.is_some() {
            return Err(Unconsolidatable::MissingLabel(labels::CAPACITY_TYPE));
        }
        if c.zone.is_none() {
            return Err(Unconsolidatable::MissingLabel(labels::ZONE));
        }
        let Some(pool) = c.pool else { return Ok(()) };
        if pool.disruption.consolidate_after.is_none() {
            return Err(Unconsolidatable::Disabled(pool.name().to_owned()));
        }
        if pool.disruption.policy == "WhenEmpty" && !c.is_empty() {
            return Err(Unconsolidatable::NotEmpty(pool.name().to_owned()));
        }
        self.quiet(c)
    }

    /// Whether emptiness may take a candidate that is empty.
    pub fn emptiable(&self, c: &Candidate<'_>) -> Result<(), Unconsolidatable> {
        let Some(pool) = c.pool else { return Ok(()) };
        if pool.replicas.is_some() {
            return Err(Unconsolidatable::Static(pool.name().to_owned()));
        }
        if pool.disruption.consolidate_after.is_none() {
            return Err(Unconsolidatable::Disabled(pool.name().to_owned()));
        }
        self.quiet(c)
    }

    /// The condition Consolidatable, reckoned at the scene's time.
    fn quiet(&self, c: &Candidate<'_>) -> Result<(), Unconsolidatable> {
        let node = &self.nodes[c.node];
        let (Some(claim), Some(pool)) = (node.claim, c.pool) else { return Ok(()) };
        match consolidatable(claim, pool, node.is_initialized(), self.now) {
            Consolidatable::Yes => Ok(()),
            Consolidatable::Never => Err(Unconsolidatable::Disabled(pool.name().to_owned())),
            Consolidatable::Uninitialized => Err(Unconsolidatable::Uninitialized),
            Consolidatable::From(from) => Err(Unconsolidatable::TooSoon {
                pool: pool.name().to_owned(),
                after: pool.disruption.consolidate_after.clone().unwrap_or_default(),
                from,
            }),
        }
    }
}
