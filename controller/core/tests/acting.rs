//! What the controller decides, lands and disrupts, in a room that plays the
//! rest of a cluster in a few lines.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot read its input fails

#[path = "acting/actors.rs"]
mod actors;
#[path = "acting/buffers.rs"]
mod buffers;
#[path = "support/dice.rs"]
mod dice;
#[path = "acting/disruption.rs"]
mod disruption;
#[path = "acting/holds.rs"]
mod holds;
#[path = "support/json.rs"]
mod json;
#[path = "acting/landing.rs"]
mod landing;
#[path = "acting/objects.rs"]
mod objects;
#[path = "acting/provisioning.rs"]
mod provisioning;
#[path = "acting/room.rs"]
mod room;
#[path = "acting/storm.rs"]
mod storm;
#[path = "acting/vanished.rs"]
mod vanished;
#[path = "acting/waves.rs"]
mod waves;
#[path = "acting/work.rs"]
mod work;
