//! NodeOverlays.

use crate::kube::meta::Meta;
use crate::kube::selector::Expression;
use crate::resources::Resources;

/// A NodeOverlay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeOverlay {
    pub meta: Meta,
    pub requirements: Vec<Expression>,
    /// Absolute price as written.
    pub price: Option<String>,
    /// Signed amount or percentage as written.
    pub price_adjustment: Option<String>,
    pub capacity: Resources,
    pub weight: i32,
}
