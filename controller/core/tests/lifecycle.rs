//! The scenarios of `spec/40-lifecycle.md` §18, as whole runs: requests are
//! carried out on a small API server, and what it then holds is looked at.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot set its scene fails

#[path = "lifecycle/drains.rs"]
mod drains;
#[path = "lifecycle/evictions.rs"]
mod evictions;
#[path = "lifecycle/garbage.rs"]
mod garbage;
#[path = "lifecycle/initialization.rs"]
mod initialization;
#[path = "support/json.rs"]
mod json;
#[path = "lifecycle/launch.rs"]
mod launch;
#[path = "lifecycle/liveness.rs"]
mod liveness;
#[path = "lifecycle/objects.rs"]
mod objects;
#[path = "lifecycle/pod_events.rs"]
mod pod_events;
#[path = "lifecycle/pools.rs"]
mod pools;
#[path = "lifecycle/provider.rs"]
mod provider;
#[path = "lifecycle/registration.rs"]
mod registration;
#[path = "lifecycle/server.rs"]
mod server;
#[path = "lifecycle/stage.rs"]
mod stage;
#[path = "lifecycle/state.rs"]
mod state;
#[path = "lifecycle/static_pools.rs"]
mod static_pools;
#[path = "lifecycle/termination.rs"]
mod termination;
#[path = "lifecycle/volumes.rs"]
mod volumes;
