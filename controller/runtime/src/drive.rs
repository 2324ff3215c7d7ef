//! The loop: what is new goes into the store, the brain looks, what it asks
//! for is carried out, what became of that goes back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use millwright_core::control::ask::Reply;
use millwright_core::control::brain::Brain;
use millwright_core::control::desk::Request;
use millwright_core::control::work::{Finding, Work};
use millwright_models::catalog::Catalog;
use millwright_models::reader::live::Live;
use millwright_models::reader::{ReadError, ReadErrors};
use millwright_models::world::World;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::carry::{Carrier, target};
use crate::gate::{Gate, Known};
use crate::lease::Role;
use crate::metrics::{Metrics, PodTimes, Snapshot, pods};
use crate::observe::Observer;
use crate::report;
use crate::watch::{Gone, News};

/// Changes that come together are looked at together.
const DEBOUNCE: Duration = Duration::from_millis(50);
/// News taken in at a go.
const GO: usize = 4096;
/// Between two readings of the gauges.
const GAUGES: Duration = Duration::from_secs(5);
/// A look at least this often, though nothing happens.
const IDLE: Duration = Duration::from_secs(10);

/// Why the loop has ended.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error("leadership is lost")]
    LeadershipLost,
    /// The solver's thread died: its panic is in the log.
    #[error("a decision was broken off")]
    Work,
    #[error("nobody watches the cluster any more")]
    Blind,
}

/// What comes back from what was begun.
enum Back {
    Answered(Box<Answered>),
    Found(Box<Finding>),
    Broken,
}

/// What became of a request.
struct Answered {
    request: Request,
    reply: Reply,
    /// What a refresh found.
    pods: Option<Vec<Value>>,
    took: Duration,
}

/// Everything the loop holds.
pub struct Drive {
    brain: Brain,
    store: Live,
    catalog: Arc<Catalog>,
    carrier: Arc<Carrier>,
    gate: Gate,
    metrics: Metrics,
    /// Without series of single nodes and pods.
    plain: bool,
    back: mpsc::Sender<Back>,
    returns: mpsc::Receiver<Back>,
    observer: Observer,
    times: PodTimes,
    /// Objects that cannot be read, as told last.
    unread: BTreeSet<String>,
}

impl Drive {
    pub fn new(
        brain: Brain,
        catalog: Arc<Catalog>,
        carrier: Arc<Carrier>,
        gate: Gate,
        metrics: Metrics,
        plain: bool,
    ) -> Self {
        let (back, returns) = mpsc::channel(GO);
        let (store, observer, times, unread) =
            (Live::default(), Observer::default(), PodTimes::default(), BTreeSet::new());
        Self { brain, store, catalog, carrier, gate, metrics, plain, back, returns, observer, times, unread }
    }

    /// Runs until `stop`, or until it must not go on.
    pub async fn run(
        mut self,
        mut news: mpsc::Receiver<News>,
        role: watch::Receiver<Role>,
        mut stop: watch::Receiver<bool>,
    ) -> Result<(), DriveError> {
        let mut role = role;
        let mut changed: Option<Instant> = Some(Instant::now());
        let mut wake = Instant::now() + IDLE;
        let mut gauges = Instant::now();
        loop {
            let due = changed.map_or(wake, |at| at + DEBOUNCE).min(gauges);
            tokio::select! {
                biased;
                _ = stop.wait_for(|s| *s) => return Ok(()),
                () = tokio::time::sleep_until(due.into()) => {}
                next = role.changed() => {
                    // Whoever elects is gone: nobody renews the lease.
                    if next.is_err() || *role.borrow() == Role::Lost {
                        return Err(DriveError::LeadershipLost);
                    }
                    let is_leading = *role.borrow() == Role::Leading;
                    self.metrics.set("leader_election_master_status", &[], f64::from(u8::from(is_leading)));
                    changed.get_or_insert_with(Instant::now);
                }
                some = self.returns.recv() => {
                    // The sender lives in `self`.
                    let mut next = some;
                    while let Some(back) = next {
                        self.take_back(back)?;
                        next = self.returns.try_recv().ok();
                    }
                    changed.get_or_insert_with(Instant::now);
                }
                some = news.recv() => {
                    let mut next = Some(some.ok_or(DriveError::Blind)?);
                    let mut count = 0;
                    while let Some(one) = next {
                        self.take_news(one);
                        count += 1;
                        next = if count < GO { news.try_recv().ok() } else { None };
                    }
                    changed.get_or_insert_with(Instant::now);
                }
            }
            let now = Instant::now();
            if now >= gauges {
                gauges = now + GAUGES;
                self.publish();
            }
            let is_due = changed.is_some_and(|at| now >= at + DEBOUNCE) || now >= wake;
            if is_due && self.gate.is_open() && *role.borrow() == Role::Leading {
                (changed, wake) = (None, now + IDLE);
                if let Some(at) = self.look() {
                    wake = wake.min(now + until(at));
                }
            } else if is_due {
                // Nothing may be done yet: what opens the way tells.
                (changed, wake) = (None, now + IDLE);
            }
        }
    }

    /// Shows the brain the cluster. Tells when it wants to look again.
    fn look(&mut self) -> Option<Timestamp> {
        let begun = Instant::now();
        let (world, step) = tokio::task::block_in_place(|| {
            let (world, errors) = self.store.world();
            self.tell_unread(&errors);
            let step = self.brain.look(&world, &self.catalog, Timestamp::now());
            (world, step)
        });
        self.metrics.observe("millwright_look_seconds", &[], begun.elapsed());
        if !self.plain {
            self.observe(&world);
        }
        // The carrier counts the failures of all calls of the provider.
        for count in step.counts.iter().filter(|c| c.name != "cloudprovider_errors_total") {
            let labels: Vec<(&str, &str)> = count.labels.iter().map(|(k, v)| (*k, v.as_str())).collect();
            self.metrics.count(count.name, &labels);
        }
        for request in step.requests {
            self.begin(request, &world);
        }
        if let Some(work) = step.work {
            self.solve(work);
        }
        step.wake
    }

    /// Tells what has happened to conditions and pods.
    fn observe(&mut self, world: &World) {
        self.times.look(world, Timestamp::now(), &self.metrics);
        for turn in self.observer.look(world, Timestamp::now(), &self.metrics) {
            turn.tell(&self.metrics);
        }
    }

    fn begin(&self, request: Request, world: &Arc<World>) {
        let (carrier, back, world) = (self.carrier.clone(), self.back.clone(), world.clone());
        tokio::spawn(async move {
            let begun = Instant::now();
            let (reply, pods) = carrier.carry(&request.ask, &world).await;
            let answered = Answered { request, reply, pods, took: begun.elapsed() };
            // Only a loop that has ended does not listen.
            drop(back.send(Back::Answered(Box::new(answered))).await);
        });
    }

    fn solve(&self, work: Work) {
        let back = self.back.clone();
        let solving = tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            work.run(&|| begun.elapsed())
        });
        tokio::spawn(async move {
            let found = match solving.await {
                Ok(finding) => Back::Found(Box::new(finding)),
                Err(_) => Back::Broken,
            };
            drop(back.send(found).await);
        });
    }

    fn take_back(&mut self, back: Back) -> Result<(), DriveError> {
        match back {
            Back::Answered(answered) => {
                let Answered { request, reply, pods, took } = *answered;
                report::reply(&request, &reply, took, &self.metrics);
                if let Reply::Object(object) = &reply {
                    self.apply(object);
                }
                // Versions decide: what a watch has told since stays. Pods that
                // have gone are told by the watch alone, and until then only
                // take room.
                pods.iter().flatten().for_each(|pod| self.apply(pod));
                self.brain.answer(request.ticket, &reply, Timestamp::now());
            }
            Back::Found(finding) => {
                report::finding(&finding, &self.metrics);
                self.brain.found(*finding, Timestamp::now());
            }
            Back::Broken => return Err(DriveError::Work),
        }
        Ok(())
    }

    fn take_news(&mut self, news: News) {
        match news {
            News::Applied(object) => {
                self.apply(&object);
                let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
                if let Some(target) = target(text("/apiVersion"), text("/kind"), namespace, name) {
                    self.brain.seen(&target);
                }
            }
            News::Removed(Gone { kind, namespace, name, uid, resource_version }) => {
                self.store.remove(kind.api_version, kind.kind, &namespace, &name, &uid, &resource_version);
                if let Some(target) = target(kind.api_version, kind.kind, &namespace, &name) {
                    self.brain.seen(&target);
                }
            }
            News::Listed(kind) => {
                let was_open = self.gate.is_open();
                self.gate.note(&kind, Known::Listed);
                if !was_open && self.gate.is_open() {
                    tracing::info!("everything that is watched is listed");
                }
            }
            News::Absent(kind) => self.gate.note(&kind, Known::Absent),
        }
    }

    /// Objects that cannot be read are told with the world that lacks them.
    fn apply(&mut self, object: &Value) {
        let _: Result<bool, ReadErrors> = self.store.apply(object);
    }

    /// Tells each object that cannot be read once, as long as it stays so.
    fn tell_unread(&mut self, errors: &[ReadError]) {
        let now: BTreeSet<String> = errors.iter().map(ToString::to_string).collect();
        for error in now.difference(&self.unread) {
            tracing::error!(error, "an object cannot be taken as written and is left aside");
        }
        self.metrics.set("millwright_unreadable_objects", &[], now.len() as f64);
        self.unread = now;
    }

    fn publish(&mut self) {
        let is_open = self.gate.is_open();
        self.metrics.set("cluster_state_synced", &[], f64::from(u8::from(is_open)));
        self.metrics.set("cluster_state_unsynced_time_seconds", &[], self.gate.closed_for().as_secs_f64());
        if !is_open {
            return;
        }
        tokio::task::block_in_place(|| {
            let (world, _) = self.store.world();
            let snapshot = Snapshot::new(&world, Timestamp::now());
            self.metrics.set("cluster_state_node_count", &[], snapshot.count() as f64);
            if !self.plain {
                snapshot.publish(&self.metrics);
                pods::publish(&world, Timestamp::now(), &self.metrics);
                self.observer.publish(Timestamp::now(), &self.metrics);
            }
        });
    }
}

/// From now to a time; zero if it has passed.
fn until(at: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default()
}
