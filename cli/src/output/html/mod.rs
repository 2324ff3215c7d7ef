//! One self-contained page: every node with its pods, what it costs, what
//! moves, what stays and why. It loads nothing and runs offline.

mod audit;
mod cluster;
mod page;
mod plan;

pub use audit::of_audit;
pub use plan::of_plan;
