//! The controller's rim on a real control plane: watches, writes, leadership,
//! simulated machines and kubelets.
#![allow(clippy::unwrap_used, clippy::expect_used)] // without a control plane there is nothing to test

mod budgets;
mod buyer;
mod capture;
mod crash;
mod leaders;
mod machines;
mod support;
mod watches;
