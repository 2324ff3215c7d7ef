//! Instances that others published or a script generates, and the tables
//! that tell how Millwright does on them.

pub mod anytime;
pub mod formats;
pub mod instances;
pub mod karpenter;
pub mod tables;
pub mod worlds;
