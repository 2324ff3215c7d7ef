//! Where machines come from.

use std::sync::Arc;

use futures::future::BoxFuture;
use millwright_core::control::ask::{Instance, Refusal};
use millwright_models::catalog::Catalog;
use millwright_models::catalog::Gates;
use millwright_models::world::World;
use serde_json::Value;

/// A machine that is wanted.
#[derive(Clone, Debug)]
pub struct Order {
    /// Name and uid of the NodeClaim; the uid makes repeating safe.
    pub claim: String,
    pub uid: String,
    /// The NodeClaim as the API has it.
    pub object: Value,
    /// What was known when it was ordered: pools, node classes, overlays.
    pub world: Arc<World>,
    pub catalog: Arc<Catalog>,
    pub gates: Gates,
}

/// Buys and ends machines.
pub trait Provider: Send + Sync {
    /// As metrics call it.
    fn name(&self) -> &'static str;

    /// Buys a machine, or finds the one that was bought for this uid.
    fn launch(&self, order: Order) -> BoxFuture<'_, Result<Instance, Refusal>>;

    /// Begins to end a machine; [`Refusal::NotFound`] once it is gone.
    fn terminate<'a>(&'a self, provider_id: &'a str) -> BoxFuture<'a, Result<(), Refusal>>;

    /// The machine, or [`Refusal::NotFound`].
    fn describe<'a>(&'a self, provider_id: &'a str) -> BoxFuture<'a, Result<Instance, Refusal>>;

    /// All machines of this cluster.
    fn instances(&self) -> BoxFuture<'_, Result<Vec<Instance>, Refusal>>;
}
