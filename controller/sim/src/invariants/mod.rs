//! What must hold at every moment, whatever goes wrong.
//!
//! Everything is judged on the cluster as it is. Where a controller could not
//! know it yet, it has [`SLACK`].

mod disruption;
mod limits;
mod machines;
mod requests;
pub(crate) mod unfinished;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::json;
use crate::server::{Change, Key, Kind};
use crate::stage::Stage;

/// Until news have arrived and what was decided before has been carried out.
pub const SLACK: SignedDuration = SignedDuration::from_secs(5);

pub const DISRUPTED: &str = "karpenter.sh/disrupted";
pub const HOLD: &str = "millwright.dev/hold";
pub const HOLD_UNTIL: &str = "millwright.dev/hold-until";

/// A rule, and how it was broken.
pub type Broken = (&'static str, String);

/// What has to be remembered to judge.
#[derive(Debug)]
pub struct Invariants {
    /// Since when a controller has been running; none runs if absent.
    alive_since: Option<Timestamp>,
    /// Two controllers run, or did a moment ago.
    overlap_until: Timestamp,
    last_outside: Timestamp,
    /// Nodes that a person cordoned, and when.
    cordons: BTreeMap<String, Timestamp>,
    /// Machines without a claim, and since when.
    unowned: BTreeMap<String, Timestamp>,
    /// Since when a budget allows nothing.
    exhausted: BTreeMap<Key, Timestamp>,
    /// Nodes whose disruption was begun of the controller's own accord.
    disrupting: BTreeMap<String, disruption::Begun>,
    /// Claims made to take the place of nodes.
    replacements: BTreeSet<String>,
    /// Pods that waited at some time in the last minute.
    waited: BTreeMap<String, Timestamp>,
    touched: BTreeSet<Kind>,
    sold: u64,
}

impl Invariants {
    pub fn new(now: Timestamp) -> Self {
        Self {
            alive_since: None,
            overlap_until: now,
            last_outside: now,
            cordons: BTreeMap::new(),
            unowned: BTreeMap::new(),
            exhausted: BTreeMap::new(),
            disrupting: BTreeMap::new(),
            replacements: BTreeSet::new(),
            waited: BTreeMap::new(),
            touched: BTreeSet::new(),
            sold: 0,
        }
    }

    /// A controller runs from `now` on.
    pub fn alive(&mut self, now: Timestamp) {
        self.alive_since.get_or_insert(now);
    }

    /// No controller runs.
    pub fn blind(&mut self, _now: Timestamp) {
        self.alive_since = None;
    }

    /// Two controllers run until `until`.
    pub fn overlap(&mut self, until: Timestamp) {
        self.overlap_until = self.overlap_until.max(until + SignedDuration::from_secs(60));
    }

    /// Something came from outside.
    pub fn outside(&mut self, now: Timestamp) {
        self.last_outside = now;
    }

    /// A person has cordoned a node.
    pub fn cordoned(&mut self, node: &str, now: Timestamp) {
        self.cordons.insert(node.to_owned(), now);
    }

    /// The person takes the cordon back; tells whether it still counted.
    pub fn uncordoned(&mut self, node: &str) -> bool {
        self.cordons.remove(node).is_some()
    }

    /// How long controllers have been able to act on what is so since `since`.
    fn reacting(&self, since: Timestamp, now: Timestamp) -> SignedDuration {
        self.alive_since.map_or(SignedDuration::ZERO, |alive| now.duration_since(alive.max(since)))
    }

    /// Takes note of a change.
    pub fn notice(&mut self, change: &Change, now: Timestamp) {
        self.touched.insert(change.key.kind);
        let Change { key, object, before, gone, .. } = change;
        match key.kind {
            Kind::Budget => {
                let allowed = json::get(object, &["status", "disruptionsAllowed"]).and_then(Value::as_i64);
                if *gone || allowed != Some(0) {
                    self.exhausted.remove(key);
                } else {
                    self.exhausted.entry(key.clone()).or_insert(now);
                }
            }
            Kind::Node if *gone => drop(self.cordons.remove(&key.name)),
            Kind::Pod => {
                let waits = |p: &Value| json::text(p, &["spec", "nodeName"]).is_empty();
                if before.as_deref().is_some_and(waits) || waits(object) {
                    self.waited.insert(json::uid(object).to_owned(), now);
                }
            }
            _ => {}
        }
    }

    /// Checks the state after an event.
    pub fn check(&mut self, stage: &mut Stage) -> Option<Broken> {
        let now = stage.now();
        let is_new = self.sold != stage.provider.sold();
        self.sold = stage.provider.sold();
        if is_new || !self.touched.is_empty() {
            self.disruption_goes_on(stage);
        }
        if (is_new || self.touched.contains(&Kind::NodeClaim) || !self.unowned.is_empty())
            && let Some(broken) = self.machines(stage, now)
        {
            return Some(broken);
        }
        if is_new && let Some(broken) = self.limits(stage, now) {
            return Some(broken);
        }
        self.touched.clear();
        self.holds(stage, now)
    }

    /// No hold outlives its timer.
    fn holds(&self, stage: &Stage, now: Timestamp) -> Option<Broken> {
        for (key, node) in stage.server.all(Kind::Node) {
            let is_tainted = json::list(node, &["spec", "taints"]).iter().any(|t| json::text(t, &["key"]) == HOLD);
            let is_cordoned = node["spec"].get("unschedulable").and_then(Value::as_bool) == Some(true);
            if json::annotation(node, HOLD).is_none() || !(is_tainted || is_cordoned) {
                continue;
            }
            let Some(until) = json::annotation(node, HOLD_UNTIL) else {
                return Some(("holds", format!("{key} is held, but not until when")));
            };
            let Ok(until) = until.parse::<Timestamp>() else {
                return Some(("holds", format!("{key} is held until {until:?}, which is no time")));
            };
            // Clocks differ, and requests fail now and then.
            if self.reacting(until, now) > SignedDuration::from_secs(90) && !json::is_deleting(node) {
                return Some(("holds", format!("{key} is held although its timer ended at {until}")));
            }
        }
        None
    }
}
