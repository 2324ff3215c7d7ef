//! Answers as text.

pub mod json;
pub mod money;
pub mod plan_table;
pub mod style;
pub mod unscheduled;
pub mod yaml;
