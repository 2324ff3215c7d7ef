//! The way to a Kubernetes API server: which one ([`connect`]), requests as
//! JSON ([`server`]), the collections that matter ([`kinds`]), and everything
//! at once ([`capture`]).
#![forbid(unsafe_code)]

pub mod capture;
pub mod connect;
mod error;
pub mod kinds;
pub mod server;

pub use error::ApiError;
