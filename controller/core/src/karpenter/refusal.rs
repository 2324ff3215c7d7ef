//! Why nodes do not go.

use millwright_models::greedy::Unmet;

/// Cheaper spot types that a single spot node needs to be replaced by spot.
pub const SPOT_TYPES: usize = 15;

/// The first rule that a move breaks.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("pod {pod} would have no place: {why}")]
    Homeless { pod: String, why: String },
    #[error("pod {pod} would go to node {node}, which is not initialized")]
    Uninitialized { pod: String, node: String },
    #[error("its pods would need {0} new nodes")]
    Several(usize),
    #[error("no type that fits is cheaper, at the dearest of the offerings that a launch may get")]
    NotCheaper,
    #[error("the cheaper types are too few: {0}")]
    MinValues(Unmet),
    #[error("a spot node would be replaced by spot, and the feature gate SpotToSpotConsolidation is off")]
    SpotToSpotOff,
    #[error("a spot node is replaced by spot only where {SPOT_TYPES} cheaper types fit: {0} do")]
    SpotTypes(usize),
    #[error("no type is left that is cheaper than the nodes of the same type that go")]
    SameType,
    #[error("the policy Balanced of NodePool {pool} rejects it with a score of {score:.2}")]
    Unbalanced { pool: String, score: f64 },
    #[error("time was up")]
    Stopped,
}
