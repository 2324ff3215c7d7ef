//! What all parts of the simulator share.

use std::sync::Arc;

use jiff::Timestamp;
use millwright_core::control::ask::{Reply, Ticket};
use millwright_core::control::desk::Request;
use millwright_core::control::work::Work;
use millwright_models::world::World;

use crate::agenda::Agenda;
use crate::clients::Mirror;
use crate::control_plane::Part;
use crate::json;
use crate::provider::Provider;
use crate::server::{Key, Server};

/// Something that happens.
#[derive(Debug)]
pub enum Happening {
    /// A controller starts.
    Start,
    /// A controller is stopped.
    Stop {
        client: u32,
    },
    /// A controller has its first list, or a new one.
    List {
        client: u32,
    },
    /// A controller hears of a change.
    Told {
        client: u32,
        change: usize,
    },
    Look {
        client: u32,
    },
    /// A request arrives.
    Arrive {
        client: u32,
        request: Box<Request>,
    },
    Answer {
        client: u32,
        ticket: Ticket,
        reply: Box<Reply>,
    },
    /// The time that a problem took is over.
    Found {
        client: u32,
        work: Box<Work>,
    },
    /// A part of the control plane does its work.
    Part(Part),
    /// A binding of the scheduler arrives.
    Bind {
        pod: Key,
        uid: String,
        node: String,
    },
    /// A machine makes its Node.
    Boot {
        machine: String,
    },
    /// A kubelet is ready.
    Ready {
        machine: String,
    },
    /// A pod runs.
    Run {
        pod: Key,
        uid: String,
    },
    /// A pod has stopped.
    Finish {
        pod: Key,
        uid: String,
    },
    /// An entry of the schedule of faults.
    Fault(usize),
    /// A person takes a cordon back.
    Uncordon {
        node: String,
    },
    Tick,
}

/// Clock, API server and provider.
pub struct Stage {
    pub agenda: Agenda<Happening>,
    pub server: Server,
    pub provider: Provider,
    /// The cluster as it is, without any lag.
    pub truth: Mirror,
    /// Changes that were taken note of.
    pub noted: usize,
}

impl Stage {
    pub fn now(&self) -> Timestamp {
        self.agenda.now()
    }

    /// Takes in what changed since the last time.
    pub fn refresh(&mut self) {
        for change in &self.server.changes()[self.noted..] {
            if change.gone {
                self.truth.remove(&change.key, json::uid(&change.object), change.version);
            } else {
                self.truth.apply(&change.object);
            }
        }
        self.noted = self.server.changes().len();
    }

    /// The cluster as it is, and what of it cannot be read.
    pub fn world(&mut self) -> (Arc<World>, Vec<String>) {
        self.refresh();
        self.truth.world()
    }
}
