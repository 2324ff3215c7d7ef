//! The parts on a small cluster, with a clock that only the test moves.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use millwright_core::candidates::types_of;
use millwright_core::control::ask::{Ask, Event, Refusal, Reply};
use millwright_core::control::brain::{Piece, Shared};
use millwright_core::control::desk::{Count, Desk, Part};
use millwright_core::control::garbage::Garbage;
use millwright_core::control::lifecycle::Lifecycle;
use millwright_core::control::pools::Pools;
use millwright_core::control::settings::Settings;
use millwright_core::control::termination::Termination;
use millwright_core::control::view::View;
use millwright_models::catalog::Catalog;
use serde_json::Value;

use crate::provider::Provider;
use crate::server::Server;

pub struct Stage {
    pub server: Server,
    pub provider: Provider,
    pub settings: Settings,
    pub shared: Shared,
    pub now: Timestamp,
    /// Everything asked for, with its time and answer.
    pub log: Vec<(Timestamp, Ask, Reply)>,
    pub counts: Vec<Count>,
    pub wake: Option<Timestamp>,
    /// So many creations find their name taken.
    pub refuse_creations: u32,
    /// The controller dies with the answer to the n-th write from now.
    pub dies_after: Option<usize>,
    /// Some objects cannot be read, on purpose.
    pub unreadable: bool,
    desk: Desk,
    pieces: Vec<(Part, Box<dyn Piece + Send>)>,
    catalog: Arc<Catalog>,
}

pub fn start() -> Timestamp {
    "2026-12-01T10:00:00Z".parse().unwrap()
}

impl Stage {
    pub fn new() -> Self {
        Self::with(Lifecycle::default())
    }

    pub fn with(lifecycle: Lifecycle) -> Self {
        Self {
            server: Server::default(),
            provider: Provider::default(),
            settings: Settings::default(),
            shared: Shared::default(),
            now: start(),
            log: Vec::new(),
            counts: Vec::new(),
            wake: None,
            refuse_creations: 0,
            dies_after: None,
            unreadable: false,
            desk: Desk::default(),
            pieces: pieces(lifecycle),
            catalog: Arc::new(Catalog::new("r".to_owned(), "test".to_owned(), Vec::new())),
        }
    }

    /// The controller dies and another one starts.
    pub fn restart(&mut self) {
        self.desk = Desk::default();
        self.shared = Shared::default();
        self.pieces = pieces(Lifecycle::default());
    }

    /// One look; tells how many requests came of it.
    pub fn look(&mut self) -> usize {
        let (world, errors) = self.server.live.world();
        assert!(errors.is_empty() || self.unreadable, "{errors:?}");
        let world = Arc::clone(&world);
        let types = Arc::new(types_of(&world, &self.catalog, &self.settings.lower.gates));
        let view = View::new(&world, &self.catalog, &self.settings, types, self.now);
        self.shared.now = self.now;
        self.desk.open(self.now);
        for (_, piece) in &mut self.pieces {
            piece.look(&view, &mut self.shared, &mut self.desk);
        }
        let out = self.desk.close();
        self.counts.extend(out.counts);
        self.wake = out.wake;
        let asked = out.requests.len();
        for request in out.requests {
            let reply = match self.provider.carry_out(&request.ask, self.now) {
                Some(reply) => reply,
                None if matches!(request.ask, Ask::Create { .. }) && self.refuse_creations > 0 => {
                    self.refuse_creations -= 1;
                    Reply::Refused(Refusal::Conflict)
                }
                None => self.server.carry_out(&request.ask, self.now),
            };
            self.log.push((self.now, request.ask.clone(), reply.clone()));
            if let Some(left) = &mut self.dies_after
                && !matches!(request.ask, Ask::Event(_))
            {
                *left -= 1;
                if *left == 0 {
                    self.dies_after = None;
                    self.restart();
                    return asked;
                }
            }
            let Some(sent) = self.desk.answer(request.ticket, &reply, self.now) else { continue };
            // The watch has brought what was written.
            if let Some(target) = request.ask.key().filter(|_| !matches!(reply, Reply::Refused(_))) {
                self.desk.seen(&target);
            }
            for (part, piece) in &mut self.pieces {
                if *part == sent.part {
                    piece.answer(&sent, &reply, &mut self.shared, &mut self.desk);
                }
            }
        }
        asked
    }

    /// Looks until nothing is asked for.
    pub fn settle(&mut self) {
        for _ in 0..200 {
            self.server.tick(self.now);
            if self.look() == 0 {
                return;
            }
        }
        let last: Vec<_> = self.log.iter().rev().take(4).collect();
        panic!("it does not come to rest: {last:#?}");
    }

    /// Lets time pass, looking every half second.
    pub fn pass(&mut self, seconds: i64) {
        for _ in 0..2 * seconds {
            self.now += SignedDuration::from_millis(500);
            self.settle();
        }
    }

    /// Lets half a second pass.
    pub fn blink(&mut self) {
        self.now += SignedDuration::from_millis(500);
        self.settle();
    }

    /// Looks only when it is asked to, and when something has happened, for so
    /// long.
    pub fn sleep(&mut self, seconds: i64) {
        let end = self.now + SignedDuration::from_secs(seconds);
        self.settle();
        while let Some(wake) = self.wake.filter(|wake| *wake <= end) {
            assert!(wake > self.now, "it asks to be woken at once");
            self.now = wake;
            self.settle();
        }
        self.now = end;
    }

    /// Lets time pass unseen.
    pub fn skip(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.settle();
    }

    pub fn put(&mut self, object: Value) {
        self.server.put(object, self.now);
    }

    pub fn delete(&mut self, kind: &str, name: &str) {
        self.server.delete(kind, name, self.now);
        self.settle();
    }

    /// Requests that are no events.
    pub fn asked(&self, wanted: impl Fn(&Ask) -> bool) -> usize {
        self.log.iter().filter(|(_, ask, _)| wanted(ask)).count()
    }

    pub fn launches(&self) -> usize {
        self.asked(|a| matches!(a, Ask::Launch { .. }))
    }

    pub fn terminations(&self) -> usize {
        self.asked(|a| matches!(a, Ask::Terminate { .. }))
    }

    /// Names of evicted pods in order.
    pub fn evicted(&self) -> Vec<String> {
        let evict = |(_, ask, reply): &(Timestamp, Ask, Reply)| match (ask, reply) {
            (Ask::Evict { pod, .. }, Reply::Done) => Some(pod.name.clone()),
            _ => None,
        };
        self.log.iter().filter_map(evict).collect()
    }

    /// Deleted pods with their grace period and the second it happened.
    pub fn forced(&self) -> Vec<(String, i64, i64)> {
        let forced = |(at, ask, _): &(Timestamp, Ask, Reply)| match ask {
            Ask::Delete { target, grace_seconds: Some(grace), .. } => {
                Some((target.name.clone(), *grace, at.duration_since(start()).as_secs()))
            }
            _ => None,
        };
        self.log.iter().filter_map(forced).collect()
    }

    pub fn events(&self, reason: &str) -> Vec<&Event> {
        let event = |(_, ask, _): &'_ (Timestamp, Ask, Reply)| matches!(ask, Ask::Event(e) if e.reason == reason);
        let events = self.log.iter().filter(|l| event(l));
        events
            .map(|(_, ask, _)| match ask {
                Ask::Event(event) => event,
                _ => unreachable!("filtered"),
            })
            .collect()
    }

    /// How often a counter went up with this label.
    pub fn counted(&self, name: &str, label: (&str, &str)) -> usize {
        let fits = |c: &&Count| c.name == name && c.labels.iter().any(|(k, v)| (*k, v.as_str()) == label);
        self.counts.iter().filter(fits).count()
    }

    pub fn object(&self, kind: &str, name: &str) -> &Value {
        self.server.get(kind, name).unwrap_or_else(|| panic!("{kind} {name} is not there"))
    }

    pub fn has(&self, kind: &str, name: &str) -> bool {
        self.server.get(kind, name).is_some()
    }

    pub fn is_deleting(&self, kind: &str, name: &str) -> bool {
        self.server.get(kind, name).is_some_and(|o| !o["metadata"]["deletionTimestamp"].is_null())
    }

    /// Status and reason of a condition, `absent` if there is none.
    pub fn condition(&self, kind: &str, name: &str, condition: &str) -> (String, String) {
        let list = self.object(kind, name)["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let found = list.iter().find(|c| c["type"] == condition);
        found.map_or(("absent".to_owned(), String::new()), |c| (text(&c["status"]), text(&c["reason"])))
    }

    pub fn claim_says(&self, condition: &str, status: &str, reason: &str) {
        assert_eq!(self.condition("NodeClaim", "c", condition), (status.to_owned(), reason.to_owned()), "{condition}");
    }
}

fn pieces(lifecycle: Lifecycle) -> Vec<(Part, Box<dyn Piece + Send>)> {
    vec![
        (Part::Lifecycle, Box::new(lifecycle)),
        (Part::Termination, Box::new(Termination::default())),
        (Part::Garbage, Box::new(Garbage::default())),
        (Part::Pools, Box::new(Pools::default())),
    ]
}
