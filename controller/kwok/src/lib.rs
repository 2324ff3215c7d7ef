//! Simulated machines: Node objects with the labels, size and price of the
//! catalogue's types, and kubelets that make them and their pods look alive.
//!
//! [`provider`] is what the controller buys from, [`classes`] what makes node
//! classes ready, [`kubelet`] what runs beside them, as `millwright-kubelets`.
#![forbid(unsafe_code)]

pub mod classes;
pub mod kubelet;
pub mod machine;
pub mod provider;
