//! One self-contained page: every node with its pods, what it costs, what
//! moves, what stays and why. It loads nothing and runs offline.

mod cluster;
mod page;
mod plan;

pub use plan::of_plan;
