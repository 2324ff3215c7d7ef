//! What goes wrong, and when.

mod rates;
mod schedule;

pub use rates::Rates;
pub use schedule::{Fault, schedule};
