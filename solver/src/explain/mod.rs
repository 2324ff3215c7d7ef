//! Why a pod stays without a place: what excludes each spot it could take, and
//! the smallest set of exclusions that together leave none.

mod cover;
mod hindrance;
mod joint;
mod scene;
mod tally;

#[cfg(test)]
mod tests;

pub use cover::{Cover, masks, smallest_cover};
pub use hindrance::{Hindrance, Obstacle};
pub use scene::{Scene, Spot};
