//! How controllers start, learn, look and end.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use millwright_core::control::ask::{Reply, Ticket};
use millwright_core::control::work::Work;

use super::{MOST_LOOKS, Simulation};
use crate::clients::Client;
use crate::json;
use crate::server::{Change, Key};
use crate::stage::Happening;

/// A controller waits this long for more news before it looks.
const DEBOUNCE: SignedDuration = SignedDuration::from_millis(10);

impl Simulation<'_> {
    /// A controller with an empty memory begins.
    pub(super) fn start(&mut self) {
        self.started += 1;
        let (id, now) = (self.started, self.stage.now());
        let brain = (self.make)(&self.options.settings);
        let mut client = Client::new(brain, self.offerings(), now);
        client.watch.from = self.stage.server.version();
        self.clients.insert(id, client);
        self.invariants.alive(now);
        self.note(format!("controller {id} starts"));
        self.stage.agenda.after(self.net.millis(50, 800), Happening::List { client: id });
    }

    pub(super) fn stop(&mut self, id: u32, why: &str) {
        if self.clients.remove(&id).is_some() {
            self.note(format!("controller {id} {why}"));
        }
        let now = self.stage.now();
        if self.clients.is_empty() {
            self.invariants.blind(now);
        }
    }

    /// A controller dies; another one starts after a while.
    pub(super) fn crash(&mut self, id: u32) {
        self.stop(id, "dies");
        if self.live() == 0 {
            self.stage.agenda.after(self.net.millis(1_000, 25_000), Happening::Start);
        }
    }

    /// Everything is listed.
    pub(super) fn list(&mut self, id: u32) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        let version = self.stage.server.version();
        let news = client.mirror.relist(self.stage.server.objects(), version);
        for target in news.iter().filter_map(Key::target) {
            client.brain.seen(&target);
        }
        client.watch.from = version;
        client.is_synced = true;
        self.note(format!("controller {id} lists"));
        self.want_look(id, self.stage.now() + DEBOUNCE);
    }

    /// Decides when each controller hears of a change.
    pub(super) fn tell(&mut self, at: usize, change: &Change) {
        let now = self.stage.now();
        for (id, client) in &mut self.clients {
            let delivery = client.watch.deliver(&change.key, now, &self.rates, &mut self.net);
            for time in std::iter::once(delivery.at).chain(delivery.again) {
                self.stage.agenda.at(time, Happening::Told { client: *id, change: at });
            }
        }
    }

    /// A controller hears of a change.
    pub(super) fn told(&mut self, id: u32, at: usize) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        let change = &self.stage.server.changes()[at];
        // What came with a list, or was told before, is no news.
        let news = if change.gone {
            client.mirror.remove(&change.key, json::uid(&change.object), change.version)
        } else {
            client.mirror.apply(&change.object)
        };
        if !news {
            return;
        }
        if let Some(target) = change.key.target() {
            client.brain.seen(&target);
        }
        self.want_look(id, self.stage.now() + DEBOUNCE);
    }

    /// Lets a controller look at `at` at the latest.
    pub(super) fn want_look(&mut self, id: u32, at: Timestamp) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        if !client.is_synced {
            return;
        }
        let at = client.paused_until.map_or(at, |until| at.max(until));
        if client.look_at.is_none_or(|known| at < known) {
            client.look_at = Some(at);
            self.stage.agenda.at(at, Happening::Look { client: id });
        }
    }

    /// A controller looks, and asks.
    pub(super) fn look(&mut self, id: u32) {
        let now = self.stage.now();
        let Some(client) = self.clients.get_mut(&id) else { return };
        if client.look_at != Some(now) {
            return;
        }
        client.look_at = None;
        if let Some(until) = client.paused_until.filter(|until| *until > now) {
            self.want_look(id, until);
            return;
        }
        self.looks += 1;
        if client.count_look(now) > MOST_LOOKS {
            self.fail("spinning", format!("controller {id} looked more than {MOST_LOOKS} times in a second"));
            return;
        }
        let (world, errors) = client.mirror.world();
        if let Some(error) = errors.first() {
            let message = error.clone();
            self.fail("unreadable", message);
            return;
        }
        let (catalog, clock) = (client.offerings.catalog(now), client.clock(now));
        let step = client.brain.look(&world, &catalog, clock);
        let skew = client.skew;
        for request in step.requests {
            self.note(format!("controller {id} asks {:?}: {}", request.part, super::requests::short(&request.ask)));
            let delay = self.net.millis(1, 40);
            self.stage.agenda.after(delay, Happening::Arrive { client: id, request: Box::new(request) });
        }
        if let Some(work) = step.work {
            self.stage.agenda.after(self.net.millis(30, 900), Happening::Found { client: id, work: Box::new(work) });
        }
        if let Some(wake) = step.wake {
            let at = (wake - skew).max(now + SignedDuration::from_millis(1));
            self.want_look(id, at);
        }
    }

    /// A controller gets an answer.
    pub(super) fn answer(&mut self, id: u32, ticket: Ticket, reply: &Reply) {
        let now = self.stage.now();
        let Some(client) = self.clients.get_mut(&id) else { return };
        if let Reply::Object(object) = reply {
            client.mirror.apply(object);
        }
        let clock = client.clock(now);
        client.brain.answer(ticket, reply, clock);
        self.want_look(id, now + DEBOUNCE);
    }

    /// A controller gets the answer to a problem.
    pub(super) fn found(&mut self, id: u32, work: Work) {
        let now = self.stage.now();
        let Some(client) = self.clients.get_mut(&id) else { return };
        let clock = client.clock(now);
        let finding = work.run(&|| Duration::ZERO);
        client.brain.found(finding, clock);
        self.note(format!("controller {id} has found an answer"));
        self.want_look(id, now + DEBOUNCE);
    }
}
