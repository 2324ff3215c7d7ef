//! Answers as text.

pub mod audit_against;
mod audit_baseline;
pub mod audit_json;
pub mod audit_table;
pub mod catalog_json;
pub mod catalog_table;
pub mod explained;
pub mod explained_node;
pub mod html;
pub mod json;
pub mod money;
pub mod plan_table;
pub mod style;
pub mod unscheduled;
pub mod verified;
pub mod yaml;
