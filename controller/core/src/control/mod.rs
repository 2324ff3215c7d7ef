//! The controller as a state machine.
//!
//! A [`Brain`](brain::Brain) looks at a snapshot of the cluster and asks for
//! writes; whoever runs it carries them out and tells what became of each.
//! It holds no socket, clock or thread, so the real runtime and the simulator
//! drive the same code.
//!
//! Every part is level-triggered: it compares what there is with what ought
//! to be and asks for one step towards it. Asking again for what was done is
//! harmless, so a crash between any two writes is no special case.

pub mod ask;
pub mod brain;
pub mod buffers;
pub mod conditions;
mod counts;
pub mod desk;
pub mod disruption;
pub mod edit;
pub mod garbage;
pub mod keys;
pub mod landing;
pub mod ledger;
pub mod lifecycle;
mod naming;
pub mod pools;
pub mod provisioner;
pub mod settings;
pub mod slots;
pub mod termination;
mod types;
pub mod view;
pub mod work;
