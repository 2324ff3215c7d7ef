//! The only room that talks to a Kubernetes API server for the controller.
//!
//! [`watch`] brings objects, [`drive`] shows them to the
//! [`Brain`](millwright_core::control::brain::Brain) and [`carry`] does what it
//! asks for. Machines come from a [`provider`]. Around it: one leader at a time
//! ([`elect`], [`lease`], [`fence`]), [`metrics`] and health over [`http`], [`logs`], and
//! what the user sets ([`settings`]). [`run`] puts all of it together.
#![forbid(unsafe_code)]

pub mod answer;
pub mod api;
pub mod carry;
pub mod drive;
pub mod elect;
pub mod events;
pub mod fence;
pub mod gate;
pub mod http;
pub mod kinds;
pub mod lease;
pub mod logs;
pub mod metrics;
pub mod observe;
pub mod pace;
pub mod provider;
pub mod report;
pub mod run;
pub mod settings;
pub mod watch;
