//! Devices that drivers offer: ResourceSlices.

use super::meta::Meta;

/// A part of what a driver publishes. The pool is complete once as many parts
/// of its newest generation are there as each of them says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceSlice {
    pub meta: Meta,
    pub driver: String,
    pub pool: String,
    pub generation: i64,
    /// Parts of the pool in this generation.
    pub count: i64,
    /// Empty if the devices are not those of one node.
    pub node_name: String,
}
